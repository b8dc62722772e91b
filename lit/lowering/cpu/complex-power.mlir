// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Powers of complex numbers by their parts: zeros, both axes, numbers near 1 to large powers, infinities, as the evaluator has them; without
// calls.
// RUN: xla-run %s --verify --cache-dir=off --profile=- 2>&1 | FileCheck %s
// CHECK-DAG: (-3.000000e+00,4.000000e+00)
// CHECK-DAG: (1.000000e+00,0.000000e+00)
// CHECK-DAG: (0.207879573,0.000000e+00)
// CHECK-DAG: row {{.*}} stablehlo.power
func.func @main() -> tensor<18xcomplex<f32>> {
  %c = stablehlo.constant dense<[(1.0, 2.0), (0.0, 1.0), (0.0, 0.0), (-0.0, 0.0), (0.0, 0.0), (0x7FC00000, 1.0), (2.0, 0.0), (-2.0, 0.0), (-2.0, -0.0), (0.0, -3.0),
    (1.0001, 1.0e-4), (1.0e30, 1.0e30), (1.0e-42, -1.0e-42), (1.0e20, 0.0), (3.0, 0x7FC00000), (-0.0, 2.0), (1.0, 1.0), (-1.5, 0.25)]> : tensor<18xcomplex<f32>>
  %d = stablehlo.constant dense<[(2.0, 0.0), (0.0, 1.0), (0.0, 0.0), (2.0, 0.0), (0.5, 0.0), (0.0, 0.0), (0.5, 0.0), (0.5, 0.0), (0.5, 0.0), (3.0, -1.0),
    (5000.0, 300.0), (1.0, 0.0), (0.25, 0.0), (2.5, 0.0), (1.0, 2.0), (0.0, -0.5), (-3.0, 7.0), (20.0, -20.0)]> : tensor<18xcomplex<f32>>
  %x = stablehlo.optimization_barrier %c : tensor<18xcomplex<f32>>
  %y = stablehlo.optimization_barrier %d : tensor<18xcomplex<f32>>
  %0 = stablehlo.power %x, %y : tensor<18xcomplex<f32>>
  return %0 : tensor<18xcomplex<f32>>
}
