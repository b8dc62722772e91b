// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Least and largest of many updates of few elements: NaN stay, zeros are ordered by their sign, in whatever order they come.
// RUN: xla-run %s --verify --cache-dir=off | FileCheck %s
// RUN: xla-run %s --verify --quiet --cache-dir=off --quick
// CHECK: dense<[-0.000000e+00, -0.000000e+00, 0x7FC00000, 0x7FC00000, -2.000000e+00, 0x7F800000]> : tensor<6xf32>
// CHECK: dense<[0.000000e+00, 0.000000e+00, 0x7FC00000, 0x7FC00000, 5.000000e+00, 0xFF800000]> : tensor<6xf32>
func.func @main() -> (tensor<6xf32>, tensor<6xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<6xf32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<6xf32>
  %i = stablehlo.constant dense<[[0], [0], [1], [1], [2], [2], [3], [3], [4], [4], [4]]> : tensor<11x1xi32>
  %u = stablehlo.constant dense<[0.0, -0.0, -0.0, 0.0, 0x7FC00000, 1.0, 1.0, 0x7FC00000, 5.0, -2.0, 3.0]> : tensor<11xf32>
  %least = "stablehlo.scatter"(%high, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.minimum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<6xf32>, tensor<11x1xi32>, tensor<11xf32>) -> tensor<6xf32>
  %largest = "stablehlo.scatter"(%low, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<6xf32>, tensor<11x1xi32>, tensor<11xf32>) -> tensor<6xf32>
  return %least, %largest : tensor<6xf32>, tensor<6xf32>
}
