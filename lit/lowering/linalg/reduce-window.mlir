// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// A window over a whole dimension, padded on one side, is a scan: one loop over it, no window dimension.
// CHECK-LABEL: @cumsum
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @cumsum(%x: tensor<8x9xf32>) -> tensor<8x9xf32> {
  %i = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[0, 0], [8, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 9>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x9xf32>, tensor<f32>) -> tensor<8x9xf32>
  return %0 : tensor<8x9xf32>
}

// -----

// An init value that may not be zero is added once per padding element: no scan.
// CHECK-LABEL: @cumsum_unknown_init
// CHECK: tensor.insert_slice
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
func.func @cumsum_unknown_init(%x: tensor<8x9xf32>, %i: tensor<f32>) -> tensor<8x9xf32> {
  %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[0, 0], [8, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 9>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8x9xf32>, tensor<f32>) -> tensor<8x9xf32>
  return %0 : tensor<8x9xf32>
}

// -----

// Strides and dilations are in the indexing map.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1 * 3)>
// CHECK-LABEL: @strided
// CHECK-NOT: tensor.insert_slice
// CHECK: linalg.generic {indexing_maps = [#[[MAP]],
func.func @strided(%x: tensor<20xi32>, %i: tensor<i32>) -> tensor<7xi32> {
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, window_dilations = array<i64: 3>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.maximum %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<20xi32>, tensor<i32>) -> tensor<7xi32>
  return %0 : tensor<7xi32>
}
