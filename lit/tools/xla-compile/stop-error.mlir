// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The error of a compilation that stops names the stop, the kernel, the operation and its line.
// RUN: not xla-compile %s --cache-dir=off 2>&1 | FileCheck %s
// CHECK: xla-compile: error: compilation stopped at 'linalg' of kernel 'scatter_{{[0-9a-f]+}}', at operation 'stablehlo.custom_call' of {{.*}}stop-error.mlir:[[#@LINE+4]]:10
func.func @main(%x: tensor<64x16xf32>, %i: tensor<100x1xi32>, %u: tensor<100x16xf32>) -> tensor<64x16xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.custom_call @foo(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<64x16xf32>, tensor<100x1xi32>, tensor<100x16xf32>) -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}
