// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// @main gets the given argument types; a wrapper keeps what its body relied on until shapes are refined.
// RUN: xla-opt %s -stablehlo-refine-arguments='types=tensor<16xf32>,tensor<4x4xi32>' | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<16xf32>, %arg1: tensor<4x4xi32>)
// CHECK: %[[S:.*]] = stablehlo.constant dense<16> : tensor<1xi64>
// CHECK: %[[X:.*]] = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%arg0, %[[S]]) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<16xf32>, tensor<1xi64>) -> tensor<?xf32>
// CHECK: return %[[X]], %arg1
func.func @main(%x: tensor<?xf32>, %y: tensor<4x4xi32>) -> (tensor<?xf32>, tensor<4x4xi32>) {
  return %x, %y : tensor<?xf32>, tensor<4x4xi32>
}
