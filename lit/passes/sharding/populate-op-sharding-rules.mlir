// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-populate-op-sharding-rules | FileCheck %s
// RUN: xla-opt %s -sdy-populate-op-sharding-rules="conservative-propagation=true" | FileCheck %s --check-prefix=CONSERVATIVE

// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<2x4xf32>, %s: tensor<f32>, %p: tensor<i1>) -> tensor<2x4xf32> {
  // CHECK: stablehlo.add {{.*}}#sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=2, j=4}>
  %0 = stablehlo.add %x, %x : tensor<2x4xf32>
  // CHECK: stablehlo.clamp {{.*}}<([], [i, j], [])->([i, j]) {i=2, j=4}>
  %1 = stablehlo.clamp %s, %0, %s : (tensor<f32>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.select {{.*}}<([], [i, j], [i, j])->([i, j]) {i=2, j=4}>
  %2 = stablehlo.select %p, %0, %1 : tensor<i1>, tensor<2x4xf32>
  // Nothing to say about values without dimensions: the rule has no factors.
  // CHECK: stablehlo.add {{.*}}#sdy.op_sharding_rule<([], [])->([])>
  %3 = stablehlo.add %s, %s : tensor<f32>
  return %2 : tensor<2x4xf32>
}

// CHECK-LABEL: @reshapes
func.func @reshapes(%x: tensor<2x4x32xf32>, %y: tensor<8x4xf32>, %z: tensor<1x6xf32>, %e: tensor<0x4xf32>) {
  // CHECK: stablehlo.reshape %arg0 {{.*}}<([i, j, k])->([ij, k]) {i=2, j=4, k=32}>
  %0 = stablehlo.reshape %x : (tensor<2x4x32xf32>) -> tensor<8x32xf32>
  // A factor that no dimension is alone.
  // CHECK: stablehlo.reshape %arg1 {{.*}}<([ij, k])->([i, jk]) {i=2, j=4, k=4}>
  %1 = stablehlo.reshape %y : (tensor<8x4xf32>) -> tensor<2x16xf32>
  // Dimensions of size 1 are tied to nothing; 6 and 3, 2 have 3 in common, then 2.
  // CHECK: stablehlo.reshape %arg2 {{.*}}<([i, jk])->([j, k]) {i=1, j=3, k=2}>
  %2 = stablehlo.reshape %z : (tensor<1x6xf32>) -> tensor<3x2xf32>
  // Nothing to split.
  // CHECK: stablehlo.reshape %arg3 : (tensor<0x4xf32>)
  %3 = stablehlo.reshape %e : (tensor<0x4xf32>) -> tensor<0x2xf32>
  return
}

// CHECK-LABEL: @data_movement
func.func @data_movement(%x: tensor<2x1x8xf32>, %s: tensor<f32>) {
  // CHECK: stablehlo.broadcast_in_dim {{.*}}<([i, j, l])->([i, k, l]) {i=2, j=1, k=5, l=8}>
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1, 2] : (tensor<2x1x8xf32>) -> tensor<2x5x8xf32>
  // CHECK: stablehlo.transpose {{.*}}<([j, k, i])->([i, j, k]) {i=8, j=2, k=1}>
  %1 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x1x8xf32>) -> tensor<8x2x1xf32>
  // CHECK: stablehlo.concatenate {{.*}}<([i, j, k], [i, j, k])->([i, j, k]) {i=2, j=6, k=8} need_replication={j}>
  // CONSERVATIVE: stablehlo.concatenate {{.*}}<([i, k, j], [i, l, j])->([i, m, j]) {i=2, j=8, k=1, l=1, m=1}>
  %2 = stablehlo.concatenate %x, %0, dim = 1 : (tensor<2x1x8xf32>, tensor<2x5x8xf32>) -> tensor<2x6x8xf32>
  // CHECK: stablehlo.slice {{.*}}<([i, j, k])->([i, j, k]) {i=2, j=6, k=8} permutation={k}>
  // CONSERVATIVE: stablehlo.slice {{.*}}permutation={k} blocked_propagation={k}>
  %3 = stablehlo.slice %2 [0:2, 0:6, 0:4] : (tensor<2x6x8xf32>) -> tensor<2x6x4xf32>
  // A rotation: neighbours exchange.
  // CHECK: stablehlo.slice
  // CHECK: stablehlo.slice
  // CHECK: stablehlo.concatenate {{.*}}permutation={j}>
  %4 = stablehlo.slice %2 [0:2, 2:6, 0:8] : (tensor<2x6x8xf32>) -> tensor<2x4x8xf32>
  %5 = stablehlo.slice %2 [0:2, 0:2, 0:8] : (tensor<2x6x8xf32>) -> tensor<2x2x8xf32>
  %6 = stablehlo.concatenate %4, %5, dim = 1 : (tensor<2x4x8xf32>, tensor<2x2x8xf32>) -> tensor<2x6x8xf32>
  // CHECK: stablehlo.pad {{.*}}<([i, j, k], [])->([i, j, k]) {i=2, j=6, k=4} permutation={k}>
  %7 = stablehlo.pad %3, %s, low = [0, 0, 1], high = [0, 0, 0], interior = [0, 0, 0] : (tensor<2x6x4xf32>, tensor<f32>) -> tensor<2x6x5xf32>
  // CHECK: stablehlo.reverse {{.*}}permutation={i}>
  %8 = stablehlo.reverse %x, dims = [0] : tensor<2x1x8xf32>
  // CHECK: stablehlo.bitcast_convert {{.*}}<([i, j, k])->([i, j, k, l]) {i=2, j=1, k=8, l=4} need_replication={l}>
  %9 = stablehlo.bitcast_convert %x : (tensor<2x1x8xf32>) -> tensor<2x1x8x4xi8>
  return
}

// CHECK-LABEL: @contractions
func.func @contractions(%a: tensor<3x8x32xf32>, %b: tensor<3x32x16xf32>, %v: tensor<32xf32>, %m: tensor<32x4xf32>, %s: tensor<3x8x8xf32>) {
  // CHECK: stablehlo.dot_general {{.*}}<([i, j, l], [i, l, k])->([i, j, k]) {i=3, j=8, k=16, l=32} reduction={l}>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x32xf32>, tensor<3x32x16xf32>) -> tensor<3x8x16xf32>
  // CHECK: stablehlo.dot {{.*}}<([j], [j, i])->([i]) {i=4, j=32} reduction={j}>
  %1 = stablehlo.dot %v, %m : (tensor<32xf32>, tensor<32x4xf32>) -> tensor<4xf32>
  // CHECK: stablehlo.cholesky {{.*}}<([i, j, k])->([i, j, k]) {i=3, j=8, k=8} need_replication={j, k}>
  %2 = stablehlo.cholesky %s, lower = true : tensor<3x8x8xf32>
  // CHECK: "stablehlo.triangular_solve"{{.*}}([i, j, l], [i, j, k])->([i, l, k]) {i=3, j=8, k=32, l=8} need_replication={j, k, l}>
  %3 = "stablehlo.triangular_solve"(%s, %a) {left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false} : (tensor<3x8x8xf32>, tensor<3x8x32xf32>) -> tensor<3x8x32xf32>
  // CHECK: stablehlo.fft {{.*}}need_replication={k} blocked_propagation={k}>
  %4 = stablehlo.fft %a, type = RFFT, length = [32] : (tensor<3x8x32xf32>) -> tensor<3x8x17xcomplex<f32>>
  return
}

// Windows of 2 over 224 pixels with stride 2: 112 windows, then inside of windows; groups apart.
// CHECK-LABEL: @convolutions
func.func @convolutions(%x: tensor<2x224x224x192xf32>, %w: tensor<3x3x192x64xf32>, %g: tensor<3x3x12x256xf32>) {
  // CHECK: stablehlo.convolution{{.*}}<([i, jk, lm, n], [k, m, n, o])->([i, j, l, o]) {i=2, j=112, k=2, l=112, m=2, n=192, o=64} reduction={k, m, n} permutation={j, l}>
  // CONSERVATIVE: stablehlo.convolution{{.*}}<([i, l, m, j], [n, o, j, k])->([i, p, q, k]) {i=2, j=192, k=64, l=1, m=1, n=1, o=1, p=1, q=1} reduction={j}>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x224x224x192xf32>, tensor<3x3x192x64xf32>) -> tensor<2x112x112x64xf32>
  // CHECK: stablehlo.convolution{{.*}}<([i, jk, lm, no], [k, m, o, np])->([i, j, l, np]) {i=2, j=112, k=2, l=112, m=2, n=16, o=12, p=16}
  %1 = stablehlo.convolution(%x, %g) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<2x224x224x192xf32>, tensor<3x3x12x256xf32>) -> tensor<2x112x112x256xf32>
  return
}

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<2x8x4xf32>, %i: tensor<f32>, %v: tensor<8xf32>) {
  // CHECK: stablehlo.reduce{{.*}}<([i, j, k], [])->([i, k]) {i=2, j=8, k=4} reduction={j}>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  // CHECK: need_replication={j}>
  %1 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64, is_stable = true} : (tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  // Without another dimension to go to, the sorted one is not propagated along.
  // CHECK: need_replication={i} blocked_propagation={i}>
  %2 = "stablehlo.sort"(%v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: @indexing
func.func @indexing(%x: tensor<16x4xf32>, %i: tensor<3x1xi32>, %at: tensor<i32>, %u: tensor<3x4xf32>, %d: tensor<2x4xf32>) {
  // Rows are looked up: devices that do not have them contribute zeros.
  // CHECK: "stablehlo.gather"{{.*}}([k, j], [i, l])->([i, j]) {i=3, j=4, k=16, l=1} reduction={k} need_replication={l}>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<16x4xf32>, tensor<3x1xi32>) -> tensor<3x4xf32>
  // CHECK: ([k, j], [i, l], [i, j])->([k, j]) {i=3, j=4, k=16, l=1} need_replication={i, l}>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<16x4xf32>, tensor<3x1xi32>, tensor<3x4xf32>) -> tensor<16x4xf32>
  // CHECK: stablehlo.dynamic_slice {{.*}}<([i, j], [], [])->([i, j]) {i=16, j=4} need_replication={i} blocked_propagation={i}>
  %2 = stablehlo.dynamic_slice %x, %at, %at, sizes = [2, 4] : (tensor<16x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.dynamic_update_slice {{.*}}<([i, k], [j, k], [], [])->([i, k]) {i=16, j=2, k=4} need_replication={j}>
  %3 = stablehlo.dynamic_update_slice %x, %d, %at, %at : (tensor<16x4xf32>, tensor<2x4xf32>, tensor<i32>, tensor<i32>) -> tensor<16x4xf32>
  return
}

// CHECK-LABEL: @others
func.func @others(%x: tensor<8x4x4xf32>, %state: tensor<2xui64>) {
  // CHECK: @Eigh{{.*}}<([i, j, k])->([i, j, k], [i, k]) {i=8, j=4, k=4}>
  %0:2 = stablehlo.custom_call @Eigh(%x) : (tensor<8x4x4xf32>) -> (tensor<8x4x4xf32>, tensor<8x4xf32>)
  // The user's rule stays.
  // CHECK: @mine{{.*}}<([i, j, k])->([k, j, i]) {i=8, j=4, k=4}, custom>
  %1 = stablehlo.custom_call @mine(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([k, j, i]) {i=8, j=4, k=4}, custom>} : (tensor<8x4x4xf32>) -> tensor<4x4x8xf32>
  // CHECK: stablehlo.rng_bit_generator {{.*}}<([i])->([i], [j, k]) {i=2, j=8, k=4} need_replication={i} blocked_propagation={i}>
  %2:2 = stablehlo.rng_bit_generator %state, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8x4xui32>)
  // CHECK: stablehlo.constant dense<1.0
  // CHECK-NOT: sharding_rule
  // CHECK: return
  %3 = stablehlo.constant dense<1.0> : tensor<8xf32>
  return
}
