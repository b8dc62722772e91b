// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-order-reads -split-input-file | FileCheck %s

// Each array is updated from the other: both are read first.
// CHECK-LABEL: @mutual
// CHECK: do {
// CHECK: stablehlo.dynamic_slice %[[B:.*]], %[[I:.*]], sizes
// CHECK: stablehlo.add
// CHECK: stablehlo.dynamic_slice %[[A:.*]], %{{.*}}, sizes
// CHECK: stablehlo.dynamic_update_slice %[[A]]
// CHECK: stablehlo.dynamic_update_slice %[[B]]
func.func @mutual(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<60> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %b = %y) : tensor<i32>, tensor<64xf32>, tensor<64xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %b, %i, sizes = [1] : (tensor<64xf32>, tensor<i32>) -> tensor<1xf32>
    %2 = stablehlo.dynamic_update_slice %a, %1, %i : (tensor<64xf32>, tensor<1xf32>, tensor<i32>) -> tensor<64xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %3 = stablehlo.dynamic_slice %a, %j, sizes = [1] : (tensor<64xf32>, tensor<i32>) -> tensor<1xf32>
    %4 = stablehlo.dynamic_update_slice %b, %3, %i : (tensor<64xf32>, tensor<1xf32>, tensor<i32>) -> tensor<64xf32>
    stablehlo.return %j, %2, %4 : tensor<i32>, tensor<64xf32>, tensor<64xf32>
  }
  return %0#1, %0#2 : tensor<64xf32>, tensor<64xf32>
}

// -----

// A branch is a read or an update like any other operation. What needs the new version stays behind it.
// CHECK-LABEL: @branches
// CHECK: do {
// CHECK: stablehlo.dynamic_slice %[[A:.*]], %{{.*}}, sizes
// CHECK-NEXT: %[[NEXT:.*]] = "stablehlo.if"
// CHECK: stablehlo.dynamic_slice %[[NEXT]], %{{.*}}, sizes
// CHECK: stablehlo.dynamic_slice %[[A]], %{{.*}}, sizes
func.func @branches(%x: tensor<64xi32>) -> tensor<64xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<60> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<64xi32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %p = stablehlo.compare LT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %next = "stablehlo.if"(%p) ({
      stablehlo.return %a : tensor<64xi32>
    }, {
      %u = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
      %1 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<64xi32>, tensor<1xi32>, tensor<i32>) -> tensor<64xi32>
      stablehlo.return %1 : tensor<64xi32>
    }) : (tensor<i1>) -> tensor<64xi32>
    %2 = stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<64xi32>, tensor<i32>) -> tensor<1xi32>
    %3 = stablehlo.dynamic_slice %next, %i, sizes = [1] : (tensor<64xi32>, tensor<i32>) -> tensor<1xi32>
    %k = stablehlo.reshape %3 : (tensor<1xi32>) -> tensor<i32>
    %4 = stablehlo.dynamic_slice %a, %k, sizes = [1] : (tensor<64xi32>, tensor<i32>) -> tensor<1xi32>
    %5 = stablehlo.add %2, %4 : tensor<1xi32>
    %6 = stablehlo.dynamic_update_slice %next, %5, %i : (tensor<64xi32>, tensor<1xi32>, tensor<i32>) -> tensor<64xi32>
    stablehlo.return %k, %6 : tensor<i32>, tensor<64xi32>
  }
  return %0#1 : tensor<64xi32>
}
