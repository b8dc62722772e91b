// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-pad-for-divisibility -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=4]>
func.func @differently(%a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
  // expected-error@+1 {{has operands and results that are cut differently, in parts that do not divide dimensions}}
  %0 = stablehlo.abs %a : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----
sdy.mesh @mesh = <["x"=4]>
func.func @unknown(%a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
  // expected-error@+1 {{runs on parts that do not divide dimensions, and has no sharding rule}}
  %0 = stablehlo.custom_call @somebody(%a) : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----
sdy.mesh @mesh = <["x"=4]>
func.func @missing(%a: tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<3xf32> {
  // expected-error@+1 {{result 0 of the function is 'tensor<3xf32>' with all of its parts, but 'tensor<4xf32>' is returned}}
  return %a : tensor<3xf32>
}
