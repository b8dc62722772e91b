// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -canonicalize | FileCheck %s
sdy.mesh @mesh = <["x"=2, "one"=1]>

// What lies between is nobody's; the second of two alike is the first.
// CHECK-LABEL: @reshards
// CHECK-NEXT: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{}, {"x"}]>
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @reshards(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  %2 = sdy.reshard %a <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Somebody uses it.
// CHECK-LABEL: @used
// CHECK-COUNT-2: sdy.reshard
func.func @used(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = sdy.reshard %a <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: @groups
// CHECK-NEXT: sdy.sharding_group %arg0 group_id=1
// CHECK-NEXT: sdy.sharding_group %arg1 group_id=1
// CHECK-NEXT: sdy.sharding_group %arg0 group_id=2
// CHECK-NEXT: return
func.func @groups(%a: tensor<8xf32>, %b: tensor<8xf32>) {
  sdy.sharding_group %a group_id=1 : tensor<8xf32>
  sdy.sharding_group %b group_id=1 : tensor<8xf32>
  sdy.sharding_group %a group_id=2 : tensor<8xf32>
  sdy.sharding_group %a group_id=1 : tensor<8xf32>
  return
}

// CHECK-LABEL: @collectives
// CHECK-NEXT: sdy.reduce_scatter max [{"x"}] %arg0 out_sharding=<@mesh, [{"x"}]>
func.func @collectives(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=max{"x"}>}) -> tensor<8xf32> {
  %0 = sdy.all_reduce max {"x"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// CHECK-LABEL: @unused_argument
// CHECK-NEXT: sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg2: tensor<4x8xf32>)
func.func @unused_argument(%a: tensor<8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%c: tensor<4xf32>, %d: tensor<4x8xf32>) {
    sdy.return %d : tensor<4x8xf32>
  } : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Axes of one device, or that cut nothing where all devices do the same.
// CHECK-LABEL: @trivial
// CHECK-NEXT: %[[A:.*]] = stablehlo.abs %arg0
// CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[A]]
// CHECK-NEXT: return %[[N]]
func.func @trivial(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"one"}]>] out_shardings=[<@mesh, [{"one"}]>] manual_axes={"one"} (%b: tensor<8xf32>) {
    %1 = stablehlo.abs %b : tensor<8xf32>
    sdy.return %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %2 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} (%b: tensor<8xf32>) {
    %3 = stablehlo.negate %b : tensor<8xf32>
    sdy.return %3 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Devices differ: the axis cuts, or somebody asks where he is.
// CHECK-LABEL: @different
// CHECK-COUNT-2: sdy.manual_computation
func.func @different(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xui32>) {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
    sdy.return %b : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %1 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{}]>] manual_axes={"x"} () {
    %2 = stablehlo.partition_id : tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<8xui32>
    sdy.return %3 : tensor<8xui32>
  } : () -> tensor<8xui32>
  return %0, %1 : tensor<8xf32>, tensor<8xui32>
}
