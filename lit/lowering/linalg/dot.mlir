// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// One contraction: batch, free and contracting dimensions in this order; bf16 multiplies and adds in f32.
// CHECK: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: @batched
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]]
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-COUNT-2: arith.extf
// CHECK: arith.mulf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf
func.func @batched(%a: tensor<2x3x4xbf16>, %b: tensor<2x4x5xbf16>) -> tensor<2x3x5xbf16> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xbf16>, tensor<2x4x5xbf16>) -> tensor<2x3x5xbf16>
  return %0 : tensor<2x3x5xbf16>
}

// -----

// Signed times unsigned integers: each operand is extended by its own sign.
// CHECK-LABEL: @mixed
// CHECK-DAG: arith.extsi {{.*}} : i8 to i32
// CHECK-DAG: arith.extui {{.*}} : i8 to i32
// CHECK: arith.muli {{.*}} : i32
func.func @mixed(%a: tensor<3x4xi8>, %b: tensor<4x5xui8>) -> tensor<3x5xi32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x4xi8>, tensor<4x5xui8>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}

// -----

// A label in one operand only is summed over; a repeated one reads the diagonal.
// CHECK: #[[DIAGONAL:.*]] = affine_map<(d0, d1, d2) -> (d0, d0, d1)>
// CHECK-LABEL: @einsum
// CHECK: linalg.generic {indexing_maps = [#[[DIAGONAL]]
// CHECK-SAME: iterator_types = ["parallel", "reduction", "reduction"]
func.func @einsum(%a: tensor<3x3x4xf32>, %b: tensor<4x5xf32>) -> tensor<3xf32> {
  %0 = "stablehlo.einsum"(%a, %b) <{einsum_config = "iij,jk->i"}> : (tensor<3x3x4xf32>, tensor<4x5xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
