// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What devices tell each other, after propagation: for well-known ways to split a network, as little as possible.
// RUN: xla-opt %s -split-input-file -sdy-propagation-pipeline -xla-spmd-partition -xla-combine-collectives | FileCheck %s --implicit-check-not=stablehlo.all_gather --implicit-check-not=stablehlo.all_to_all --implicit-check-not=stablehlo.collective_permute --implicit-check-not=stablehlo.all_reduce --implicit-check-not=stablehlo.reduce_scatter

// Megatron's MLP: columns of the first weight, rows of the second; the one sum is over "model". The batch stays split.
// CHECK-LABEL: module @mlp
// CHECK: dot_general {{.*}} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
// CHECK: dot_general {{.*}} : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32>
// CHECK: "stablehlo.all_reduce"{{.*}}replica_groups = dense<{{\[\[}}0, 1, 2, 3], [4, 5, 6, 7]]>
// CHECK: return
module @mlp attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w1: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %b1: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}, %w2: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}) -> tensor<8x16xf32> {
    %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
    %1 = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<64xf32>) -> tensor<8x64xf32>
    %2 = stablehlo.add %0, %1 : tensor<8x64xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<8x64xf32>
    %3 = stablehlo.maximum %2, %zero : tensor<8x64xf32>
    %4 = stablehlo.dot_general %3, %w2, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
    return %4 : tensor<8x16xf32>
  }
}

// -----

// Megatron's attention: heads are split; softmax is each head's own, and the output projection sums over heads.
// CHECK-LABEL: module @attention
// CHECK-COUNT-6: dot_general
// CHECK: "stablehlo.all_reduce"
// CHECK: return
module @attention attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["model"=4]>
  func.func @main(%x: tensor<2x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}, {}]>},
                  %wq: tensor<16x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>},
                  %wk: tensor<16x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>},
                  %wv: tensor<16x4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}, {}]>},
                  %wo: tensor<4x8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}, {}]>}) -> tensor<2x8x16xf32> {
    %q = stablehlo.dot_general %x, %wq, contracting_dims = [2] x [0] : (tensor<2x8x16xf32>, tensor<16x4x8xf32>) -> tensor<2x8x4x8xf32>
    %k = stablehlo.dot_general %x, %wk, contracting_dims = [2] x [0] : (tensor<2x8x16xf32>, tensor<16x4x8xf32>) -> tensor<2x8x4x8xf32>
    %v = stablehlo.dot_general %x, %wv, contracting_dims = [2] x [0] : (tensor<2x8x16xf32>, tensor<16x4x8xf32>) -> tensor<2x8x4x8xf32>
    %s = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3] : (tensor<2x8x4x8xf32>, tensor<2x8x4x8xf32>) -> tensor<2x4x8x8xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %d = stablehlo.subtract %s, %mb : tensor<2x4x8x8xf32>
    %e = stablehlo.exponential %d : tensor<2x4x8x8xf32>
    %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<2x4x8x8xf32>, tensor<f32>) -> tensor<2x4x8xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1, 2] : (tensor<2x4x8xf32>) -> tensor<2x4x8x8xf32>
    %p = stablehlo.divide %e, %tb : tensor<2x4x8x8xf32>
    %a = stablehlo.dot_general %p, %v, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x4x8x8xf32>, tensor<2x8x4x8xf32>) -> tensor<2x4x8x8xf32>
    %o = stablehlo.dot_general %a, %wo, contracting_dims = [1, 3] x [0, 1] : (tensor<2x4x8x8xf32>, tensor<4x8x16xf32>) -> tensor<2x8x16xf32>
    return %o : tensor<2x8x16xf32>
  }
}

// -----

// Data parallelism: the sums of both gradients, and of the loss, travel in one message.
// CHECK-LABEL: module @data_parallel
// CHECK: %[[SUMS:.*]]:3 = "stablehlo.all_reduce"
// CHECK: return
module @data_parallel attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["data"=4]>
  func.func @main(%x: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w1: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %w2: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<f32>, tensor<16x32xf32>, tensor<32x8xf32>) {
    %h = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x32xf32>) -> tensor<64x32xf32>
    %t = stablehlo.tanh %h : tensor<64x32xf32>
    %y = stablehlo.dot_general %t, %w2, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x8xf32>) -> tensor<64x8xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<f32>
    %g2 = stablehlo.dot_general %t, %y, contracting_dims = [0] x [0] : (tensor<64x32xf32>, tensor<64x8xf32>) -> tensor<32x8xf32>
    %dt = stablehlo.dot_general %y, %w2, contracting_dims = [1] x [1] : (tensor<64x8xf32>, tensor<32x8xf32>) -> tensor<64x32xf32>
    %dh = stablehlo.multiply %dt, %t : tensor<64x32xf32>
    %g1 = stablehlo.dot_general %x, %dh, contracting_dims = [0] x [0] : (tensor<64x16xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    return %loss, %g1, %g2 : tensor<f32>, tensor<16x32xf32>, tensor<32x8xf32>
  }
}

// -----

// FSDP: the weight is collected for its use, and each device keeps its part of the summed gradient.
// CHECK-LABEL: module @fsdp
// CHECK: %[[W:.*]] = "stablehlo.all_gather"(%arg1) {{.*}} : (tensor<4x8xf32>) -> tensor<16x8xf32>
// CHECK: dot_general %arg0, %[[W]]
// CHECK: "stablehlo.reduce_scatter"
// CHECK: (tensor<16x8xf32>) -> tensor<4x8xf32>
// CHECK: return
module @fsdp attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["data"=4]>
  func.func @main(%x: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) -> (tensor<64x8xf32>, tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}) {
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x16xf32>, tensor<16x8xf32>) -> tensor<64x8xf32>
    %g = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<64x16xf32>, tensor<64x8xf32>) -> tensor<16x8xf32>
    return %y, %g : tensor<64x8xf32>, tensor<16x8xf32>
  }
}
