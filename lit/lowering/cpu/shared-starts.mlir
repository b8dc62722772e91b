// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two products in one kernel, the second of the first: they start from the same zeros, but not in the same buffer.
// RUN: xla-run %s --verify --seed=1 --quiet --cache-dir=off
func.func @main(%x: tensor<3x3xi32>, %y: tensor<3x3xi32>, %z: tensor<3x2xi32>) -> (tensor<3x2xi32>, tensor<3x2xi32>) {
  %first = stablehlo.dot_general %y, %z, contracting_dims = [1] x [0] : (tensor<3x3xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
  %second = stablehlo.dot_general %x, %first, contracting_dims = [1] x [0] : (tensor<3x3xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
  return %first, %second : tensor<3x2xi32>, tensor<3x2xi32>
}
