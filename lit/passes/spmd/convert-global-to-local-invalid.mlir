// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-convert-global-to-local -split-input-file -verify-diagnostics

sdy.mesh @mesh = <["x"=2]>
func.func @rows(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  // expected-error@+1 {{cannot run on parts of dimension 0: elements change places}}
  %0 = stablehlo.reverse %a, dims = [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
sdy.mesh @mesh = <["x"=2]>
func.func @uneven() -> tensor<3xf32> {
  // expected-error@+1 {{dimension 0 of 'tensor<3xf32>' is cut into 2 parts, which do not divide it}}
  %0 = stablehlo.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<0.0> : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----
sdy.mesh @mesh = <["x"=2]>
func.func @missing(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  // expected-error@+1 {{result 0 of the function is 'tensor<4xf32>' on a device, but 'tensor<2xf32>' is returned: a reshard is missing}}
  return %a : tensor<4xf32>
}
