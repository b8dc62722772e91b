// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-add-data-flow-edges -sdy-aggressive-propagate=debug-sharding-origins=true -sdy-sink-data-flow-edges | FileCheck %s
// RUN: xla-opt %s -sdy-add-data-flow-edges -sdy-aggressive-propagate=debug-sharding-origins=true -sdy-sink-data-flow-edges=sink-debug-sharding-origins=false | FileCheck %s --check-prefix=NOT-SUNK
// RUN: xla-opt %s -sdy-add-data-flow-edges -sdy-aggressive-propagate=debug-sharding-origins=true -sdy-sink-data-flow-edges -sdy-remove-propagation-debug-info | FileCheck %s --check-prefix=GONE
// GONE-NOT: origin
// NOT-SUNK-NOT: sdy.result_sharding_origins
sdy.mesh @mesh = <["a"=2, "b"=4]>

// CHECK-LABEL: @product
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>, sdy.sharding_origins = {a = "self"}}
// CHECK-SAME: %arg1: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b":(1)2, ?}]>, sdy.sharding_origins = {"b:(1)2" = "output: 0"}}
// CHECK-SAME: -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b":(1)2, ?}]>, sdy.sharding_origins = {a = "input: 0", "b:(1)2" = "self"}})
func.func @product(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}, %w: tensor<8x16xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b":(1)2, ?}]>}) {
  // CHECK: stablehlo.dot_general {{.*}} sdy.sharding_origins = [{a = "input: 0", "b:(1)2" = "output: 0"}]
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Constraints have numbers.
// CHECK-LABEL: @constraints
// CHECK-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>, sdy.sharding_origins = {a = "constraint_0", b = "constraint_1"}}
func.func @constraints(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"a"}, {"b", ?}]> {sdy.sharding_origin_name = "constraint_0", sdy.sharding_origins = {a = "self", b = "constraint_1"}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}, {?}]> : tensor<8x8xf32>
  // CHECK: sdy.sharding_constraint {{.*}} {sdy.sharding_origin_name = "constraint_1", sdy.sharding_origins = {a = "constraint_0", b = "self"}}
  %1 = sdy.sharding_constraint %0 <@mesh, [{?}, {"b"}]> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// What an edge knows goes to whoever has the region.
// CHECK-LABEL: @manual
func.func @manual(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: sdy.manual_computation
  // CHECK: stablehlo.add {{.*}} sdy.sharding_origins = [{a = "mc_0_input: 0", b = "mc_0_output: 0"}]
  // CHECK: sdy.block_arg_sharding_origins = [{a = "self", b = "mc_0_output: 0"}], sdy.result_sharding_origins = [{a = "mc_0_input: 0", b = "self"}], sdy.sharding_origin_name = "mc_0"
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {"b", ?}]>] manual_axes={} (%y: tensor<8x8xf32>) {
    %1 = stablehlo.add %y, %y : tensor<8x8xf32>
    sdy.return %1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
