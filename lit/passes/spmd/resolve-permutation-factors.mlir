// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-resolve-permutation-factors=enable-halo-exchange=false | FileCheck %s
// RUN: xla-opt %s -sdy-resolve-permutation-factors | FileCheck %s --check-prefix=HALO
// RUN: xla-opt %s -sdy-resolve-permutation-factors="replica-count=4 partition-count=1" | FileCheck %s --check-prefix=REPLICAS
// REPLICAS-NOT: partition_id
// REPLICAS-NOT: channel_handle
// REPLICAS: stablehlo.replica_id
sdy.mesh @mesh = <["x"=2, "y"=2]>

// Only the dimension in which elements move is whole meanwhile.
// CHECK-LABEL: @reversed
func.func @reversed(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x4xf32> {
  // CHECK: %[[IN:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"y"}]>
  // CHECK: %[[OUT:.*]] = stablehlo.reverse %[[IN]], dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>}
  // CHECK: sdy.reshard %[[OUT]] <@mesh, [{"x"}, {"y"}]>
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A shift keeps the size, but not the places. A neighbour's last element comes over.
// CHECK-LABEL: @shifted
// HALO-LABEL: @shifted
// HALO-NOT: sdy.reshard
// HALO: sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}]>, <@mesh, []>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x", "y"} (%[[A:.*]]: tensor<2xf32>, %{{.*}}: tensor<f32>)
// HALO: %[[LAST:.*]] = stablehlo.slice %[[A]] [1:2]
// HALO: "stablehlo.collective_permute"(%[[LAST]]) {{.*}} source_target_pairs = dense<{{\[\[}}0, 2], [1, 3]]>
func.func @shifted(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<f32>) -> tensor<4xf32> {
  // CHECK: %[[IN:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK: stablehlo.pad %[[IN]]
  %0 = stablehlo.pad %a, %b, low = [1], high = [-1], interior = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Nothing moves.
// CHECK-LABEL: @transposed
// CHECK-NOT: sdy.reshard
func.func @transposed(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x4xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Parts that do not divide the dimension are filled up before, and cut off behind.
// CHECK-LABEL: @uneven
// HALO-LABEL: @uneven
func.func @uneven(%a: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
  // HALO: %[[FULL:.*]] = stablehlo.pad %arg0, {{.*}} low = [0], high = [1], interior = [0] {{.*}} -> tensor<6xf32>
  // HALO: %[[PARTS:.*]] = sdy.manual_computation(%[[FULL]])
  // HALO: "stablehlo.collective_permute"
  // HALO: (tensor<6xf32>) -> tensor<4xf32>
  // HALO: stablehlo.slice %[[PARTS]] [0:3]
  // CHECK: sdy.reshard %arg0 <@mesh, [{}]>
  %0 = stablehlo.slice %a [2:5] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<5xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
