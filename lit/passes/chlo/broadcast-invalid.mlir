// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Other tools read broadcast_dimensions that place no operand, and so do we; legalization refuses them.
// RUN: xla-opt %s -chlo-legalize-to-stablehlo -verify-diagnostics -split-input-file

func.func @out_of_range(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-warning@+2 {{unsupported non prefix-padded dynamic rank broadcast_dimensions = [2]}}
  // expected-error@+1 {{failed to legalize operation 'chlo.broadcast_add'}}
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 2>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @too_many(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xi1> {
  // expected-warning@+2 {{unsupported non prefix-padded dynamic rank broadcast_dimensions = [1, 2]}}
  // expected-error@+1 {{failed to legalize operation 'chlo.broadcast_compare'}}
  %0 = chlo.broadcast_compare %a, %b {broadcast_dimensions = array<i64: 1, 2>, comparison_direction = #chlo<comparison_direction EQ>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  return %0 : tensor<2x3xi1>
}

// -----

func.func @negative(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-warning@+2 {{unsupported non prefix-padded dynamic rank broadcast_dimensions = [-1]}}
  // expected-error@+1 {{failed to legalize operation 'chlo.broadcast_add'}}
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: -1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @equal_ranks(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-warning@+2 {{unsupported non prefix-padded dynamic rank broadcast_dimensions = [1]}}
  // expected-error@+1 {{failed to legalize operation 'chlo.broadcast_add'}}
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
