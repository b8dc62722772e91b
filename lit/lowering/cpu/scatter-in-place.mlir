// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A row written into an operand's memory, at an index that may lie outside: the row alone is touched, nothing is copied afterwards.
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-compile %s --emit=vector --cache-dir=off -o - | FileCheck %s
// CHECK-LABEL: func.func private @scatter_{{.*}}_body
// CHECK-NOT: vector.load %arg0
// CHECK-COUNT-4: vector.store %{{.*}}, %arg0
// CHECK-NOT: vector.store
// CHECK: return
func.func @main(%table: tensor<200x64xf32>, %row: tensor<64xf32>, %i: tensor<1xi32>) -> tensor<200x64xf32> {
  %0 = "stablehlo.scatter"(%table, %i, %row) <{indices_are_sorted = true, unique_indices = true,
      scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<200x64xf32>, tensor<1xi32>, tensor<64xf32>) -> tensor<200x64xf32>
  return %0 : tensor<200x64xf32>
}
