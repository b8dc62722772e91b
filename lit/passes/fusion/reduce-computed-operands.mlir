// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products with matrices that are computed of fewer bytes: sums, in one kernel with what computes them.
// RUN: xla-opt %s -xla-reduce-computed-operands -xla-fuse-kernels -split-input-file | FileCheck %s
// RUN: xla-run %s --entry=groups --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=leading_terms --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=matrix_is_left --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=nibbles --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=four_bits --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --entry=too_many_vectors --verify --seed=3 --quiet --cache-dir=off

// A scale and a zero point for each group of 32 terms; two vectors share what is computed.
// CHECK-LABEL: func.func @groups(
// CHECK:         call @reduce_{{.*}} : (tensor<96x8xi8>, tensor<96x8x32xi8>, tensor<96x8xf32>, tensor<8x32xf32>, tensor<8x32xf32>) -> (tensor<96xf32>, tensor<96xf32>)
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @groups(%x: tensor<2x256xf32>, %codes: tensor<96x8x32xi8>, %zeros: tensor<96x8xi8>, %scales: tensor<96x8xf32>) -> tensor<2x96xf32> {
  %z = stablehlo.broadcast_in_dim %zeros, dims = [0, 1] : (tensor<96x8xi8>) -> tensor<96x8x32xi8>
  %shifted = stablehlo.subtract %codes, %z : tensor<96x8x32xi8>
  %numbers = stablehlo.convert %shifted : (tensor<96x8x32xi8>) -> tensor<96x8x32xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %scaled = stablehlo.multiply %numbers, %s : tensor<96x8x32xf32>
  %w = stablehlo.reshape %scaled : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<2x256xf32>, tensor<96x256xf32>) -> tensor<2x96xf32>
  return %r : tensor<2x96xf32>
}

// Terms come first, in groups of 16, and the scales' own dimension is the last.
// CHECK-LABEL: func.func @leading_terms(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @leading_terms(%x: tensor<1x256xf32>, %codes: tensor<16x16x96xi8>, %scales: tensor<16x96xf32>) -> tensor<1x96xf32> {
  %numbers = stablehlo.convert %codes : (tensor<16x16x96xi8>) -> tensor<16x16x96xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 2] : (tensor<16x96xf32>) -> tensor<16x16x96xf32>
  %scaled = stablehlo.multiply %numbers, %s : tensor<16x16x96xf32>
  %w = stablehlo.reshape %scaled : (tensor<16x16x96xf32>) -> tensor<256x96xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x256xf32>, tensor<256x96xf32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

// A type of four bits, as JAX has it: every code is a byte in memory.
// CHECK-LABEL: func.func @four_bits(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @four_bits(%x: tensor<1x256xf32>, %codes: tensor<96x8x32xi4>, %scales: tensor<96x8xf32>) -> tensor<1x96xf32> {
  %numbers = stablehlo.convert %codes : (tensor<96x8x32xi4>) -> tensor<96x8x32xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %scaled = stablehlo.multiply %numbers, %s : tensor<96x8x32xf32>
  %w = stablehlo.reshape %scaled : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x256xf32>, tensor<96x256xf32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

// CHECK-LABEL: func.func @matrix_is_left(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @matrix_is_left(%x: tensor<256x3xf32>, %codes: tensor<96x256xi8>, %scales: tensor<96xf32>) -> tensor<96x3xf32> {
  %numbers = stablehlo.convert %codes : (tensor<96x256xi8>) -> tensor<96x256xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0] : (tensor<96xf32>) -> tensor<96x256xf32>
  %w = stablehlo.multiply %numbers, %s : tensor<96x256xf32>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<256x3xf32>) -> tensor<3x256xf32>
  %r = stablehlo.dot_general %w, %t, contracting_dims = [1] x [1] : (tensor<96x256xf32>, tensor<3x256xf32>) -> tensor<96x3xf32>
  return %r : tensor<96x3xf32>
}

// The product of many rows widens and scales bytes while it packs its panels.
// CHECK-LABEL: func.func @too_many_vectors(
// CHECK-NEXT:    call @dot_general{{.*}} : ({{.*}}tensor<96x256xi8>
// CHECK-NEXT:    return
func.func @too_many_vectors(%x: tensor<16x256xf32>, %codes: tensor<96x256xi8>, %scales: tensor<96xf32>) -> tensor<16x96xf32> {
  %numbers = stablehlo.convert %codes : (tensor<96x256xi8>) -> tensor<96x256xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0] : (tensor<96xf32>) -> tensor<96x256xf32>
  %w = stablehlo.multiply %numbers, %s : tensor<96x256xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<16x256xf32>, tensor<96x256xf32>) -> tensor<16x96xf32>
  return %r : tensor<16x96xf32>
}

// Numbers that are only widened are read so by the product; two readers want the matrix in memory.
// CHECK-LABEL: func.func @left_alone(
// CHECK:         call @{{.*}}dot_general
// CHECK:         return
func.func @left_alone(%x: tensor<1x256xf32>, %codes: tensor<96x256xi8>, %scales: tensor<96xf32>) -> (tensor<1x96xf32>, tensor<1x96xf32>, tensor<96x256xf32>) {
  %numbers = stablehlo.convert %codes : (tensor<96x256xi8>) -> tensor<96x256xf32>
  %r = stablehlo.dot_general %x, %numbers, contracting_dims = [1] x [1] : (tensor<1x256xf32>, tensor<96x256xf32>) -> tensor<1x96xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0] : (tensor<96xf32>) -> tensor<96x256xf32>
  %w = stablehlo.multiply %s, %s : tensor<96x256xf32>
  %q = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x256xf32>, tensor<96x256xf32>) -> tensor<1x96xf32>
  return %r, %q, %w : tensor<1x96xf32>, tensor<1x96xf32>, tensor<96x256xf32>
}

// Two codes of four bits in a byte: each half has its own terms, and nothing is stacked.
// CHECK-LABEL: func.func @nibbles(
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         call @reduce{{.*}} : ({{.*}}tensor<96x8x16xui8>
// CHECK-NOT:     call @{{.*}}dot_general
// CHECK:         return
func.func @nibbles(%x: tensor<1x256xf32>, %bytes: tensor<96x128xui8>, %scales: tensor<96x8xf32>) -> tensor<1x96xf32> {
  %15 = stablehlo.constant dense<15> : tensor<96x128xui8>
  %4 = stablehlo.constant dense<4> : tensor<96x128xui8>
  %8 = stablehlo.constant dense<8> : tensor<96x8x32xi8>
  %low = stablehlo.and %bytes, %15 : tensor<96x128xui8>
  %high = stablehlo.shift_right_logical %bytes, %4 : tensor<96x128xui8>
  %l = stablehlo.reshape %low : (tensor<96x128xui8>) -> tensor<96x128x1xui8>
  %h = stablehlo.reshape %high : (tensor<96x128xui8>) -> tensor<96x128x1xui8>
  %both = stablehlo.concatenate %l, %h, dim = 2 : (tensor<96x128x1xui8>, tensor<96x128x1xui8>) -> tensor<96x128x2xui8>
  %grouped = stablehlo.reshape %both : (tensor<96x128x2xui8>) -> tensor<96x8x32xui8>
  %signed = stablehlo.convert %grouped : (tensor<96x8x32xui8>) -> tensor<96x8x32xi8>
  %codes = stablehlo.subtract %signed, %8 : tensor<96x8x32xi8>
  %numbers = stablehlo.convert %codes : (tensor<96x8x32xi8>) -> tensor<96x8x32xf32>
  %s = stablehlo.broadcast_in_dim %scales, dims = [0, 1] : (tensor<96x8xf32>) -> tensor<96x8x32xf32>
  %scaled = stablehlo.multiply %numbers, %s : tensor<96x8x32xf32>
  %w = stablehlo.reshape %scaled : (tensor<96x8x32xf32>) -> tensor<96x256xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x256xf32>, tensor<96x256xf32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}
