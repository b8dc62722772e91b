// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,indices -split-input-file | FileCheck %s

// Positions below 2^31 are counted in 32 bits, and their high half is zero.
// CHECK-LABEL: @halves
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<300x7xui64>
// CHECK: stablehlo.iota dim = 0 : tensor<300x7xui32>
// CHECK: stablehlo.iota dim = 1 : tensor<300x7xui32>
// CHECK: %[[LOW:.*]] = stablehlo.add {{.*}} : tensor<300x7xui32>
// CHECK-NEXT: %[[HIGH:.*]] = stablehlo.convert %[[ZERO]]
// CHECK-NEXT: return %[[LOW]], %[[HIGH]]
func.func @halves() -> (tensor<300x7xui32>, tensor<300x7xui32>) {
  %seven = stablehlo.constant dense<7> : tensor<300x7xui64>
  %half = stablehlo.constant dense<32> : tensor<300x7xui64>
  %row = stablehlo.iota dim = 0 : tensor<300x7xui64>
  %column = stablehlo.iota dim = 1 : tensor<300x7xui64>
  %first = stablehlo.multiply %row, %seven : tensor<300x7xui64>
  %place = stablehlo.add %first, %column : tensor<300x7xui64>
  %low = stablehlo.convert %place : (tensor<300x7xui64>) -> tensor<300x7xui32>
  %shifted = stablehlo.shift_right_logical %place, %half : tensor<300x7xui64>
  %high = stablehlo.convert %shifted : (tensor<300x7xui64>) -> tensor<300x7xui32>
  return %low, %high : tensor<300x7xui32>, tensor<300x7xui32>
}

// -----

// 300 is no number of eight bits, and 300 >> 8 is not zero; other numbers may be as large as they like.
// CHECK-LABEL: @kept
// CHECK: stablehlo.iota dim = 0 : tensor<301xui32>
// CHECK: stablehlo.convert
// CHECK: stablehlo.shift_right_logical
// CHECK: stablehlo.convert %arg0
func.func @kept(%x: tensor<301xui64>) -> (tensor<301xui8>, tensor<301xui32>, tensor<301xui32>) {
  %eight = stablehlo.constant dense<8> : tensor<301xui32>
  %0 = stablehlo.iota dim = 0 : tensor<301xui32>
  %1 = stablehlo.convert %0 : (tensor<301xui32>) -> tensor<301xui8>
  %2 = stablehlo.shift_right_logical %0, %eight : tensor<301xui32>
  %3 = stablehlo.convert %x : (tensor<301xui64>) -> tensor<301xui32>
  return %1, %2, %3 : tensor<301xui8>, tensor<301xui32>, tensor<301xui32>
}

// -----

// A position is not negative.
// CHECK-LABEL: @not_negative
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xi32>)
// CHECK: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<3xi32>
// CHECK: %[[P:.*]] = stablehlo.broadcast_in_dim %[[I]], dims = [0]
// CHECK: %[[LESS:.*]] = stablehlo.compare LT, %[[X]], %{{.*}}
// CHECK: return %[[P]], %[[LESS]]
func.func @not_negative(%x: tensor<3x5xi32>) -> (tensor<3x5xi32>, tensor<3x5xi1>) {
  %zero = stablehlo.constant dense<0> : tensor<3x5xi32>
  %size = stablehlo.constant dense<3> : tensor<3x5xi32>
  %i = stablehlo.iota dim = 0 : tensor<3xi32>
  %p = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<3xi32>) -> tensor<3x5xi32>
  %less = stablehlo.compare LT, %p, %zero : (tensor<3x5xi32>, tensor<3x5xi32>) -> tensor<3x5xi1>
  %end = stablehlo.add %p, %size : tensor<3x5xi32>
  %0 = stablehlo.select %less, %end, %p : tensor<3x5xi1>, tensor<3x5xi32>
  %1 = stablehlo.compare LT, %x, %zero : (tensor<3x5xi32>, tensor<3x5xi32>) -> tensor<3x5xi1>
  return %0, %1 : tensor<3x5xi32>, tensor<3x5xi1>
}

// -----

// What is gathered at its own positions is repeated: both coordinates are positions, in another order than the dimensions.
// CHECK-LABEL: @own_positions
// CHECK-SAME: (%[[X:.*]]: tensor<7x16x3xf32>)
// CHECK-NEXT: %[[R:.*]] = stablehlo.broadcast_in_dim %[[X]], dims = [2, 0, 3] : (tensor<7x16x3xf32>) -> tensor<16x2x7x3xf32>
// CHECK-NEXT: return %[[R]]
func.func @own_positions(%x: tensor<7x16x3xf32>) -> tensor<16x2x7x3xf32> {
  %zero = stablehlo.constant dense<0> : tensor<1x1x7x1xi64>
  %size = stablehlo.constant dense<7> : tensor<1x1x7x1xi64>
  %i = stablehlo.iota dim = 0 : tensor<7xi64>
  %p = stablehlo.reshape %i : (tensor<7xi64>) -> tensor<1x1x7x1xi64>
  %less = stablehlo.compare LT, %p, %zero : (tensor<1x1x7x1xi64>, tensor<1x1x7x1xi64>) -> tensor<1x1x7x1xi1>
  %end = stablehlo.add %p, %size : tensor<1x1x7x1xi64>
  %first = stablehlo.select %less, %end, %p : tensor<1x1x7x1xi1>, tensor<1x1x7x1xi64>
  %row = stablehlo.broadcast_in_dim %first, dims = [0, 1, 2, 3] : (tensor<1x1x7x1xi64>) -> tensor<16x2x7x1xi64>
  %column = stablehlo.iota dim = 0 : tensor<16x2x7x1xi64>
  %at = stablehlo.concatenate %row, %column, dim = 3 : (tensor<16x2x7x1xi64>, tensor<16x2x7x1xi64>) -> tensor<16x2x7x2xi64>
  %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
    index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<7x16x3xf32>, tensor<16x2x7x2xi64>) -> tensor<16x2x7x3xf32>
  return %0 : tensor<16x2x7x3xf32>
}

// -----

// Positions of a part, a diagonal, and numbers that are no positions are gathered.
// CHECK-LABEL: @other_positions
// CHECK-COUNT-3: "stablehlo.gather"
func.func @other_positions(%x: tensor<7x7xf32>, %i: tensor<7x1xi64>) -> (tensor<5x7xf32>, tensor<7xf32>, tensor<7x7xf32>) {
  %part = stablehlo.iota dim = 0 : tensor<5x1xi64>
  %0 = "stablehlo.gather"(%x, %part) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
    index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}> : (tensor<7x7xf32>, tensor<5x1xi64>) -> tensor<5x7xf32>
  %all = stablehlo.iota dim = 0 : tensor<7x1xi64>
  %both = stablehlo.concatenate %all, %all, dim = 1 : (tensor<7x1xi64>, tensor<7x1xi64>) -> tensor<7x2xi64>
  %1 = "stablehlo.gather"(%x, %both) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
    index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<7x7xf32>, tensor<7x2xi64>) -> tensor<7xf32>
  %2 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
    index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}> : (tensor<7x7xf32>, tensor<7x1xi64>) -> tensor<7x7xf32>
  return %0, %1, %2 : tensor<5x7xf32>, tensor<7xf32>, tensor<7x7xf32>
}

// -----

// A table of positions below 2^31 has 32 bits; one with a negative position, which is clamped, stays.
// CHECK-LABEL: @tables
// CHECK-DAG: %[[NARROW:.*]] = stablehlo.constant dense<[0, 0, 2147483647]> : tensor<3xi32>
// CHECK-DAG: %[[WIDE:.*]] = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi64>
// CHECK-DAG: "stablehlo.gather"(%arg0, %[[NARROW]]) {{.*}} : (tensor<4x9xf32>, tensor<3xi32>) -> tensor<4x3xf32>
// CHECK-DAG: "stablehlo.gather"(%arg0, %[[WIDE]]) {{.*}} : (tensor<4x9xf32>, tensor<3xi64>) -> tensor<4x3xf32>
func.func @tables(%x: tensor<4x9xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>) {
  %near = stablehlo.constant dense<[0, 0, 2147483647]> : tensor<3xui64>
  %below = stablehlo.constant dense<[-1, 0, 1]> : tensor<3xi64>
  %0 = "stablehlo.gather"(%x, %near) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 4, 1>}> : (tensor<4x9xf32>, tensor<3xui64>) -> tensor<4x3xf32>
  %1 = "stablehlo.gather"(%x, %below) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 4, 1>}> : (tensor<4x9xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  return %0, %1 : tensor<4x3xf32>, tensor<4x3xf32>
}
