// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Canonical forms of while, case, if and tuples.
// RUN: xla-opt %s -canonicalize | FileCheck %s

// An index out of range means the last branch.
// CHECK-LABEL: @case_of_constant
// CHECK-NEXT: return %arg1, %arg1
func.func @case_of_constant(%x: tensor<f32>, %y: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %cm = stablehlo.constant dense<-3> : tensor<i32>
  %0 = "stablehlo.case"(%c1) ({ stablehlo.return %x : tensor<f32> }, { stablehlo.return %y : tensor<f32> }) : (tensor<i32>) -> tensor<f32>
  %1 = "stablehlo.case"(%cm) ({ stablehlo.return %x : tensor<f32> }, { stablehlo.return %y : tensor<f32> }) : (tensor<i32>) -> tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// CHECK-LABEL: @if_of_constant
// CHECK-NEXT: return %arg0
func.func @if_of_constant(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0 = "stablehlo.if"(%p) ({ stablehlo.return %x : tensor<f32> }, { stablehlo.return %y : tensor<f32> }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: @keeps_unknown_if
// CHECK: stablehlo.if
func.func @keeps_unknown_if(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.if"(%p) ({ stablehlo.return %x : tensor<f32> }, { stablehlo.return %y : tensor<f32> }) : (tensor<i1>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: @if_with_unused_result
// CHECK: "stablehlo.if"(%arg0) ({
// CHECK-NEXT: stablehlo.return %arg1 : tensor<f32>
// CHECK: }) : (tensor<i1>) -> tensor<f32>
func.func @if_with_unused_result(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0:2 = "stablehlo.if"(%p) ({ stablehlo.return %x, %y : tensor<f32>, tensor<f32> }, { stablehlo.return %y, %x : tensor<f32>, tensor<f32> }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)
  return %0#0 : tensor<f32>
}

// CHECK-LABEL: @while_never_runs
// CHECK-NEXT: return %arg0
func.func @while_never_runs(%x: tensor<i32>) -> tensor<i32> {
  %p = stablehlo.constant dense<false> : tensor<i1>
  %0 = stablehlo.while(%i = %x) : tensor<i32> cond { stablehlo.return %p : tensor<i1> } do {
    %1 = stablehlo.negate %i : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}

// %n never changes, %dead only feeds itself: one value is carried.
// CHECK-LABEL: @while_carries_what_changes
// CHECK: %[[W:.*]] = stablehlo.while(%iterArg = %arg0) : tensor<i32>
// CHECK-NEXT: cond {
// CHECK-NEXT: stablehlo.compare LT, %iterArg, %arg1
// CHECK: do {
// CHECK-NEXT: stablehlo.add %iterArg, %arg1
// CHECK-NEXT: stablehlo.return
// CHECK: return %[[W]], %arg1
func.func @while_carries_what_changes(%x: tensor<i32>, %y: tensor<i32>, %z: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %0:3 = stablehlo.while(%i = %x, %n = %y, %dead = %z) : tensor<i32>, tensor<i32>, tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %n : tensor<i32>
    %2 = stablehlo.multiply %dead, %n : tensor<i32>
    stablehlo.return %1, %n, %2 : tensor<i32>, tensor<i32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<i32>, tensor<i32>
}

// A custom call may do anything with what it is given.
// CHECK-LABEL: @while_keeps_what_effects_read
// CHECK: stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1)
func.func @while_keeps_what_effects_read(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0:2 = stablehlo.while(%i = %x, %a = %y) : tensor<i32>, tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.custom_call @print(%a) {has_side_effect = true} : (tensor<i32>) -> ()
    %1 = stablehlo.negate %i : tensor<i32>
    %2 = stablehlo.negate %a : tensor<i32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<i32>
  }
  return %0#0 : tensor<i32>
}

// CHECK-LABEL: @tuples
// CHECK-NEXT: return %arg0, %arg2
func.func @tuples(%x: tensor<f32>, %y: tensor<i32>, %t: tuple<tensor<f32>, tensor<i32>>) -> (tensor<f32>, tuple<tensor<f32>, tensor<i32>>) {
  %0 = stablehlo.tuple %x, %y : tuple<tensor<f32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
  %2 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
  %3 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<i32>
  %4 = stablehlo.tuple %2, %3 : tuple<tensor<f32>, tensor<i32>>
  return %1, %4 : tensor<f32>, tuple<tensor<f32>, tensor<i32>>
}
