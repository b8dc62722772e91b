// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that a loop writes one after the other are written to the result's buffer, which is filled there; x[i] is read where it is needed.
// RUN: xla-compile %s --emit=program | FileCheck %s
// RUN: xla-run %s --verify --seed=1 --quiet --cache-dir=off

// CHECK: %[[RESULT:.*]] = result 0
// CHECK: fill -> %[[RESULT]]
// CHECK: loop
// CHECK: do {
// CHECK: kernel dynamic_update_slice{{.*}}(%[[RESULT]], %{{.*}}) -> (%[[RESULT]])
// CHECK: }
// CHECK-NOT: copy
func.func @main(%xs: tensor<16x2000xf32>) -> tensor<16x2000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<16> : tensor<i32>
  %start = stablehlo.constant dense<1.0> : tensor<2000xf32>
  %empty = stablehlo.constant dense<0.0> : tensor<16x2000xf32>
  %0:3 = stablehlo.while(%i = %zero, %h = %start, %ys = %empty) : tensor<i32>, tensor<2000xf32>, tensor<16x2000xf32>
  cond {
    %more = stablehlo.compare LT, %i, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %slice = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 2000] : (tensor<16x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2000xf32>
    %x = stablehlo.reshape %slice : (tensor<1x2000xf32>) -> tensor<2000xf32>
    %product = stablehlo.multiply %x, %h : tensor<2000xf32>
    %next = stablehlo.add %product, %x : tensor<2000xf32>
    %row = stablehlo.reshape %next : (tensor<2000xf32>) -> tensor<1x2000xf32>
    %written = stablehlo.dynamic_update_slice %ys, %row, %i, %zero : (tensor<16x2000xf32>, tensor<1x2000xf32>, tensor<i32>, tensor<i32>) -> tensor<16x2000xf32>
    %after = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %after, %next, %written : tensor<i32>, tensor<2000xf32>, tensor<16x2000xf32>
  }
  return %0#2 : tensor<16x2000xf32>
}
