// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-populate-op-sharding-rules -verify-diagnostics

// One warning per name; known calls without a rule give none.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-warning @+1 {{custom call @foo is unknown to SDY sharding rule registry}}
  %0 = stablehlo.custom_call @foo(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @foo(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = stablehlo.custom_call @sdy_testonly(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
