// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product that adds nothing up is one of numbers, in the order of the transpose behind it.
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,contractions | FileCheck %s

// CHECK-LABEL: @outer
// CHECK-NEXT: %[[A:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<7xf32>) -> tensor<7x5xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<5xf32>) -> tensor<7x5xf32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[A]], %[[B]]
// CHECK-NEXT: return %[[P]]
func.func @outer(%a: tensor<7xf32>, %b: tensor<5xf32>) -> tensor<7x5xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [] x [] : (tensor<7xf32>, tensor<5xf32>) -> tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}

// CHECK-LABEL: @khatri_rao
// CHECK-NEXT: %[[A:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x3xi32>) -> tensor<4x6x3xi32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<6x3xi32>) -> tensor<4x6x3xi32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[A]], %[[B]]
// CHECK-NEXT: return %[[P]]
func.func @khatri_rao(%a: tensor<4x3xi32>, %b: tensor<6x3xi32>) -> tensor<4x6x3xi32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [1] x [1], contracting_dims = [] x [] : (tensor<4x3xi32>, tensor<6x3xi32>) -> tensor<3x4x6xi32>
  %1 = stablehlo.transpose %0, dims = [1, 2, 0] : (tensor<3x4x6xi32>) -> tensor<4x6x3xi32>
  return %1 : tensor<4x6x3xi32>
}

// An operand that comes in another order than the result has it.
// CHECK-LABEL: @last_is_batch
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[A:.*]] = stablehlo.broadcast_in_dim %[[T]], dims = [0, 1] : (tensor<3x4xf32>) -> tensor<3x4x6xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<3x6xf32>) -> tensor<3x4x6xf32>
// CHECK-NEXT: stablehlo.multiply %[[A]], %[[B]]
func.func @last_is_batch(%a: tensor<4x3xf32>, %b: tensor<3x6xf32>) -> tensor<3x4x6xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [] x [] : (tensor<4x3xf32>, tensor<3x6xf32>) -> tensor<3x4x6xf32>
  return %0 : tensor<3x4x6xf32>
}

// Sums, and operands of another type than the result's.
// CHECK-LABEL: @left_alone
// CHECK-COUNT-2: stablehlo.dot_general
func.func @left_alone(%a: tensor<7x2xf32>, %b: tensor<5x2xf32>, %c: tensor<7xbf16>, %d: tensor<5xbf16>) -> (tensor<7x5xf32>, tensor<7x5xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<7x2xf32>, tensor<5x2xf32>) -> tensor<7x5xf32>
  %1 = stablehlo.dot_general %c, %d, contracting_dims = [] x [] : (tensor<7xbf16>, tensor<5xbf16>) -> tensor<7x5xf32>
  return %0, %1 : tensor<7x5xf32>, tensor<7x5xf32>
}
