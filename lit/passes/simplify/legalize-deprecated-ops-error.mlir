// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By default a deprecated operation without successor is an error.
// RUN: xla-opt %s -stablehlo-legalize-deprecated-ops -verify-diagnostics
func.func @diagonal(%a: tensor<3x3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{has no form in operations that are not deprecated}}
  %0 = stablehlo.einsum %a, %b, config = "ii,i->i" : (tensor<3x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
