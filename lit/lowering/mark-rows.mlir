// Kernels of a program for a run-time number of rows get the elements from row to row of each result; those of other values get nothing.
// RUN: xla-opt %s -xla-mark-rows -split-input-file -verify-diagnostics | FileCheck %s

// Eight indices of the contraction are one of 120 rows, and 48 elements each.
// CHECK-LABEL: func.func @main(
func.func @main(%x: tensor<120x8x32xf32> {millrace.row_indices = 1 : i64}, %w: tensor<32x48xf32>)
    -> (tensor<960x48xf32> {millrace.row_indices = 8 : i64}, tensor<32x48xf32>) attributes {millrace.rows = array<i64: 120>} {
  %0 = stablehlo.reshape %x : (tensor<120x8x32xf32>) -> tensor<960x32xf32>
  %1 = call @product(%0, %w) : (tensor<960x32xf32>, tensor<32x48xf32>) -> tensor<960x48xf32>
  %2 = call @sine(%w) : (tensor<32x48xf32>) -> tensor<32x48xf32>
  return %1, %2 : tensor<960x48xf32>, tensor<32x48xf32>
}
// CHECK: func.func private @product(
// CHECK-SAME: attributes {millrace.kernel, millrace.rows = array<i64: 120, 384>}
func.func private @product(%x: tensor<960x32xf32>, %w: tensor<32x48xf32>) -> tensor<960x48xf32> attributes {millrace.kernel} {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<960x32xf32>, tensor<32x48xf32>) -> tensor<960x48xf32>
  return %0 : tensor<960x48xf32>
}
// CHECK: func.func private @sine(
// CHECK-SAME: attributes {millrace.kernel} {
func.func private @sine(%w: tensor<32x48xf32>) -> tensor<32x48xf32> attributes {millrace.kernel} {
  %0 = stablehlo.sine %w : tensor<32x48xf32>
  return %0 : tensor<32x48xf32>
}

// -----

// expected-error @+1 {{cannot be a program for any number of rows: stablehlo.reverse: rows are mixed}}
func.func @main(%x: tensor<120x4xf32> {millrace.row_indices = 1 : i64}) -> (tensor<120x4xf32> {millrace.row_indices = 1 : i64}) attributes {millrace.rows = array<i64: 120>} {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<120x4xf32>
  return %0 : tensor<120x4xf32>
}
