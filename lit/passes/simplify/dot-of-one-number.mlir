// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A product with a tensor that repeats one number is a sum, repeated.
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,contractions | FileCheck %s

// CHECK-LABEL: @ones_left
// CHECK: %[[S:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<96x33xf32>, tensor<f32>) -> tensor<33xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [2] : (tensor<33xf32>) -> tensor<2x50x33xf32>
// CHECK-NEXT: return %[[R]]
func.func @ones_left(%b: tensor<96x33xf32>) -> tensor<2x50x33xf32> {
  %ones = stablehlo.constant dense<1.0> : tensor<2x50x96xf32>
  %0 = stablehlo.dot_general %ones, %b, contracting_dims = [2] x [0] : (tensor<2x50x96xf32>, tensor<96x33xf32>) -> tensor<2x50x33xf32>
  return %0 : tensor<2x50x33xf32>
}

// Sums of bf16 are made in f32, terms are multiplied before they are added.
// CHECK-LABEL: @repeated_right_bf16
// CHECK-DAG: %[[A:.*]] = stablehlo.convert %arg0 : (tensor<4x7x96xbf16>) -> tensor<4x7x96xf32>
// CHECK-DAG: %[[N:.*]] = stablehlo.convert %arg1 : (tensor<bf16>) -> tensor<f32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[N]], dims = [] : (tensor<f32>) -> tensor<4x7x96xf32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.multiply %[[A]], %[[B]] : tensor<4x7x96xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.add across dimensions = [2] : (tensor<4x7x96xf32>, tensor<f32>) -> tensor<4x7xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[S]] : (tensor<4x7xf32>) -> tensor<4x7xbf16>
// CHECK-NEXT: %[[R:.*]] = stablehlo.broadcast_in_dim %[[C]], dims = [0, 1] : (tensor<4x7xbf16>) -> tensor<4x7x5xbf16>
// CHECK-NEXT: return %[[R]]
func.func @repeated_right_bf16(%a: tensor<4x7x96xbf16>, %n: tensor<bf16>) -> tensor<4x7x5xbf16> {
  %b = stablehlo.broadcast_in_dim %n, dims = [] : (tensor<bf16>) -> tensor<4x96x5xbf16>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x7x96xbf16>, tensor<4x96x5xbf16>) -> tensor<4x7x5xbf16>
  return %0 : tensor<4x7x5xbf16>
}

// One dimension of the operand is repeated, another one is not: no single number. The second operand's batching dimension is its last one,
// so that the result would be transposed.
// CHECK-LABEL: @left_alone
// CHECK-COUNT-2: stablehlo.dot_general
func.func @left_alone(%a: tensor<96xf32>, %b: tensor<96x33xf32>, %c: tensor<5x96x4xf32>) -> (tensor<50x33xf32>, tensor<4x7x5xf32>) {
  %rows = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<96xf32>) -> tensor<50x96xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<4x7x96xf32>
  %0 = stablehlo.dot_general %rows, %b, contracting_dims = [1] x [0] : (tensor<50x96xf32>, tensor<96x33xf32>) -> tensor<50x33xf32>
  %1 = stablehlo.dot_general %ones, %c, batching_dims = [0] x [2], contracting_dims = [2] x [1] : (tensor<4x7x96xf32>, tensor<5x96x4xf32>) -> tensor<4x7x5xf32>
  return %0, %1 : tensor<50x33xf32>, tensor<4x7x5xf32>
}
