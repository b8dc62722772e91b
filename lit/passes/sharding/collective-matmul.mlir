// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-remove-all-gather-reduce-scatter-for-cmv1 | FileCheck %s
sdy.mesh @mesh = <["x"=2, "y"=2]>

// What goes into a product is gathered, and what comes out scattered, by whoever computes it.
// CHECK-LABEL: @around
// CHECK-NEXT: %[[P:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}]>]>}
// CHECK-NEXT: return %[[P]]
func.func @around(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}]>}, %b: tensor<4x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x4xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {}]>]>} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.reduce_scatter [{}, {"x"}] %1 out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Somebody else needs what is gathered; the product says what is not summed; there is no product.
// CHECK-LABEL: @left
// CHECK: sdy.all_gather
// CHECK: sdy.reduce_scatter
// CHECK: sdy.all_gather
func.func @left(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4x8xf32>) -> (tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  %1 = stablehlo.dot_general %0, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.reduce_scatter [{}, {"x"}] %1 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %3 = sdy.all_gather [{"x"}, {}] %a out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>
  return %2, %0, %3 : tensor<8x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}
