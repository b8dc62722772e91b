// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cheaper operations for the same values; what would change a float stays.
// RUN: xla-opt %s -stablehlo-aggressive-simplification | FileCheck %s

// CHECK-LABEL: @reassociate
// CHECK-DAG: %[[C:.*]] = stablehlo.constant dense<
// CHECK: stablehlo.add %arg0, %{{.*}} : tensor<4xi32>
// CHECK-NOT: stablehlo.add %arg0
// CHECK: %[[F:.*]] = stablehlo.add %arg1, {{.*}} : tensor<4xf32>
// CHECK: stablehlo.add %[[F]], {{.*}} : tensor<4xf32>
func.func @reassociate(%x: tensor<4xi32>, %f: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %c1 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %c2 = stablehlo.constant dense<[5, 6, 7, 8]> : tensor<4xi32>
  %0 = stablehlo.add %x, %c1 : tensor<4xi32>
  %1 = stablehlo.add %0, %c2 : tensor<4xi32>
  %d = stablehlo.constant dense<0.1> : tensor<4xf32>
  %2 = stablehlo.add %f, %d : tensor<4xf32>
  %3 = stablehlo.add %2, %d : tensor<4xf32>
  return %1, %3 : tensor<4xi32>, tensor<4xf32>
}

// Constants only: it ends.
// CHECK-LABEL: @chain_of_constants
// CHECK: return
func.func @chain_of_constants() -> tensor<i64> {
  %c0 = stablehlo.constant dense<0> : tensor<i64>
  %c1 = stablehlo.constant dense<1> : tensor<i64>
  %0 = stablehlo.add %c0, %c1 : tensor<i64>
  %1 = stablehlo.add %0, %c1 : tensor<i64>
  %2 = stablehlo.add %1, %c1 : tensor<i64>
  %3 = stablehlo.add %2, %c1 : tensor<i64>
  return %3 : tensor<i64>
}

// CHECK-LABEL: @divide
// CHECK: %[[HALF:.*]] = stablehlo.constant dense<5.000000e-01>
// CHECK: stablehlo.multiply %arg0, %[[HALF]]
// CHECK: stablehlo.divide %arg0, {{.*}} : tensor<4xf32>
func.func @divide(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %three = stablehlo.constant dense<3.0> : tensor<4xf32>
  %0 = stablehlo.divide %x, %two : tensor<4xf32>
  %1 = stablehlo.divide %x, %three : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Floats, too: x * 1 and x / 1 are x for zeros, infinities and NaN. x * -1 and x + 0 are not.
// CHECK-LABEL: @ones
// CHECK: %[[NEGATIVE:.*]] = stablehlo.multiply
// CHECK: %[[SUM:.*]] = stablehlo.add
// CHECK: return %arg0, %arg0, %arg0, %[[NEGATIVE]], %[[SUM]]
func.func @ones(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %minus = stablehlo.constant dense<-1.0> : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.multiply %x, %one : tensor<4xf32>
  %1 = stablehlo.multiply %one, %x : tensor<4xf32>
  %2 = stablehlo.divide %x, %one : tensor<4xf32>
  %3 = stablehlo.multiply %x, %minus : tensor<4xf32>
  %4 = stablehlo.add %x, %zero : tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @power
// CHECK: stablehlo.multiply %arg0, %arg0
// CHECK: stablehlo.power %arg0
func.func @power(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %0 = stablehlo.power %x, %one : tensor<4xf32>
  %1 = stablehlo.power %x, %two : tensor<4xf32>
  %2 = stablehlo.power %x, %half : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @limits
// CHECK: %[[KEPT:.*]] = stablehlo.maximum %arg1
// CHECK: return %arg0, %[[KEPT]]
func.func @limits(%x: tensor<4xf32>, %i: tensor<4xi8>) -> (tensor<4xf32>, tensor<4xi8>) {
  %inf = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %zero = stablehlo.constant dense<0> : tensor<4xi8>
  %0 = stablehlo.maximum %x, %inf : tensor<4xf32>
  %1 = stablehlo.maximum %i, %zero : tensor<4xi8>
  return %0, %1 : tensor<4xf32>, tensor<4xi8>
}

// NaN is neither less nor not less: only the order of integers can be inverted.
// CHECK-LABEL: @not_of_compare
// CHECK: stablehlo.compare GE, %arg0, %arg3
// CHECK: stablehlo.compare NE, %arg1, %arg2
// CHECK: stablehlo.compare LT, %arg1, %arg2
// CHECK: stablehlo.not
func.func @not_of_compare(%x: tensor<4xi32>, %f: tensor<4xf32>, %g: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %0 = stablehlo.compare LT, %x, %y : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %1 = stablehlo.not %0 : tensor<4xi1>
  %2 = stablehlo.compare EQ, %f, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = stablehlo.not %2 : tensor<4xi1>
  %4 = stablehlo.compare LT, %f, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %5 = stablehlo.not %4 : tensor<4xi1>
  return %1, %3, %5 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// A widening conversion is exact, a narrowing one is not.
// CHECK-LABEL: @convert
// CHECK: %[[A:.*]] = stablehlo.convert %arg1 : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK: %[[B:.*]] = stablehlo.convert %[[A]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK: return %arg0, %[[B]]
func.func @convert(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
  %0 = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = stablehlo.convert %y : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf32>
  return %1, %3 : tensor<4xbf16>, tensor<4xf32>
}

// One addition instead of sixteen.
// CHECK-LABEL: @elementwise_of_scalars
// CHECK: %[[S:.*]] = stablehlo.add %arg0, %arg1 : tensor<f32>
// CHECK: stablehlo.broadcast_in_dim %[[S]], dims = [] : (tensor<f32>) -> tensor<4x4xf32>
func.func @elementwise_of_scalars(%a: tensor<f32>, %b: tensor<f32>) -> tensor<4x4xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: @broadcasts
// CHECK: stablehlo.reshape %arg0 : (tensor<3xf32>) -> tensor<1x3xf32>
// CHECK: stablehlo.transpose %arg1, dims = [1, 0]
// CHECK: stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
// CHECK: stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<3xf32>) -> tensor<3x5xf32>
func.func @broadcasts(%v: tensor<3xf32>, %x: tensor<2x3xf32>) -> (tensor<1x3xf32>, tensor<3x2xf32>, tensor<4x3xf32>, tensor<3x5xf32>) {
  %0 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.reshape %v : (tensor<3xf32>) -> tensor<1x3xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
  %4 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<5x3xf32>
  %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<5x3xf32>) -> tensor<3x5xf32>
  return %0, %1, %3, %5 : tensor<1x3xf32>, tensor<3x2xf32>, tensor<4x3xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: @transpose_of_unit_dimension
// CHECK: stablehlo.reshape %arg0 : (tensor<1x4xf32>) -> tensor<4x1xf32>
func.func @transpose_of_unit_dimension(%x: tensor<1x4xf32>) -> tensor<4x1xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<1x4xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// CHECK-LABEL: @slices
// CHECK: stablehlo.slice %arg0 [5:12:6]
// CHECK: stablehlo.slice %arg1 [1:3]
// CHECK: stablehlo.broadcast_in_dim %arg2, dims = [0] : (tensor<4xf32>) -> tensor<4x2xf32>
func.func @slices(%x: tensor<16xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<4x2xf32>) {
  %0 = stablehlo.slice %x [2:15:3] : (tensor<16xf32>) -> tensor<5xf32>
  %1 = stablehlo.slice %0 [1:5:2] : (tensor<5xf32>) -> tensor<2xf32>
  %2 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<16xf32>, tensor<4xf32>) -> tensor<20xf32>
  %3 = stablehlo.slice %2 [17:19] : (tensor<20xf32>) -> tensor<2xf32>
  %4 = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.slice %4 [0:4, 3:5] : (tensor<4x8xf32>) -> tensor<4x2xf32>
  return %1, %3, %5 : tensor<2xf32>, tensor<2xf32>, tensor<4x2xf32>
}

// Of two pieces a slice with large steps reads one.
// CHECK-LABEL: @strided_slice
// CHECK-NEXT: %[[S:.*]] = stablehlo.slice %arg0 [2:16:10]
// CHECK-NEXT: return %[[S]]
func.func @strided_slice(%x: tensor<16xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<16xf32>, tensor<4xf32>) -> tensor<20xf32>
  %1 = stablehlo.slice %0 [2:18:10] : (tensor<20xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @pad_and_concatenate
// CHECK: stablehlo.slice %arg0 [1:14]
// CHECK: return {{.*}}, %arg0
func.func @pad_and_concatenate(%x: tensor<16xf32>, %z: tensor<f32>) -> (tensor<13xf32>, tensor<16xf32>) {
  %0 = stablehlo.pad %x, %z, low = [-1], high = [-2], interior = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<13xf32>
  %1 = stablehlo.slice %x [0:5] : (tensor<16xf32>) -> tensor<5xf32>
  %2 = stablehlo.slice %x [5:16] : (tensor<16xf32>) -> tensor<11xf32>
  %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<5xf32>, tensor<11xf32>) -> tensor<16xf32>
  return %0, %3 : tensor<13xf32>, tensor<16xf32>
}

// The index 9 is clamped to 3, as gather does.
// CHECK-LABEL: @gather_to_slice
// CHECK: %[[S:.*]] = stablehlo.slice %arg0 [3:5, 0:4]
// CHECK: stablehlo.reshape %[[S]] : (tensor<2x4xf32>) -> tensor<2x4x1xf32>
func.func @gather_to_slice(%x: tensor<5x4xf32>) -> tensor<2x4x1xf32> {
  %i = stablehlo.constant dense<9> : tensor<1x1xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 4>}> : (tensor<5x4xf32>, tensor<1x1xi32>) -> tensor<2x4x1xf32>
  return %0 : tensor<2x4x1xf32>
}

// The transpose decides the order of the result: it has to stay somewhere.
// CHECK-LABEL: @keeps_transpose
// CHECK: stablehlo.transpose
// CHECK: stablehlo.dot_general
func.func @keeps_transpose(%a: tensor<2x5x3xf32>, %b: tensor<3x4xf32>) -> tensor<5x2x4xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0, 2] : (tensor<2x5x3xf32>) -> tensor<5x2x3xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [2] x [0] : (tensor<5x2x3xf32>, tensor<3x4xf32>) -> tensor<5x2x4xf32>
  return %1 : tensor<5x2x4xf32>
}

// Nothing happens where the product has another reader, where a factor's own dimensions change their order, where a batching dimension leaves
// the front, and where the second factor would have to be packed along its rows.
// CHECK-LABEL: @keeps_transpose_of_dot
// CHECK-COUNT-4: stablehlo.transpose
// CHECK: return
func.func @keeps_transpose_of_dot(%g: tensor<8x3xf32>, %x: tensor<8x4xf32>, %y: tensor<5x8xf32>, %z: tensor<8x4x6xf32>, %b: tensor<8x5x4xf32>)
    -> (tensor<3x4xf32>, tensor<4x3xf32>, tensor<6x4x3xf32>, tensor<6x8x5xf32>, tensor<4x5xf32>) {
  %0 = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %2 = stablehlo.dot_general %g, %z, contracting_dims = [0] x [0] : (tensor<8x3xf32>, tensor<8x4x6xf32>) -> tensor<3x4x6xf32>
  %3 = stablehlo.transpose %2, dims = [2, 1, 0] : (tensor<3x4x6xf32>) -> tensor<6x4x3xf32>
  %4 = stablehlo.dot_general %b, %z, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x5x4xf32>, tensor<8x4x6xf32>) -> tensor<8x5x6xf32>
  %5 = stablehlo.transpose %4, dims = [2, 0, 1] : (tensor<8x5x6xf32>) -> tensor<6x8x5xf32>
  %6 = stablehlo.dot_general %y, %x, contracting_dims = [1] x [0] : (tensor<5x8xf32>, tensor<8x4xf32>) -> tensor<5x4xf32>
  %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  return %0, %1, %3, %5, %7 : tensor<3x4xf32>, tensor<4x3xf32>, tensor<6x4x3xf32>, tensor<6x8x5xf32>, tensor<4x5xf32>
}

// Not if the result would be transposed, and not if one batching dimension is more than repeated.
// CHECK-LABEL: @dot_of_repeated_stays
// CHECK-COUNT-2: stablehlo.dot_general {{.*}} batching_dims
func.func @dot_of_repeated_stays(%a: tensor<2x5x3xf32>, %c: tensor<5x7x2x3xf32>, %w: tensor<3x4xf32>, %v: tensor<5x3x4xf32>)
    -> (tensor<5x2x4xf32>, tensor<5x7x2x4xf32>) {
  %b = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<5x3x4xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<2x5x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  %d = stablehlo.broadcast_in_dim %v, dims = [0, 2, 3] : (tensor<5x3x4xf32>) -> tensor<5x7x3x4xf32>
  %1 = stablehlo.dot_general %c, %d, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<5x7x2x3xf32>, tensor<5x7x3x4xf32>) -> tensor<5x7x2x4xf32>
  return %0, %1 : tensor<5x2x4xf32>, tensor<5x7x2x4xf32>
}

// Operands of two shapes, and one that is no reshape, stay as they are.
// CHECK-LABEL: @other_units
// CHECK: stablehlo.add {{.*}} : tensor<1x4x1xf32>
// CHECK: stablehlo.add {{.*}} : tensor<1x4x1xf32>
func.func @other_units(%x: tensor<1x4xf32>, %y: tensor<4x1xf32>, %z: tensor<1x4x1xf32>) -> (tensor<1x4x1xf32>, tensor<1x4x1xf32>) {
  %0 = stablehlo.reshape %x : (tensor<1x4xf32>) -> tensor<1x4x1xf32>
  %1 = stablehlo.reshape %y : (tensor<4x1xf32>) -> tensor<1x4x1xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x4x1xf32>
  %3 = stablehlo.add %0, %z : tensor<1x4x1xf32>
  return %2, %3 : tensor<1x4x1xf32>, tensor<1x4x1xf32>
}
// CHECK-LABEL: @slice_of_merging_reshape
// CHECK:         stablehlo.reshape
// CHECK:         stablehlo.slice
func.func @slice_of_merging_reshape(%x: tensor<16x8xf32>) -> tensor<2x8x4xf32> {
  %0 = stablehlo.reshape %x : (tensor<16x8xf32>) -> tensor<2x8x8xf32>
  %1 = stablehlo.slice %0 [0:2, 0:8, 2:6] : (tensor<2x8x8xf32>) -> tensor<2x8x4xf32>
  return %1 : tensor<2x8x4xf32>
}

// As JAX repeats an element along a dimension: the dimension of size one is the one that grows.
// CHECK-LABEL: func.func @reshape_of_broadcast
// CHECK-NEXT: %[[R:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2] : (tensor<16x1x100xf32>) -> tensor<16x3x100xf32>
// CHECK-NEXT: return %[[R]]
func.func @reshape_of_broadcast(%x: tensor<16x1x100xf32>) -> tensor<16x3x100xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1, 3] : (tensor<16x1x100xf32>) -> tensor<16x1x3x100xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x1x3x100xf32>) -> tensor<16x3x100xf32>
  return %1 : tensor<16x3x100xf32>
}

// Elements that change their order among repeated ones.
// CHECK-LABEL: func.func @reshape_of_other_broadcast
// CHECK: stablehlo.broadcast_in_dim
// CHECK: stablehlo.reshape
func.func @reshape_of_other_broadcast(%x: tensor<16x100xf32>) -> tensor<48x100xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<16x100xf32>) -> tensor<16x3x100xf32>
  %1 = stablehlo.reshape %0 : (tensor<16x3x100xf32>) -> tensor<48x100xf32>
  return %1 : tensor<48x100xf32>
}
