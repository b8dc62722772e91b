// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reshapes whose operand is computed in the kernel of their readers are part of it: what shares a kernel does not depend on how shapes are written.
// RUN: xla-opt %s -xla-fuse-kernels -split-input-file | FileCheck %s
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=gathered --verify --seed=3 --quiet --cache-dir=off

// Groups of three channels; a variance that keeps its reduced dimensions as ones; a weight per channel, and one per image and group.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:       func.func private
// CHECK:         stablehlo.reshape %{{.*}} : (tensor<2x4xf32>) -> tensor<2x4x1x1xf32>
// CHECK:         stablehlo.reshape %{{.*}} : (tensor<2x4x3x35xf32>) -> tensor<2x12x5x7xf32>
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

// A vector along a part of the rows.
// CHECK-LABEL: func.func @part(
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:       func.func private
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

// -----

// 60 x 40 and 40 x 60 elements are no loops of one kernel.
// CHECK-LABEL: func.func @regrouped(
// CHECK:         call @
// CHECK:         stablehlo.reshape
// CHECK:         call @
func.func @regrouped(%x: tensor<60x40xf32>, %y: tensor<60xf32>) -> tensor<40x60xf32> {
  %rows = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<60xf32>) -> tensor<60x40xf32>
  %sum = stablehlo.add %x, %rows : tensor<60x40xf32>
  %other = stablehlo.reshape %sum : (tensor<60x40xf32>) -> tensor<40x60xf32>
  %columns = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<60xf32>) -> tensor<40x60xf32>
  %product = stablehlo.multiply %other, %columns : tensor<40x60xf32>
  return %product : tensor<40x60xf32>
}

// -----

// Readers outside of the kernel read a copy of the reshape behind it: the kernel returns what is reshaped.
// CHECK-LABEL: func.func @returned(
// CHECK:         %[[BOTH:.*]]:2 = call @{{.*}}(tensor<60x40xf32>) -> (tensor<60x40xf32>, tensor<2400xf32>)
// CHECK-NEXT:    %[[VIEW:.*]] = stablehlo.reshape %[[BOTH]]#0
// CHECK-NEXT:    return %[[VIEW]], %[[BOTH]]#1
func.func @returned(%x: tensor<60x40xf32>) -> (tensor<2400xf32>, tensor<2400xf32>) {
  %sum = stablehlo.add %x, %x : tensor<60x40xf32>
  %view = stablehlo.reshape %sum : (tensor<60x40xf32>) -> tensor<2400xf32>
  %wave = stablehlo.tanh %view : tensor<2400xf32>
  return %view, %wave : tensor<2400xf32>, tensor<2400xf32>
}

// -----

// A reshape is no reason to compute its operand early: it moves to where it is first read.
// CHECK-LABEL: func.func @later(
// CHECK-NEXT:    %[[BOTH:.*]]:2 = call @
// CHECK-NEXT:    %[[VIEW:.*]] = stablehlo.reshape %[[BOTH]]#
// CHECK-NEXT:    call @sqrt{{.*}}(%[[VIEW]])
// CHECK-NEXT:    call @sort
// CHECK-NEXT:    return
func.func @later(%x: tensor<60x40xf32>) -> (tensor<60x40xf32>, tensor<40x60xf32>) {
  %sum = stablehlo.add %x, %x : tensor<60x40xf32>
  %other = stablehlo.reshape %sum : (tensor<60x40xf32>) -> tensor<40x60xf32>
  %wave = stablehlo.tanh %sum : tensor<60x40xf32>
  %root = stablehlo.sqrt %other : tensor<40x60xf32>
  %sorted = "stablehlo.sort"(%root) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<40x60xf32>) -> tensor<40x60xf32>
  return %wave, %sorted : tensor<60x40xf32>, tensor<40x60xf32>
}

// -----

// What happens to a product element by element is part of its kernel, in whatever way its rows are counted.
// CHECK-LABEL: func.func @bias(
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:       func.func private
func.func @bias(%a: tensor<1024x32xf32>, %b: tensor<32x96xf32>, %c: tensor<96xf32>) -> tensor<64x16x96xf32> {
  %half = stablehlo.constant dense<5.000000e-01> : tensor<64x16x96xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x32xf32>, tensor<32x96xf32>) -> tensor<1024x96xf32>
  %1 = stablehlo.reshape %0 : (tensor<1024x96xf32>) -> tensor<64x16x96xf32>
  %2 = stablehlo.broadcast_in_dim %c, dims = [2] : (tensor<96xf32>) -> tensor<64x16x96xf32>
  %3 = stablehlo.add %1, %2 : tensor<64x16x96xf32>
  %4 = stablehlo.multiply %3, %half : tensor<64x16x96xf32>
  return %4 : tensor<64x16x96xf32>
}

// -----

// A number for each row of one shape, and columns that are split: the first reader's kernel computes the product, the second reads it.
// CHECK-LABEL: func.func @others(
// CHECK:         %[[FIRST:.*]]:2 = call @
// CHECK:         %[[SPLIT:.*]] = stablehlo.reshape %[[FIRST]]#{{[01]}} : (tensor<1024x96xf32>) -> tensor<1024x12x8xf32>
// CHECK:         %[[SECOND:.*]] = call @{{.*}}(%[[SPLIT]])
func.func @others(%a: tensor<1024x32xf32>, %b: tensor<32x96xf32>, %c: tensor<16xf32>) -> (tensor<64x16x96xf32>, tensor<1024x12x8xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x32xf32>, tensor<32x96xf32>) -> tensor<1024x96xf32>
  %1 = stablehlo.reshape %0 : (tensor<1024x96xf32>) -> tensor<64x16x96xf32>
  %2 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<16xf32>) -> tensor<64x16x96xf32>
  %3 = stablehlo.add %1, %2 : tensor<64x16x96xf32>
  %4 = stablehlo.reshape %0 : (tensor<1024x96xf32>) -> tensor<1024x12x8xf32>
  %5 = stablehlo.negate %4 : tensor<1024x12x8xf32>
  return %3, %5 : tensor<64x16x96xf32>, tensor<1024x12x8xf32>
}

// -----

// Chosen between, limited and read as other numbers, too.
// CHECK-LABEL: func.func @chosen(
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:       func.func private
func.func @chosen(%a: tensor<1024x32xf32>, %b: tensor<32x96xf32>) -> tensor<64x16x96xi32> {
  %half = stablehlo.constant dense<5.000000e-01> : tensor<64x16x96xf32>
  %two = stablehlo.constant dense<2.000000e+00> : tensor<64x16x96xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x32xf32>, tensor<32x96xf32>) -> tensor<1024x96xf32>
  %1 = stablehlo.reshape %0 : (tensor<1024x96xf32>) -> tensor<64x16x96xf32>
  %2 = stablehlo.compare GT, %1, %half : (tensor<64x16x96xf32>, tensor<64x16x96xf32>) -> tensor<64x16x96xi1>
  %3 = stablehlo.select %2, %two, %1 : tensor<64x16x96xi1>, tensor<64x16x96xf32>
  %4 = stablehlo.clamp %half, %3, %two : tensor<64x16x96xf32>
  %5 = stablehlo.bitcast_convert %4 : (tensor<64x16x96xf32>) -> tensor<64x16x96xi32>
  return %5 : tensor<64x16x96xi32>
}

// -----

// Gathers and slices of long rows are read by the kernel behind a reshape that only drops unit dimensions.
// CHECK-LABEL: func.func @gathered(
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:       func.func private
// CHECK:         stablehlo.gather
// CHECK:         stablehlo.slice
func.func @gathered(%table: tensor<50x64xf32>, %i: tensor<300x1xui32>, %x: tensor<300x3x64xf32>) -> tensor<300x64xf32> {
  %0 = "stablehlo.gather"(%table, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<50x64xf32>, tensor<300x1xui32>) -> tensor<300x1x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<300x1x64xf32>) -> tensor<300x64xf32>
  %2 = stablehlo.slice %x [0:300, 1:2, 0:64] : (tensor<300x3x64xf32>) -> tensor<300x1x64xf32>
  %3 = stablehlo.reshape %2 : (tensor<300x1x64xf32>) -> tensor<300x64xf32>
  %4 = stablehlo.multiply %1, %3 : tensor<300x64xf32>
  return %4 : tensor<300x64xf32>
}

// -----

// Rows that fill no vector, and reshapes that regroup elements, are left to kernels of their own.
// CHECK-LABEL: func.func @short(
// CHECK-COUNT-4: call @
// CHECK-NOT:     call @
// CHECK:       func.func private
func.func @short(%x: tensor<1000x3x2xf32>, %y: tensor<1000x3x64xf32>, %z: tensor<1000x2xf32>) -> (tensor<1000x2xf32>, tensor<500x128xf32>) {
  %0 = stablehlo.slice %x [0:1000, 1:2, 0:2] : (tensor<1000x3x2xf32>) -> tensor<1000x1x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<1000x1x2xf32>) -> tensor<1000x2xf32>
  %2 = stablehlo.multiply %1, %z : tensor<1000x2xf32>
  %3 = stablehlo.slice %y [0:1000, 1:2, 0:64] : (tensor<1000x3x64xf32>) -> tensor<1000x1x64xf32>
  %4 = stablehlo.reshape %3 : (tensor<1000x1x64xf32>) -> tensor<500x128xf32>
  %5 = stablehlo.negate %4 : tensor<500x128xf32>
  return %2, %5 : tensor<1000x2xf32>, tensor<500x128xf32>
}
