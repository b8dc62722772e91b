// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes that cannot be, at the operation that shows it; the operation's own check speaks first.
// RUN: xla-opt %s -stablehlo-refine-shapes -split-input-file -verify-diagnostics

func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.negate %x : (tensor<2x3xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.negate %y : (tensor<2x5xf32>) -> tensor<?x?xf32>
  // expected-error@+1 {{'stablehlo.multiply' op requires compatible types for all operands and results}}
  %2 = stablehlo.multiply %0, %1 : tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// -----

// What reaches a block of several is not followed.
// expected-error@+1 {{'func.func' op must have exactly one block}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^end(%x : tensor<4xf32>)
^end(%y: tensor<4xf32>):
  return %y : tensor<4xf32>
}
