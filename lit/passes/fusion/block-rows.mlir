// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large values that only their own rows read are computed a block of rows at a time.
// RUN: xla-opt %s -xla-block-rows=min-bytes=262144 -split-input-file | FileCheck %s
// RUN: xla-opt %s -xla-block-rows=min-bytes=2000000 -split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: xla-opt %s -xla-block-rows=min-bytes=262144 -split-input-file --remarks-filter-missed=xla-block-rows --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// SMALL-NOT: stablehlo.while

// Cross entropy and its gradients. Labels are compared with an iota, which is computed in the block; weights are read whole.
// CHECK-LABEL: func.func @cross_entropy
// CHECK-SAME:    (%[[H:.*]]: tensor<1024x8xf32>, %[[W:.*]]: tensor<64x8xf32>, %[[Y:.*]]: tensor<1024xi32>)
// CHECK-NOT:     tensor<1024x64x
// CHECK:         stablehlo.while(%[[I:.*]] = %{{.*}}, %[[SUMS:.*]] = %{{.*}}, %[[OWN:.*]] = %{{.*}}, %[[GH:.*]] = %{{.*}}, %[[GW:.*]] = %{{.*}})
// CHECK-NOT:     tensor<1024x64x
// CHECK:         %[[HB:.*]] = stablehlo.dynamic_slice %[[H]], %[[I]], %{{.*}}, sizes = [256, 8]
// CHECK:         stablehlo.dot_general %[[HB]], %[[W]], {{.*}} -> tensor<256x64xf32>
// CHECK-NOT:     tensor<1024x64x
// CHECK:         stablehlo.dynamic_update_slice %[[SUMS]], {{.*}}tensor<256xf32>
// CHECK:         stablehlo.dynamic_update_slice %[[OWN]], {{.*}}tensor<256xf32>
// CHECK:         stablehlo.dynamic_update_slice %[[GH]], {{.*}}tensor<256x8xf32>
// CHECK:         stablehlo.add %[[GW]], %{{.*}} : tensor<64x8xf32>
// CHECK-NOT:     tensor<1024x64x
// CHECK:         return
func.func @cross_entropy(%h: tensor<1024x8xf32>, %w: tensor<64x8xf32>, %y: tensor<1024xi32>) -> (tensor<f32>, tensor<1024x8xf32>, tensor<64x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %share = stablehlo.constant dense<9.765625e-04> : tensor<f32>
  %l = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<1024x8xf32>, tensor<64x8xf32>) -> tensor<1024x64xf32>
  %m = stablehlo.reduce(%l init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x64xf32>, tensor<f32>) -> tensor<1024xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<1024xf32>) -> tensor<1024x64xf32>
  %c = stablehlo.subtract %l, %mb : tensor<1024x64xf32>
  %e = stablehlo.exponential %c : tensor<1024x64xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x64xf32>, tensor<f32>) -> tensor<1024xf32>
  %n = stablehlo.iota dim = 1 : tensor<1024x64xi32>
  %yb = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<1024xi32>) -> tensor<1024x64xi32>
  %is = stablehlo.compare EQ, %n, %yb : (tensor<1024x64xi32>, tensor<1024x64xi32>) -> tensor<1024x64xi1>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1024x64xf32>
  %own = stablehlo.select %is, %c, %zeros : tensor<1024x64xi1>, tensor<1024x64xf32>
  %p = stablehlo.reduce(%own init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x64xf32>, tensor<f32>) -> tensor<1024xf32>
  %log = stablehlo.log %s : tensor<1024xf32>
  %loss = stablehlo.subtract %log, %p : tensor<1024xf32>
  %sum = stablehlo.reduce(%loss init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<1024xf32>) -> tensor<1024x64xf32>
  %q = stablehlo.divide %e, %sb : tensor<1024x64xf32>
  %shares = stablehlo.broadcast_in_dim %share, dims = [] : (tensor<f32>) -> tensor<1024x64xf32>
  %hit = stablehlo.convert %is : (tensor<1024x64xi1>) -> tensor<1024x64xf32>
  %d0 = stablehlo.subtract %q, %hit : tensor<1024x64xf32>
  %d = stablehlo.multiply %d0, %shares : tensor<1024x64xf32>
  %gh = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<1024x64xf32>, tensor<64x8xf32>) -> tensor<1024x8xf32>
  %gw = stablehlo.dot_general %d, %h, contracting_dims = [0] x [0] : (tensor<1024x64xf32>, tensor<1024x8xf32>) -> tensor<64x8xf32>
  return %sum, %gh, %gw : tensor<f32>, tensor<1024x8xf32>, tensor<64x8xf32>
}

// -----

// Batches of sentences: a block has 128 tokens of both. The rest of 257 tokens follows the loop. Sums of bf16 are f32.
// CHECK-LABEL: func.func @sentences
// CHECK:         stablehlo.while
// CHECK:         stablehlo.dot_general {{.*}} -> tensor<2x128x1024xbf16>
// CHECK:         stablehlo.dot_general {{.*}} -> tensor<1024x8xf32>
// CHECK:         }
// CHECK:         stablehlo.dot_general {{.*}} -> tensor<2x1x1024xbf16>
// CHECK:         stablehlo.convert {{.*}} : (tensor<1024x8xf32>) -> tensor<1024x8xbf16>
func.func @sentences(%h: tensor<2x257x8xbf16>, %w: tensor<1024x8xbf16>, %g: tensor<2x257x8xbf16>) -> (tensor<2x257x8xbf16>, tensor<1024x8xbf16>) {
  %l = stablehlo.dot_general %h, %w, contracting_dims = [2] x [1] : (tensor<2x257x8xbf16>, tensor<1024x8xbf16>) -> tensor<2x257x1024xbf16>
  %t = stablehlo.tanh %l : tensor<2x257x1024xbf16>
  %o = stablehlo.dot_general %t, %w, contracting_dims = [2] x [0] : (tensor<2x257x1024xbf16>, tensor<1024x8xbf16>) -> tensor<2x257x8xbf16>
  %gw = stablehlo.dot_general %t, %g, contracting_dims = [0, 1] x [0, 1] : (tensor<2x257x1024xbf16>, tensor<2x257x8xbf16>) -> tensor<1024x8xbf16>
  return %o, %gw : tensor<2x257x8xbf16>, tensor<1024x8xbf16>
}

// -----

// The class of each row is looked up by concatenated indices, of which one counts the rows.
// CHECK-LABEL: func.func @looked_up
// CHECK:         stablehlo.while
// CHECK:         "stablehlo.gather"{{.*}}operand_batching_dims = [0]{{.*}}(tensor<256x64xf32>, tensor<256x1xi64>) -> tensor<256xf32>
func.func @looked_up(%h: tensor<1024x8xf32>, %w: tensor<64x8xf32>, %y: tensor<1024x1xi64>) -> tensor<1024xf32> {
  %l = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<1024x8xf32>, tensor<64x8xf32>) -> tensor<1024x64xf32>
  %e = stablehlo.exponential %l : tensor<1024x64xf32>
  %n = stablehlo.iota dim = 0 : tensor<1024x1xi64>
  %i = stablehlo.concatenate %n, %y, dim = 1 : (tensor<1024x1xi64>, tensor<1024x1xi64>) -> tensor<1024x2xi64>
  %p = "stablehlo.gather"(%e, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<1024x64xf32>, tensor<1024x2xi64>) -> tensor<1024xf32>
  return %p : tensor<1024xf32>
}

// -----

// The gradient is scaled by the loss of all rows: nothing can begin before the last row is done.
// REMARK: not computed in blocks of rows: {{.*}}an operand depends on all rows
// CHECK-LABEL: func.func @scaled_by_all
// CHECK-NOT:     stablehlo.while
func.func @scaled_by_all(%h: tensor<1024x8xf32>, %w: tensor<64x8xf32>) -> tensor<1024x8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %l = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<1024x8xf32>, tensor<64x8xf32>) -> tensor<1024x64xf32>
  %s = stablehlo.reduce(%l init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x64xf32>, tensor<f32>) -> tensor<f32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1024x64xf32>
  %d = stablehlo.multiply %l, %sb : tensor<1024x64xf32>
  %g = stablehlo.dot_general %d, %w, contracting_dims = [1] x [0] : (tensor<1024x64xf32>, tensor<64x8xf32>) -> tensor<1024x8xf32>
  return %g : tensor<1024x8xf32>
}

// -----

// Somebody wants the logits.
// REMARK: not computed in blocks of rows: {{.*}}a large value is read as a whole
// CHECK-LABEL: func.func @whole
// CHECK-NOT:     stablehlo.while
func.func @whole(%h: tensor<1024x8xf32>, %w: tensor<64x8xf32>) -> (tensor<1024x64xf32>, tensor<1024xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %l = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<1024x8xf32>, tensor<64x8xf32>) -> tensor<1024x64xf32>
  %m = stablehlo.reduce(%l init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x64xf32>, tensor<f32>) -> tensor<1024xf32>
  return %l, %m : tensor<1024x64xf32>, tensor<1024xf32>
}
