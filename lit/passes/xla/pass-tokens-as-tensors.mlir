// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-pass-tokens-as-tensors -split-input-file | FileCheck %s

// JAX hands over bool[0] for a token, and expects one back.
// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%arg0: tensor<0xi1> {jax.token = true}, %arg1: tensor<3xf32>) -> (tensor<0xi1> {jax.token = true}, tensor<3xf32>)
// CHECK: %[[T:.*]] = stablehlo.create_token
// CHECK: stablehlo.custom_call @print(%[[T]], %arg1)
// CHECK: %[[E:.*]] = stablehlo.constant dense<> : tensor<0xi1>
// CHECK: return %[[E]],
func.func public @main(%t: !stablehlo.token {jax.token = true}, %x: tensor<3xf32>) -> (!stablehlo.token {jax.token = true}, tensor<3xf32>) {
  %0:2 = stablehlo.custom_call @print(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<3xf32>) -> (!stablehlo.token, tensor<3xf32>)
  return %0#0, %0#1 : !stablehlo.token, tensor<3xf32>
}

// -----

// Only the entry function has callers outside.
// CHECK-LABEL: func.func private @helper
// CHECK-SAME: !stablehlo.token
func.func private @helper(%t: !stablehlo.token) -> !stablehlo.token {
  return %t : !stablehlo.token
}
