// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-sdy-stablehlo-export-manual-reduction-collectives -split-input-file -verify-diagnostics | FileCheck %s
// RUN: xla-opt %s -xla-sdy-stablehlo-export-manual-reduction-collectives=export-all-reduce-scatter=true -split-input-file -verify-diagnostics | FileCheck %s --check-prefix=ALL
sdy.mesh @mesh = <["x"=2, "y"=2]>
sdy.mesh @backwards = <["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>

// A sum that the operand asks for, on parts, by the numbers of devices; the first channel that is free.
// CHECK-LABEL: @sum
// CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"y"}, {}], unreduced={"x"}>] out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"x", "y"} (%[[A:.*]]: tensor<4x8xf32>) {
// CHECK-NEXT: "stablehlo.all_reduce"(%[[A]]) <{channel_handle = #stablehlo.channel_handle<handle = 8, type = 1>
// CHECK-SAME{LITERAL}: replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids
// CHECK: stablehlo.maximum
// CHECK: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
// CHECK: sdy.manual_computation(%arg1)
// CHECK: handle = 9
// CHECK-SAME{LITERAL}: dense<[[3, 1], [2, 0]]>
func.func @sum(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}], unreduced={"x"}>}, %b: tensor<8xi64> {sdy.sharding = #sdy.sharding<@backwards, [{}], unreduced={"x"}>},
               %t: !stablehlo.token) -> (tensor<8x8xf32>, tensor<8xi64>) {
  %token = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 2>, is_host_transfer = true}> : (tensor<8x8xf32>, !stablehlo.token) -> !stablehlo.token
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_reduce {"x"} %b out_sharding=<@backwards, [{}]> : tensor<8xi64>
  return %0, %1 : tensor<8x8xf32>, tensor<8xi64>
}

// Parts of the sum in two dimensions, one after the other.
// CHECK-LABEL: @scatter
// CHECK: "stablehlo.reduce_scatter"
// CHECK: }) : (tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK: "stablehlo.reduce_scatter"
// CHECK-SAME: scatter_dimension = 1
// CHECK: }) : (tensor<4x8xf32>) -> tensor<4x4xf32>
func.func @scatter(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"x", "y"}>}) -> tensor<8x8xf32> {
  %0 = sdy.reduce_scatter [{"y"}, {"x"}] %a out_sharding=<@mesh, [{"y"}, {"x"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Whose operand says nothing of a sum: left to the partitioner, unless all are asked for.
// CHECK-LABEL: @left
// CHECK: sdy.all_reduce
// CHECK: sdy.reduce_scatter
// ALL-LABEL: @left
// ALL: sdy.all_reduce
// ALL: sdy.manual_computation({{.*}}) in_shardings=[<@mesh, [{"x"}, {}], unreduced={"y"}>] out_shardings=[<@mesh, [{"x"}, {"y"}]>]
func.func @left(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.all_reduce {"y"} %a out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reduce_scatter [{}, {"y"}] %a out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Parts stand in zeros; what all have, the first has. A constant is had by all.
// CHECK-LABEL: @pending
// CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>}
// CHECK-NEXT: sdy.manual_computation
// CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<i1>, tensor<8xf32>
// CHECK: sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x", "y"}]>] out_shardings=[<@mesh, [{}], unreduced={"x", "y"}>]
// CHECK: %[[X:.*]] = stablehlo.remainder
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>
func.func @pending(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} dense<2.0> : tensor<8xf32>
  %1 = sdy.sharded_to_unreduced [{"x", "y"}] %a out_sharding=<@mesh, [{}], unreduced={"x", "y"}> : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// What only moves elements has such operands, too; a sine does not move them.
// CHECK-LABEL: @backwards_through
// CHECK: stablehlo.dot_general {{.*}}[{}, {}], unreduced={"x"}>]>}
// CHECK: stablehlo.transpose {{.*}}[{}, {}], unreduced={"x"}>]>}
// CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (
// CHECK: stablehlo.sine
func.func @backwards_through(%a: tensor<8x4xf32>, %b: tensor<4x2xf32>) -> (tensor<16xf32>, tensor<8x2xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x2xf32>) -> tensor<2x8xf32>
  %2 = stablehlo.reshape %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : (tensor<2x8xf32>) -> tensor<16xf32>
  %3 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  %4 = stablehlo.sine %3 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}], unreduced={"x"}>]>} : tensor<8x2xf32>
  return %2, %4 : tensor<16xf32>, tensor<8x2xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @uneven(%a: tensor<7xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], unreduced={"x"}>}) -> tensor<7xf32> {
  // expected-error @+1 {{expects parts that divide dimensions where something is to be summed, but got}}
  %0 = sdy.all_reduce {"x"} %a out_sharding=<@mesh, [{"y"}]> : tensor<7xf32>
  return %0 : tensor<7xf32>
}
