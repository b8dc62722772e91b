// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -split-input-file -sdy-add-data-flow-edges -sdy-aggressive-propagate=debug-propagation-edge-sharding=true -sdy-sink-data-flow-edges | FileCheck %s
// RUN: xla-opt %s -split-input-file -sdy-add-data-flow-edges -sdy-aggressive-propagate=debug-edge-source-sharding=true -sdy-sink-data-flow-edges=sink-debug-propagation-edge-sharding=false | FileCheck %s --check-prefix=NOT-SUNK
// NOT-SUNK-NOT: result_propagation_edges

sdy.mesh @mesh = <["a"=2, "b"=4]>

// Steps are counted: first the result of the function, then the product, then the result again.
// CHECK-LABEL: @product
// CHECK-SAME: -> (tensor<8x16xf32> {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"b":(1)2 = result-0 -> [operand-0]}]}, {step-2 = [{"a" = operand-0 -> [result-0]}]}]>
func.func @product(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}, %w: tensor<8x16xf32>) -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"b":(1)2, ?}]>}) {
  // CHECK: stablehlo.dot_general {{.*}}sdy.propagation_edges = #sdy.propagation_edges<[{step-1 = [{"a" = operand-0 -> [result-0]}, {"b":(1)2 = result-0 -> [operand-1]}]}]>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>

// Of two that have an axis the first gave it; what reached several results of a function in one step stands at the first. Regions have
// two lists, of edges that something came through.
// CHECK-LABEL: @several
// CHECK-SAME: -> (tensor<8x8xf32> {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"c" = result-0 -> [operand-0]}]}, {step-9 = [{"a" = operand-0 -> [result-0]}, {"b" = operand-0 -> [result-0]}]}]>
// CHECK-SAME: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"c", ?}]>})
func.func @several(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {"b", ?}]>}, %z: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"c", ?}]>}) {
  // CHECK: stablehlo.add {{.*}}<[{step-1 = [{"a" = operand-0 -> [result-0]}, {"b" = operand-1 -> [operand-0, result-0]}]}]>
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  // CHECK: stablehlo.dot_general {{.*}}<[{step-2 = [{"a" = operand-0 -> [result-0]}, {"b" = operand-0 -> [operand-1]}]}, {step-6 = [{"c" = result-0 -> [operand-1]}]}]>
  %1 = stablehlo.dot_general %0, %z, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.sharding_constraint {{.*}}<[{step-3 = [{"a" = operand-0 -> [result-0]}]}, {step-5 = [{"c" = result-0 -> [operand-0]}]}]>
  %2 = sdy.sharding_constraint %1 <@mesh, [{?}, {?}]> : tensor<8x8xf32>
  // CHECK: stablehlo.optimization_barrier {sdy.block_arg_propagation_edges = [], sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-4 = [{"a" = operand-0 -> [result-0]}, {"c" = result-0 -> [operand-0]}]}]>, #sdy.propagation_edges<[{step-7 =
  %3:2 = stablehlo.optimization_barrier %2, %0 : tensor<8x8xf32>, tensor<8x8xf32>
  %4 = stablehlo.negate %3#1 : tensor<8x8xf32>
  return %4, %3#0 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>

// Results of a function are steps of their own, what happened to the second as to the first is not said again.
// CHECK-LABEL: @returned
// CHECK-SAME: -> (tensor<8xf32> {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = result-0 -> [operand-0]}]}]>
func.func @returned(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // CHECK: stablehlo.negate {{.*}}step-2
  %0 = stablehlo.negate %x : tensor<8xf32>
  // CHECK: stablehlo.sine {{.*}}step-3
  %1 = stablehlo.sine %y : tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>

// A manual computation's arguments and results; manual axes come from what is said at its edge.
// CHECK-LABEL: @manual
func.func @manual(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // CHECK: stablehlo.add {{.*}}<[{step-{{[0-9]+}} = [{"b" = operand-0 -> [result-0]}]}]>
  // CHECK: } {sdy.block_arg_propagation_edges = [#sdy.propagation_edges<[{step-1 = [{"a" = result-0 -> [operand-0]}, {"b" = result-0 -> [operand-0]}]}]>], sdy.result_propagation_edges = [#sdy.propagation_edges<[{step-{{[0-9]+}} = [{"b" = operand-0 -> [result-0]}]}]>]}
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a", ?}, {"b", ?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%y: tensor<4x8xf32>) {
    %1 = stablehlo.add %y, %y : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
