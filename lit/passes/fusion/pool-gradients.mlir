// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pad before a select_and_scatter and the slice behind it join its kernel, unless something else needs them or the slice takes other elements.
// RUN: xla-opt %s -xla-fuse-kernels -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: call @
// CHECK-NEXT: return
func.func @main(%x: tensor<64x5xf32>, %g: tensor<64x3xf32>) -> tensor<64x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %p = stablehlo.pad %x, %least, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<64x5xf32>, tensor<f32>) -> tensor<64x7xf32>
  %0 = "stablehlo.select_and_scatter"(%p, %g, %zero) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<64x7xf32>, tensor<64x3xf32>, tensor<f32>) -> tensor<64x7xf32>
  %1 = stablehlo.slice %0 [0:64, 1:6] : (tensor<64x7xf32>) -> tensor<64x5xf32>
  return %1 : tensor<64x5xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: call @pad
// CHECK: call @select_and_scatter
// CHECK: call @slice
func.func @main(%x: tensor<64x5xf32>, %g: tensor<64x3xf32>) -> tensor<64x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %p = stablehlo.pad %x, %least, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<64x5xf32>, tensor<f32>) -> tensor<64x7xf32>
  %0 = "stablehlo.select_and_scatter"(%p, %g, %zero) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<64x7xf32>, tensor<64x3xf32>, tensor<f32>) -> tensor<64x7xf32>
  %1 = stablehlo.slice %0 [0:64, 2:7] : (tensor<64x7xf32>) -> tensor<64x5xf32>
  return %1 : tensor<64x5xf32>
}
