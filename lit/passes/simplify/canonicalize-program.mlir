// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-canonicalize-program | FileCheck %s

// Operations of arith fold, and what nobody uses goes.
// CHECK-LABEL: @does
// CHECK-NEXT: %[[SUM:.*]] = arith.constant 5 : index
// CHECK-NEXT: return %[[SUM]]
func.func @does(%x: tensor<4xf32>) -> index {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %sum = arith.addi %two, %three : index
  %unused = stablehlo.add %x, %x : tensor<4xf32>
  return %sum : index
}

// A pattern of StableHLO that has no folder: a reshape of a reshape.
// CHECK-LABEL: @does_patterns
// CHECK-NEXT: stablehlo.reshape %{{.*}} : (tensor<4x6xf32>) -> tensor<2x12xf32>
// CHECK-NEXT: return
func.func @does_patterns(%x: tensor<4x6xf32>) -> tensor<2x12xf32> {
  %0 = stablehlo.reshape %x : (tensor<4x6xf32>) -> tensor<24xf32>
  %1 = stablehlo.reshape %0 : (tensor<24xf32>) -> tensor<2x12xf32>
  return %1 : tensor<2x12xf32>
}

// Dialects of lowering keep what their own canonicalization patterns would simplify: a loop of one turn.
// CHECK-LABEL: @does_not
// CHECK: scf.for
func.func @does_not(%x: f32) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %one step %one iter_args(%v = %x) -> f32 {
    %1 = arith.addf %v, %v : f32
    scf.yield %1 : f32
  }
  return %0 : f32
}
