// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scale and shift of a normalization get the shape of its statistics: all of it is one kernel.
// RUN: xla-opt %s -xla-sink-reshapes -xla-fuse-kernels -split-input-file | FileCheck %s
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off

// Groups of three channels; a variance that keeps its reduced dimensions as ones; a weight per channel, and one per image and group.
// CHECK-LABEL: func.func @main(
// CHECK:         stablehlo.reshape %arg1 : (tensor<12xf32>) -> tensor<4x3xf32>
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:       func.func private
// CHECK:         stablehlo.broadcast_in_dim %{{.*}}, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x3x35xf32>
// CHECK:         stablehlo.broadcast_in_dim %{{.*}}, dims = [1, 2] : (tensor<4x3xf32>) -> tensor<2x4x3x35xf32>
// CHECK:         return %{{.*}} : tensor<2x4x3x35xf32>
func.func @main(%x: tensor<2x12x5x7xf32>, %scale: tensor<12xf32>, %image: tensor<2xf32>) -> tensor<2x12x5x7xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<105.0> : tensor<2x4x1x1xf32>
  %one = stablehlo.constant dense<1.0> : tensor<2x4x1x1xf32>
  %g = stablehlo.reshape %x : (tensor<2x12x5x7xf32>) -> tensor<2x4x3x35xf32>
  %squares = stablehlo.multiply %g, %g : tensor<2x4x3x35xf32>
  %sum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x4x3x35xf32>, tensor<f32>) -> tensor<2x4xf32>
  %kept = stablehlo.reshape %sum : (tensor<2x4xf32>) -> tensor<2x4x1x1xf32>
  %mean = stablehlo.divide %kept, %n : tensor<2x4x1x1xf32>
  %more = stablehlo.add %mean, %one : tensor<2x4x1x1xf32>
  %root = stablehlo.rsqrt %more : tensor<2x4x1x1xf32>
  %repeated = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2, 3] : (tensor<2x4x1x1xf32>) -> tensor<2x4x3x35xf32>
  %normal = stablehlo.multiply %g, %repeated : tensor<2x4x3x35xf32>
  %back = stablehlo.reshape %normal : (tensor<2x4x3x35xf32>) -> tensor<2x12x5x7xf32>
  %weights = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<12xf32>) -> tensor<2x12x5x7xf32>
  %scaled = stablehlo.multiply %back, %weights : tensor<2x12x5x7xf32>
  %images = stablehlo.broadcast_in_dim %image, dims = [0] : (tensor<2xf32>) -> tensor<2x12x5x7xf32>
  %shifted = stablehlo.add %scaled, %images : tensor<2x12x5x7xf32>
  %wave = stablehlo.tanh %shifted : tensor<2x12x5x7xf32>
  return %wave : tensor<2x12x5x7xf32>
}

// -----

// A vector along a part of a merged dimension has no place in the shape before: its product stays where it is.
// CHECK-LABEL: func.func @part(
// CHECK:         call @
// CHECK:         stablehlo.reshape {{.*}} -> tensor<60x4x5xf32>
// CHECK:         call @
func.func @part(%x: tensor<60x20xf32>, %scale: tensor<5xf32>) -> tensor<60x4x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<60x20xf32>, tensor<f32>) -> tensor<60xf32>
  %repeated = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<60xf32>) -> tensor<60x20xf32>
  %normal = stablehlo.multiply %x, %repeated : tensor<60x20xf32>
  %back = stablehlo.reshape %normal : (tensor<60x20xf32>) -> tensor<60x4x5xf32>
  %weights = stablehlo.broadcast_in_dim %scale, dims = [2] : (tensor<5xf32>) -> tensor<60x4x5xf32>
  %scaled = stablehlo.multiply %back, %weights : tensor<60x4x5xf32>
  return %scaled : tensor<60x4x5xf32>
}
