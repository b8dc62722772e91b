// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// Scalar updates are guarded by one unsigned comparison per indexed dimension.
// CHECK-LABEL: @scalars
// CHECK-SAME: (%[[X:.*]]: tensor<64xf32>
// CHECK: scf.for {{.*}} iter_args({{.*}} = %[[X]])
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: tensor.insert
func.func @scalars(%x: tensor<64xf32>, %i: tensor<9x1xi32>, %u: tensor<9xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64xf32>, tensor<9x1xi32>, tensor<9xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// Windows are clipped by loop bounds; the innermost loop has no test.
// CHECK-LABEL: @windows
// CHECK: scf.for
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: return
func.func @windows(%x: tensor<64xf32>, %i: tensor<9x1xi32>, %u: tensor<9x5xf32>) -> tensor<64xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<64xf32>, tensor<9x1xi32>, tensor<9x5xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}
