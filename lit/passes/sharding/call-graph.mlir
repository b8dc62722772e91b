// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -split-input-file -sdy-flatten-call-graph | FileCheck %s --check-prefix=FLAT
// RUN: xla-opt %s -split-input-file -sdy-flatten-call-graph -sdy-unflatten-call-graph | FileCheck %s --check-prefix=BACK

// A copy for the second call, with copies of what it calls; and all of it one again.
// FLAT-LABEL: func.func @twice
// FLAT: call @outer(
// FLAT: call @[[OUTER:outer_[0-9]+]](
// FLAT: func.func private @outer(
// FLAT: call @inner(
// FLAT: func.func private @[[INNER:inner_[0-9]+]]({{.*}}) -> tensor<8xf32> attributes {sdy.original_func_name = "inner"}
// FLAT: func.func private @[[OUTER]]({{.*}}) -> tensor<8xf32> attributes {sdy.original_func_name = "outer"}
// FLAT: call @[[INNER]](
// BACK-LABEL: func.func @twice
// BACK: call @outer(
// BACK: call @outer(
// BACK-NOT: sdy.original_func_name
func.func @twice(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @outer(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @outer(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @outer(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @inner(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @inner(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}

// -----
// Called once: as it is.
// FLAT-LABEL: func.func @once
// FLAT-NOT: sdy.original_func_name
func.func @once(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
