// What xla-simplify-for-kernels does beyond stablehlo-aggressive-simplification, which leaves all of these as they are.
// RUN: xla-opt %s -xla-simplify-for-kernels | FileCheck %s
// RUN: not xla-opt %s -xla-simplify-for-kernels=groups=convolution 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: xla-simplify-for-kernels: expects the groups general, indices, unit-dimensions, contractions, diagonals, scatters, powers, but got 'convolution'
// CHECK-LABEL: @dot_of_transpose
// CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [0] x [0]
func.func @dot_of_transpose(%a: tensor<3x2xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// A weight's gradient as jax.grad writes it: its factors change places.
// CHECK-LABEL: @transpose_of_dot
// CHECK-NEXT: %[[R:.*]] = stablehlo.dot_general %arg1, %arg0, contracting_dims = [0] x [0], precision = [HIGHEST, DEFAULT] : (tensor<8x4xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: return %[[R]]
func.func @transpose_of_dot(%g: tensor<8x3xf32>, %x: tensor<8x4xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0], precision = [DEFAULT, HIGHEST] : (tensor<8x3xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// Batching dimensions change their order with the result's, of several kept dimensions each factor keeps its own.
// CHECK-LABEL: @transpose_of_batched_dot
// CHECK-NEXT: %[[R:.*]] = stablehlo.dot_general %arg1, %arg0, batching_dims = [3, 0] x [1, 0], contracting_dims = [2] x [2] : (tensor<7x6x3x5xf32>, tensor<7x5x3x2x4xf32>) -> tensor<5x7x6x2x4xf32>
// CHECK-NEXT: return %[[R]]
func.func @transpose_of_batched_dot(%a: tensor<7x5x3x2x4xf32>, %b: tensor<7x6x3x5xf32>) -> tensor<5x7x6x2x4xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0, 1] x [0, 3], contracting_dims = [2] x [2] : (tensor<7x5x3x2x4xf32>, tensor<7x6x3x5xf32>) -> tensor<7x5x2x4x6xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0, 4, 2, 3] : (tensor<7x5x2x4x6xf32>) -> tensor<5x7x6x2x4xf32>
  return %1 : tensor<5x7x6x2x4xf32>
}

// CHECK-LABEL: @reduce_of_transpose
// CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0]
func.func @reduce_of_transpose(%x: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}

// A batch of products with the same matrix is one product.
// CHECK-LABEL: @dot_of_repeated
// CHECK-NOT: broadcast_in_dim
// CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [2] x [1] : (tensor<5x2x3xf32>, tensor<4x3xf32>) -> tensor<5x2x4xf32>
func.func @dot_of_repeated(%a: tensor<5x2x3xf32>, %w: tensor<4x3xf32>) -> tensor<5x2x4xf32> {
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %b = stablehlo.broadcast_in_dim %t, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<5x3x4xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}

// One index per position needs no dimension of its own at the end.
// CHECK-LABEL: @gather_of_unit_reshape
// CHECK: %[[FRONT:.*]] = stablehlo.reshape %arg1 : (tensor<6x4xi32>) -> tensor<1x6x4xi32>
// CHECK: "stablehlo.gather"(%arg0, %arg1) <{{.*}}index_vector_dim = 2{{.*}} : (tensor<6x5xf32>, tensor<6x4xi32>) -> tensor<6x4xf32>
// CHECK: "stablehlo.gather"(%arg0, %[[FRONT]])
func.func @gather_of_unit_reshape(%x: tensor<6x5xf32>, %i: tensor<6x4xi32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %last = stablehlo.reshape %i : (tensor<6x4xi32>) -> tensor<6x4x1xi32>
  %front = stablehlo.reshape %i : (tensor<6x4xi32>) -> tensor<1x6x4xi32>
  %0 = "stablehlo.gather"(%x, %last) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x5xf32>, tensor<6x4x1xi32>) -> tensor<6x4xf32>
  %1 = "stablehlo.gather"(%x, %front) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x5xf32>, tensor<1x6x4xi32>) -> tensor<6x4xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<6x4xf32>
}

// The first index is the row itself, as take_along_axis has it; one that counts along another dimension stays.
// CHECK-LABEL: @gather_at_position
// CHECK: %[[BOTH:.*]] = stablehlo.concatenate %arg1
// CHECK: %[[I:.*]] = stablehlo.reshape %arg1 : (tensor<6x4x1xi32>) -> tensor<6x4xi32>
// CHECK: "stablehlo.gather"(%arg0, %[[I]]) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, {{.*}}slice_sizes = array<i64: 1, 1>}>
// CHECK: "stablehlo.gather"(%arg0, %[[BOTH]]) {{.*}}start_index_map = [0, 1]
func.func @gather_at_position(%x: tensor<6x5xf32>, %i: tensor<6x4x1xi32>) -> (tensor<6x4xf32>, tensor<6x4xf32>) {
  %row = stablehlo.iota dim = 0 : tensor<6x4x1xi32>
  %column = stablehlo.iota dim = 1 : tensor<6x4x1xi32>
  %rows = stablehlo.concatenate %row, %i, dim = 2 : (tensor<6x4x1xi32>, tensor<6x4x1xi32>) -> tensor<6x4x2xi32>
  %columns = stablehlo.concatenate %i, %column, dim = 2 : (tensor<6x4x1xi32>, tensor<6x4x1xi32>) -> tensor<6x4x2xi32>
  %0 = "stablehlo.gather"(%x, %rows) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x5xf32>, tensor<6x4x2xi32>) -> tensor<6x4xf32>
  %1 = "stablehlo.gather"(%x, %columns) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<6x5xf32>, tensor<6x4x2xi32>) -> tensor<6x4xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<6x4xf32>
}

// The mean of a row keeps the shape of its sum until it is broadcast.
// CHECK-LABEL: @mean_of_rows
// CHECK: %[[SUM:.*]] = stablehlo.reduce
// CHECK: %[[MEAN:.*]] = stablehlo.divide %[[SUM]], %{{.*}} : tensor<1x4xf32>
// CHECK: stablehlo.broadcast_in_dim %[[MEAN]], dims = [0, 1] : (tensor<1x4xf32>) -> tensor<1x4x3xf32>
func.func @mean_of_rows(%x: tensor<1x4x3xf32>) -> tensor<1x4x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %three = stablehlo.constant dense<3.0> : tensor<1x4x1xf32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<1x4x3xf32>, tensor<f32>) -> tensor<1x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<1x4x1xf32>
  %2 = stablehlo.divide %1, %three : tensor<1x4x1xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x4x1xf32>) -> tensor<1x4x3xf32>
  return %3 : tensor<1x4x3xf32>
}

// A reduction of single elements is its reducer; the order of its operands stays.
// CHECK-LABEL: @reduce_of_units
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<4x1xf32>) -> tensor<4xf32>
// CHECK: stablehlo.subtract %[[X]], %{{.*}} : tensor<4xf32>
// CHECK: stablehlo.reduce
func.func @reduce_of_units(%x: tensor<4x1xf32>, %c: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = "stablehlo.reduce"(%x, %c) ({
  ^bb0(%a: tensor<f32>, %e: tensor<f32>):
    %1 = stablehlo.subtract %e, %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
  return %0, %2 : tensor<4xf32>, tensor<f32>
}

// A dimension of size one that a reshape adds does not stand between a slice and its operand; an empty slice of it does.
// CHECK-LABEL: @slice_of_unit_reshape
// CHECK:         %[[S:.*]] = stablehlo.slice %arg0 [0:16, 256:511:2] : (tensor<16x1024xf32>) -> tensor<16x128xf32>
// CHECK:         %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<16x128xf32>) -> tensor<16x1x128x1xf32>
// CHECK:         return %[[R]]
func.func @slice_of_unit_reshape(%x: tensor<16x1024xf32>) -> tensor<16x1x128x1xf32> {
  %0 = stablehlo.reshape %x : (tensor<16x1024xf32>) -> tensor<16x1x1024x1xf32>
  %1 = stablehlo.slice %0 [0:16, 0:1, 256:512:2, 0:1] : (tensor<16x1x1024x1xf32>) -> tensor<16x1x128x1xf32>
  return %1 : tensor<16x1x128x1xf32>
}

// A slice between two reshapes, of which the second undoes the first, is a slice of what is reshaped; without a second one it stays.
// CHECK-LABEL: @cut_off_steps
// CHECK-SAME:    (%[[X:.*]]: tensor<2x8x20xf32>)
// CHECK:         %[[CUT:.*]] = stablehlo.slice %[[X]] [0:2, 0:8, 0:15] : (tensor<2x8x20xf32>) -> tensor<2x8x15xf32>
// CHECK:         %[[FLAT:.*]] = stablehlo.reshape %[[X]] : (tensor<2x8x20xf32>) -> tensor<16x20xf32>
// CHECK:         %[[OTHER:.*]] = stablehlo.slice %[[FLAT]] [0:16, 5:20]
// CHECK:         return %[[CUT]], %[[OTHER]]
func.func @cut_off_steps(%x: tensor<2x8x20xf32>) -> (tensor<2x8x15xf32>, tensor<16x15xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x8x20xf32>) -> tensor<320xf32>
  %1 = stablehlo.reshape %0 : (tensor<320xf32>) -> tensor<16x20x1xf32>
  %2 = stablehlo.slice %1 [0:16, 0:15, 0:1] : (tensor<16x20x1xf32>) -> tensor<16x15x1xf32>
  %3 = stablehlo.reshape %2 : (tensor<16x15x1xf32>) -> tensor<2x8x15xf32>
  %4 = stablehlo.reshape %x : (tensor<2x8x20xf32>) -> tensor<16x20xf32>
  %5 = stablehlo.slice %4 [0:16, 5:20] : (tensor<16x20xf32>) -> tensor<16x15xf32>
  return %3, %5 : tensor<2x8x15xf32>, tensor<16x15xf32>
}

// A root is cheaper and more exact than a power. That of -0 is -0, that of -inf NaN, which powers are not.
// CHECK-LABEL: @power_of_half
// CHECK-DAG: %[[INF:.*]] = stablehlo.constant dense<0x7F800000> : tensor<4xf32>
// CHECK-DAG: %[[MINUS:.*]] = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
// CHECK: %[[ROOT:.*]] = stablehlo.sqrt %arg0
// CHECK: %[[ABS:.*]] = stablehlo.abs %[[ROOT]]
// CHECK: %[[EDGE:.*]] = stablehlo.compare EQ, %arg0, %[[MINUS]]
// CHECK: stablehlo.select %[[EDGE]], %[[INF]], %[[ABS]]
func.func @power_of_half(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.power %x, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Two roundings instead of one, another exponent, complex numbers, a type without infinities.
// CHECK-LABEL: @other_powers
// CHECK-COUNT-4: stablehlo.power
func.func @other_powers(%x: tensor<4xf32>, %z: tensor<4xcomplex<f32>>, %s: tensor<4xf8E4M3FN>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>, tensor<4xf8E4M3FN>) {
  %0 = stablehlo.constant dense<-0.5> : tensor<4xf32>
  %1 = stablehlo.constant dense<1.5> : tensor<4xf32>
  %2 = stablehlo.constant dense<(0.5, 0.0)> : tensor<4xcomplex<f32>>
  %3 = stablehlo.constant dense<0.5> : tensor<4xf8E4M3FN>
  %4 = stablehlo.power %x, %0 : tensor<4xf32>
  %5 = stablehlo.power %x, %1 : tensor<4xf32>
  %6 = stablehlo.power %z, %2 : tensor<4xcomplex<f32>>
  %7 = stablehlo.power %s, %3 : tensor<4xf8E4M3FN>
  return %4, %5, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>, tensor<4xf8E4M3FN>
}
