// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// e^x is beyond its type, but e^x sin y is a number, however small sin y is; real numbers stay real.
// RUN: xla-run %s --verify --cache-dir=off | FileCheck %s
// CHECK: (0x7F800000,1.3937{{.*}}E+27), (0x7F800000,6.327{{.*}}E+25), (0x7F800000,4.597{{.*}}E+37), (1.506{{.*}}E+35,0.000000e+00)
// CHECK: (0x7FF0000000000000,5.29578193{{.*}}E+177), (0x7FF0000000000000,4.9555930{{.*}}E+264)
func.func @main() -> (tensor<4xcomplex<f32>>, tensor<2xcomplex<f64>>) {
  %c = stablehlo.constant dense<[(150.0, 1.0e-38), (140.0, 1.0e-35), (190.0, 1.0e-45), (81.0, 0.0)]> : tensor<4xcomplex<f32>>
  %d = stablehlo.constant dense<[(1100.0, 1.0e-300), (1070.0, 1.0e-200)]> : tensor<2xcomplex<f64>>
  %x = stablehlo.optimization_barrier %c : tensor<4xcomplex<f32>>
  %y = stablehlo.optimization_barrier %d : tensor<2xcomplex<f64>>
  %0 = stablehlo.exponential %x : tensor<4xcomplex<f32>>
  %1 = stablehlo.exponential %y : tensor<2xcomplex<f64>>
  return %0, %1 : tensor<4xcomplex<f32>>, tensor<2xcomplex<f64>>
}
