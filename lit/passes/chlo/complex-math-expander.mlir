// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// log(1 + z) against 60-digit values, next to |1 + z| = 1 above all, where 2x + x^2 + y^2 cancels.
// RUN: xla-opt %s -stablehlo-complex-math-expander | xla-translate --interpret
// RUN: xla-opt %s -stablehlo-complex-math-expander | FileCheck %s

// CHECK-LABEL: @main
// CHECK-NOT: stablehlo.log_plus_one {{.*}}complex
// CHECK: return
func.func @main() {
  %z = stablehlo.constant dense<[(-1.0, 0.5), (1.0e-20, 1.0e-12), (-1.0, 1.0e-200), (1.0e+200, -1.0e+201), (0.3, -2.0), (-1.0e-09, 3.0e-05), (-0.005012562893380035, 0.1), (-5.000001249699793e-07, 0.001), (-0.2858571571457149, 0.7)]> : tensor<9xcomplex<f64>>
  %w = stablehlo.log_plus_one %z : tensor<9xcomplex<f64>>
  %re = stablehlo.real %w : (tensor<9xcomplex<f64>>) -> tensor<9xf64>
  %im = stablehlo.imag %w : (tensor<9xcomplex<f64>>) -> tensor<9xf64>
  %ere = stablehlo.constant dense<[-0.6931471805599453, 1.0000499999999999e-20, -460.51701859880916, 462.82457885722977, 0.8693551240691197, -5.499999998025e-10, 1.0967349145697674e-17, 3.008325199464312e-17, 3.120750920567887e-17]> : tensor<9xf64>
  %eim = stablehlo.constant dense<[1.5707963267948966, 1.0e-12, 1.5707963267948966, -1.4711276743037347, -0.9944211062037129, 3.0000000021e-05, 0.1001674211615598, 0.0010000001666667416, 0.775397496610753]> : tensor<9xf64>
  %tolerance = stablehlo.constant dense<1.0e-15> : tensor<9xf64>
  %dre = stablehlo.subtract %re, %ere : tensor<9xf64>
  %qre = stablehlo.divide %dre, %ere : tensor<9xf64>
  %are = stablehlo.abs %qre : tensor<9xf64>
  %okre = stablehlo.compare LE, %are, %tolerance : (tensor<9xf64>, tensor<9xf64>) -> tensor<9xi1>
  check.expect_eq_const %okre, dense<true> : tensor<9xi1>
  %dim = stablehlo.subtract %im, %eim : tensor<9xf64>
  %qim = stablehlo.divide %dim, %eim : tensor<9xf64>
  %aim = stablehlo.abs %qim : tensor<9xf64>
  %okim = stablehlo.compare LE, %aim, %tolerance : (tensor<9xf64>, tensor<9xf64>) -> tensor<9xi1>
  check.expect_eq_const %okim, dense<true> : tensor<9xi1>
  return
}

// Real logarithms stay.
// CHECK-LABEL: @real
// CHECK-NEXT: stablehlo.log_plus_one
func.func @real(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.log_plus_one %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
