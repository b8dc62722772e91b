// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// Start indices are clamped so that the slice fits.
// CHECK-LABEL: @rows
// CHECK-SAME: (%[[X:.*]]: tensor<50x16xf32>, %[[I:.*]]: tensor<20x1xi32>)
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: %[[START:.*]] = tensor.extract %[[I]]
// CHECK: arith.maxsi {{.*}} : i32
// CHECK: arith.minsi {{.*}} : i32
// CHECK: arith.index_cast
// CHECK: tensor.extract %[[X]]
func.func @rows(%x: tensor<50x16xf32>, %i: tensor<20x1xi32>) -> tensor<20x16xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<50x16xf32>, tensor<20x1xi32>) -> tensor<20x16xf32>
  return %0 : tensor<20x16xf32>
}

// -----

// Unsigned indices beyond the signed range are too large, not negative.
// CHECK-LABEL: @unsigned
// CHECK: arith.minui
// CHECK: arith.index_castui
func.func @unsigned(%x: tensor<50xf32>, %i: tensor<20x1xui64>) -> tensor<20xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<50xf32>, tensor<20x1xui64>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// Of 32 bits: the smaller one of it and the last has no sign.
// CHECK-LABEL: @unsigned32
// CHECK: %[[I:.*]] = arith.minui {{.*}} : i32
// CHECK-NEXT: arith.index_cast %[[I]]
// CHECK-NOT: arith.maxsi
func.func @unsigned32(%x: tensor<50xf32>, %i: tensor<20x1xui32>) -> tensor<20xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<50xf32>, tensor<20x1xui32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}
