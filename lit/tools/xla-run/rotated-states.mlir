// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop carries takes the memory of another carried value, of which it is a new version: no array is copied in the loop.
// RUN: split-file %s %t
// RUN: xla-compile %t/swap.mlir --emit=program | FileCheck %s --check-prefix=SWAP
// RUN: xla-compile %t/history.mlir --emit=program | FileCheck %s --check-prefix=HISTORY
// RUN: xla-compile %t/twice.mlir --emit=program | FileCheck %s --check-prefix=TWICE
// RUN: xla-run %t/swap.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/history.mlir --verify --quiet --cache-dir=off
// RUN: xla-run %t/twice.mlir --verify --quiet --cache-dir=off

// SWAP: loop carried({{.*}}%[[A:[0-9]+]] := %[[B:[0-9]+]], %[[B]] := %[[A]])
// SWAP: } do {
// SWAP-NOT: copy
// SWAP-NOT: fill
// SWAP: }
//--- swap.mlir
func.func @main(%a0: tensor<512xf32>, %b0: tensor<512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<301> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %a = %a0, %b = %b0) : tensor<i32>, tensor<512xf32>, tensor<512xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %x = stablehlo.dynamic_slice %a, %j, sizes = [1] : (tensor<512xf32>, tensor<i32>) -> tensor<1xf32>
      %y = stablehlo.cosine %x : tensor<1xf32>
      %u = stablehlo.dynamic_update_slice %b, %y, %i : (tensor<512xf32>, tensor<1xf32>, tensor<i32>) -> tensor<512xf32>
      stablehlo.return %j, %u, %a : tensor<i32>, tensor<512xf32>, tensor<512xf32>
    }
  return %r#1, %r#2 : tensor<512xf32>, tensor<512xf32>
}

// The value before last, the last one, and one that is computed of both.
// HISTORY: loop carried({{.*}}%[[OLDER:[0-9]+]] := %[[OLD:[0-9]+]], %[[OLD]] := %[[NEW:[0-9]+]])
// HISTORY: } do {
// HISTORY-NOT: copy
// HISTORY: }
//--- history.mlir
func.func @main(%a0: tensor<512xf32>, %b0: tensor<512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<302> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %a = %a0, %b = %b0) : tensor<i32>, tensor<512xf32>, tensor<512xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %x = stablehlo.cosine %b : tensor<512xf32>
      %y = stablehlo.subtract %x, %a : tensor<512xf32>
      stablehlo.return %j, %b, %y : tensor<i32>, tensor<512xf32>, tensor<512xf32>
    }
  return %r#1, %r#2 : tensor<512xf32>, tensor<512xf32>
}

// Two values cannot take one's memory.
// TWICE: loop carried(
// TWICE: } do {
// TWICE: copy
//--- twice.mlir
func.func @main(%a0: tensor<512xf32>, %b0: tensor<512xf32>, %c0: tensor<512xf32>) -> (tensor<512xf32>, tensor<512xf32>, tensor<512xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<301> : tensor<i32>
  %r:4 = stablehlo.while(%i = %zero, %a = %a0, %b = %b0, %c = %c0) : tensor<i32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %x = stablehlo.dynamic_slice %b, %j, sizes = [1] : (tensor<512xf32>, tensor<i32>) -> tensor<1xf32>
      %y = stablehlo.cosine %x : tensor<1xf32>
      %u = stablehlo.dynamic_update_slice %b, %y, %i : (tensor<512xf32>, tensor<1xf32>, tensor<i32>) -> tensor<512xf32>
      stablehlo.return %j, %u, %c, %b : tensor<i32>, tensor<512xf32>, tensor<512xf32>, tensor<512xf32>
    }
  return %r#1, %r#2, %r#3 : tensor<512xf32>, tensor<512xf32>, tensor<512xf32>
}
