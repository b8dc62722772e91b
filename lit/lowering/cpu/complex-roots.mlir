// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Square roots and tanh of complex numbers by their parts: both axes, infinities, numbers near poles and subnormal ones, as the evaluator has
// them; without calls.
// RUN: xla-run %s --verify --cache-dir=off --profile=- 2>&1 | FileCheck %s
// CHECK-DAG: (2.000000e+00,3.000000e+00)
// CHECK-DAG: (9.99999993E-9,-0.000000e+00)
// CHECK-DAG: row {{.*}} stablehlo.sqrt
// CHECK-DAG: row {{.*}} stablehlo.tanh
func.func @main() -> (tensor<20xcomplex<f32>>, tensor<20xcomplex<f32>>) {
  %c = stablehlo.constant dense<[(-5.0, 12.0), (0.0, 0.0), (-0.0, -0.0), (-4.0, 0.0), (-4.0, -0.0), (3.0, 4.0e-30), (1.0e-45, 1.0e-45), (3.0e38, -3.0e38), (0.0, -2.0), (1.0e-8, -0.0),
    (0.0, 1.5707964), (60.0, 1.0), (-200.0, 2.0), (0x7F800000, 1.0), (0xFF800000, 3.0), (0x7F800000, 0xFF800000), (2.0, 0x7F800000), (0x7FC00000, 1.0), (0x7FC00000, 0.0), (1.0, 0x7FC00000)]> : tensor<20xcomplex<f32>>
  %x = stablehlo.optimization_barrier %c : tensor<20xcomplex<f32>>
  %0 = stablehlo.sqrt %x : tensor<20xcomplex<f32>>
  %1 = stablehlo.tanh %x : tensor<20xcomplex<f32>>
  return %0, %1 : tensor<20xcomplex<f32>>, tensor<20xcomplex<f32>>
}
