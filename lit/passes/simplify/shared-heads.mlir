// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads that share their keys are the rows of one product: nobody repeats the keys.
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,contractions | FileCheck %s

// CHECK-LABEL: @scores
// CHECK-DAG: %[[K:.*]] = stablehlo.multiply %arg1, %{{.*}} : tensor<4x1000x64xf32>
// CHECK-DAG: %[[Q:.*]] = stablehlo.reshape %arg0 : (tensor<12x1x64xf32>) -> tensor<4x3x64xf32>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[Q]], %[[K]], batching_dims = [0] x [0], contracting_dims = [2] x [2]{{.*}} -> tensor<4x3x1000xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[D]] : (tensor<4x3x1000xf32>) -> tensor<12x1x1000xf32>
// CHECK-NEXT: return %[[R]]
func.func @scores(%q: tensor<12x1x64xf32>, %k: tensor<4x1000x64xf32>) -> tensor<12x1x1000xf32> {
  %scale = stablehlo.constant dense<0.35> : tensor<12x64x1000xf32>
  %0 = stablehlo.broadcast_in_dim %k, dims = [1, 3, 4] : (tensor<4x1000x64xf32>) -> tensor<1x4x3x1000x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x4x3x1000x64xf32>) -> tensor<12x1000x64xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1] : (tensor<12x1000x64xf32>) -> tensor<12x64x1000xf32>
  %3 = stablehlo.multiply %2, %scale : tensor<12x64x1000xf32>
  %4 = stablehlo.dot_general %q, %3, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<12x1x64xf32>, tensor<12x64x1000xf32>) -> tensor<12x1x1000xf32>
  return %4 : tensor<12x1x1000xf32>
}

// Two sequences of four groups.
// CHECK-LABEL: @batch
// CHECK-DAG: %[[V:.*]] = stablehlo.reshape %arg1 : (tensor<2x4x333x64xf32>) -> tensor<8x333x64xf32>
// CHECK-DAG: %[[P:.*]] = stablehlo.reshape %arg0 : (tensor<24x1x333xf32>) -> tensor<8x3x333xf32>
// CHECK: stablehlo.dot_general %[[P]], %[[V]], batching_dims = [0] x [0], contracting_dims = [2] x [1]{{.*}} -> tensor<8x3x64xf32>
func.func @batch(%p: tensor<24x1x333xf32>, %v: tensor<2x4x333x64xf32>) -> tensor<24x1x64xf32> {
  %0 = stablehlo.broadcast_in_dim %v, dims = [0, 1, 3, 4] : (tensor<2x4x333x64xf32>) -> tensor<2x4x3x333x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x4x3x333x64xf32>) -> tensor<24x333x64xf32>
  %2 = stablehlo.dot_general %p, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<24x1x333xf32>, tensor<24x333x64xf32>) -> tensor<24x1x64xf32>
  return %2 : tensor<24x1x64xf32>
}

// Groups of heads repeated as a whole, in another order; several rows per head.
// CHECK-LABEL: @left_alone
// CHECK-COUNT-2: stablehlo.dot_general {{.*}} -> tensor<12x{{1|5}}x1000xf32>
func.func @left_alone(%q: tensor<12x1x64xf32>, %r: tensor<12x5x64xf32>, %k: tensor<4x64x1000xf32>) -> (tensor<12x1x1000xf32>, tensor<12x5x1000xf32>) {
  %0 = stablehlo.broadcast_in_dim %k, dims = [1, 2, 3] : (tensor<4x64x1000xf32>) -> tensor<3x4x64x1000xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x4x64x1000xf32>) -> tensor<12x64x1000xf32>
  %2 = stablehlo.dot_general %q, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<12x1x64xf32>, tensor<12x64x1000xf32>) -> tensor<12x1x1000xf32>
  %3 = stablehlo.broadcast_in_dim %k, dims = [0, 2, 3] : (tensor<4x64x1000xf32>) -> tensor<4x3x64x1000xf32>
  %4 = stablehlo.reshape %3 : (tensor<4x3x64x1000xf32>) -> tensor<12x64x1000xf32>
  %5 = stablehlo.dot_general %r, %4, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<12x5x64xf32>, tensor<12x64x1000xf32>) -> tensor<12x5x1000xf32>
  return %2, %5 : tensor<12x1x1000xf32>, tensor<12x5x1000xf32>
}
