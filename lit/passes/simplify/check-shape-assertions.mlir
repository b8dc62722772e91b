// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An assertion that holds disappears, one that fails is its message, one on an unknown value is an error.
// RUN: xla-opt %s -stablehlo-check-shape-assertions -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @holds
// CHECK-NOT: shape_assertion
// CHECK: custom_call @other
func.func @holds() {
  %true = stablehlo.constant dense<true> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%true) {error_message = "never", has_side_effect = true} : (tensor<i1>) -> ()
  stablehlo.custom_call @other(%true) {has_side_effect = true} : (tensor<i1>) -> ()
  return
}

// -----

func.func @fails() {
  %false = stablehlo.constant dense<false> : tensor<i1>
  %n = stablehlo.constant dense<7> : tensor<i32>
  // expected-error@+1 {{size 7 is odd {really}}}
  stablehlo.custom_call @shape_assertion(%false, %n) {error_message = "size {0} is odd {really}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  return
}

// -----

func.func @unknown(%p: tensor<i1>) {
  // expected-error@+1 {{expects a constant condition as first operand and no results}}
  stablehlo.custom_call @shape_assertion(%p) {error_message = "x", has_side_effect = true} : (tensor<i1>) -> ()
  return
}
