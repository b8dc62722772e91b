// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -split-input-file -sdy-pad-for-divisibility | FileCheck %s

// What is gathered again gets its size back.
sdy.mesh @mesh = <["x"=4, "y"=2]>
// CHECK-LABEL: @gathered
func.func @gathered(%a: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[LONG:.*]] = stablehlo.pad %arg0, {{.*}} high = [1, 0]
  // CHECK: %[[PART:.*]] = sdy.all_slice [{"x"}, {}] %[[LONG]] {{.*}} : tensor<4x2xf32>
  // CHECK: %[[ABS:.*]] = stablehlo.abs %[[PART]] {{.*}} : tensor<4x2xf32>
  // CHECK: %[[ALL:.*]] = sdy.all_gather [{"x"}, {}] %[[ABS]] {{.*}} : tensor<4x2xf32>
  // CHECK: stablehlo.slice %[[ALL]] [0:3, 0:2]
  %0 = sdy.all_slice [{"x"}, {}] %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<3x2xf32>
  %1 = stablehlo.abs %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<3x2xf32>
  %2 = sdy.all_gather [{"x"}, {}] %1 out_sharding=<@mesh, [{}, {}]> : tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// A sum does not see what was added; nor does a lookup reach it.
// CHECK-LABEL: @summed
func.func @summed(%a: tensor<3x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %at: tensor<1xi32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: %[[LEAST:.*]] = stablehlo.constant {{.*}}dense<0xFF800000> : tensor<4x2xf32>
  // CHECK: %[[KEPT:.*]] = stablehlo.select {{.*}}, %arg0, %[[LEAST]]
  // CHECK: stablehlo.reduce(%[[KEPT]] init
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced=max{"x"}>]>} : (tensor<3x2xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: %[[LAST:.*]] = stablehlo.constant dense<2> : tensor<1xi32>
  // CHECK: %[[BOUND:.*]] = stablehlo.broadcast_in_dim %[[LAST]]
  // CHECK: stablehlo.clamp %{{.*}}, %arg1, %[[BOUND]]
  %1 = "stablehlo.gather"(%a, %at) {dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 2>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<3x2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// 5 in 4 parts and 5 in 2 parts begin elsewhere: through the whole.
// CHECK-LABEL: @fewer_parts
func.func @fewer_parts(%a: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x":(1)2}]>}) -> (tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  // CHECK: %[[ALL:.*]] = sdy.all_gather [{"y", "x":(1)2}] %arg0 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  // CHECK: %[[OWN:.*]] = stablehlo.slice %[[ALL]] [0:5]
  // CHECK: %[[LONG:.*]] = stablehlo.pad %[[OWN]], {{.*}} high = [1]
  // CHECK: sdy.all_slice [{"y"}] %[[LONG]] {{.*}} : tensor<6xf32>
  %0 = sdy.all_gather [{"x":(1)2}] %a out_sharding=<@mesh, [{"y"}]> : tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Parts that divide stay as they are.
// CHECK-LABEL: @even
// CHECK-NOT: stablehlo.{{pad|slice|select}}
func.func @even(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0 = sdy.all_gather [{"x"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A dimension of one element in two parts is taken whole, one that is looked up is not.
// CHECK-LABEL: @one_element
// CHECK: slice_sizes = array<i64: 1, 2>
func.func @one_element(%a: tensor<4x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}, %at: tensor<2x1xi32>) -> (tensor<2x1xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) {
  %0 = "stablehlo.gather"(%a, %at) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : (tensor<4x1xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}
