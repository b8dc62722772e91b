// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-populate-op-sharding-rules | FileCheck %s

// Updates of several devices can be put together if one operation combines them, in whatever order; else everybody needs all.
// CHECK-LABEL: @scatters
func.func @scatters(%x: tensor<6x8xi1>, %i: tensor<4x1xi32>, %u: tensor<4x8xi1>) {
  // CHECK: "stablehlo.scatter"
  // CHECK: }) {sdy.sharding_rule = #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=6, l=1} reduction={i} need_replication={l}>}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %c = stablehlo.or %b, %a : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<6x8xi1>, tensor<4x1xi32>, tensor<4x8xi1>) -> tensor<6x8xi1>
  // CHECK: "stablehlo.scatter"
  // CHECK: }) {sdy.sharding_rule = #sdy.op_sharding_rule<([k, j], [i, l], [i, j])->([k, j]) {i=4, j=8, k=6, l=1} need_replication={i, l}>}
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    stablehlo.return %b : tensor<i1>
  }) : (tensor<6x8xi1>, tensor<4x1xi32>, tensor<4x8xi1>) -> tensor<6x8xi1>
  return
}

// A window may reach into the parts of several devices.
// CHECK-LABEL: @windows_of_updates
func.func @windows_of_updates(%x: tensor<8x6xf32>, %i: tensor<4x1xi32>, %u: tensor<4x3x6xf32>) {
  // CHECK: }) {sdy.sharding_rule = #sdy.op_sharding_rule<([j, l], [i, m], [i, k, l])->([j, l]) {i=4, j=8, k=3, l=6, m=1} reduction={i} need_replication={j, k, m}>}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<8x6xf32>, tensor<4x1xi32>, tensor<4x3x6xf32>) -> tensor<8x6xf32>
  return
}

// One row is nobody's part.
// CHECK-LABEL: @one_row
func.func @one_row(%x: tensor<1x8x6xf32>, %i: tensor<4x2xi32>) {
  // CHECK: "stablehlo.gather"{{.*}}<([k, l, j], [i, m])->([i, j]) {i=4, j=6, k=1, l=8, m=2} reduction={l} need_replication={k, m}>
  %0 = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 6>} : (tensor<1x8x6xf32>, tensor<4x2xi32>) -> tensor<4x6xf32>
  return
}

// Windows that move: neighbours exchange, also where the size is the same before and after. Everybody needs the whole source.
// CHECK-LABEL: @windows
func.func @windows(%x: tensor<8x6x4xf32>, %s: tensor<4x6x4xf32>, %c: tensor<f32>) {
  // CHECK: "stablehlo.reduce_window"
  // CHECK: }) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [])->([i, j, k]) {i=4, j=6, k=4} permutation={i, j}>}
  %0 = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 0], [2, 0], [0, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 2, 3, 1>, window_strides = array<i64: 2, 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8x6x4xf32>, tensor<f32>) -> tensor<4x6x4xf32>
  // CHECK: "stablehlo.select_and_scatter"
  // CHECK: }) {sdy.sharding_rule = #sdy.op_sharding_rule<([j, k, l], [i, k, l], [])->([j, k, l]) {i=4, j=8, k=6, l=4} need_replication={i} permutation={j}>}
  %1 = "stablehlo.select_and_scatter"(%x, %s, %c) <{window_dimensions = array<i64: 2, 1, 1>, window_strides = array<i64: 2, 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %m : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<8x6x4xf32>, tensor<4x6x4xf32>, tensor<f32>) -> tensor<8x6x4xf32>
  return
}

// A value beside itself is no rotation.
// CHECK-LABEL: @twice
func.func @twice(%x: tensor<8xf32>) {
  // CHECK: stablehlo.concatenate {{.*}}need_replication={i}>
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %1 = stablehlo.slice %x [0:4] : (tensor<8xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.concatenate {{.*}}permutation={i}>
  %2 = stablehlo.concatenate %1, %x, dim = 0 : (tensor<4xf32>, tensor<8xf32>) -> tensor<12xf32>
  return
}

// Groups that use a dimension up leave no second factor to it.
// CHECK-LABEL: @groups
func.func @groups(%x: tensor<2x8x6xf32>, %w: tensor<3x1x6xf32>, %y: tensor<4x8x3xf32>, %v: tensor<3x3x4xf32>) {
  // CHECK: stablehlo.convolution{{.*}}<([i, j, k], [m, l, k])->([i, j, k]) {i=2, j=6, k=6, l=1, m=1} reduction={l} permutation={j}>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 6 : i64} : (tensor<2x8x6xf32>, tensor<3x1x6xf32>) -> tensor<2x6x6xf32>
  // CHECK: stablehlo.convolution{{.*}}<([i, k, l], [m, l, i])->([j, k, i]) {i=4, j=1, k=6, l=3, m=1} reduction={l} permutation={k}>
  %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<4x8x3xf32>, tensor<3x3x4xf32>) -> tensor<1x6x4xf32>
  return
}
