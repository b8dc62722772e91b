// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["a"=2, "b"=4]>
// (C1) A step has one index.
func.func @step_twice(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{propagation edges have duplicate step index: 3}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-3 = [{"a" = operand-0 -> [result-0]}]}, {step-3 = [{"b" = operand-1 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// (C1) Steps are counted from 0.
func.func @negative(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{propagation edges have negative step index: -1}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step--1 = []}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// (C2) An axis comes from somewhere else.
func.func @to_itself(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{propagation edges have a source that is the same as a target}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = result-0 -> [operand-0, result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// (C2) An axis goes to a value once.
func.func @twice_to_one(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{propagation edges have duplicate targets for step index: 5 and axis: b}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-5 = [{"b" = result-0 -> [operand-1, operand-1]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// (C3) There are two operands.
func.func @no_such_operand(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{expected a value ref to have an operand index in range [0, 2), got: 2}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-2 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// (C3) There is one result.
func.func @no_such_result(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{expected a value ref to have a result index in range [0, 1), got: 1}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-1]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// (C4) A mesh has the axis.
func.func @no_such_axis(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{expected axis ref to be in one of the meshes}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"c" = operand-0 -> [result-0]}]}]>, sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=4]>
// It is said by a PropagationEdgesAttr.
func.func @no_edges(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{should have a propagation edges attribute of type PropagationEdgesAttr for attr named 'sdy.propagation_edges'}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = "step-0", sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}, {"b"}]>]>} : tensor<8x8xf32>
  return
}

// -----

// (C4) Without shardings there is nothing to explain.
func.func @no_sharding(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{expected propagation edges attr to reference a sharding}}
  %0 = stablehlo.add %x, %x {sdy.propagation_edges = #sdy.propagation_edges<[{step-0 = [{"a" = operand-0 -> [result-0]}]}]>} : tensor<8x8xf32>
  return
}

// -----

// Lists are lists of them.
func.func @no_list(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{should have a propagation edges attribute of type ArrayAttr<PropagationEdgesAttr> for attr named 'sdy.result_propagation_edges' or 'sdy.block_arg_propagation_edges'}}
  %0 = stablehlo.add %x, %x {sdy.result_propagation_edges = [1]} : tensor<8x8xf32>
  return
}
