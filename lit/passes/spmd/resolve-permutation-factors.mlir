// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-resolve-permutation-factors | FileCheck %s
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

// A shift keeps the size, but not the places.
// CHECK-LABEL: @shifted
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
