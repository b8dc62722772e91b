// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens to a product element by element happens before its rows are counted in another way: it becomes part of the product's kernel.
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,contractions | FileCheck %s

// CHECK-LABEL: @bias
// CHECK-NEXT: %[[HALF:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<1024x96xf32>
// CHECK-NEXT: %[[D:.*]] = stablehlo.dot_general
// CHECK-NEXT: %[[B:.*]] = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<96xf32>) -> tensor<1024x96xf32>
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[D]], %[[B]]
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[S]], %[[HALF]]
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[M]] : (tensor<1024x96xf32>) -> tensor<64x16x96xf32>
// CHECK-NEXT: return %[[R]]
func.func @bias(%a: tensor<1024x32xf32>, %b: tensor<32x96xf32>, %c: tensor<96xf32>) -> tensor<64x16x96xf32> {
  %half = stablehlo.constant dense<5.000000e-01> : tensor<64x16x96xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x32xf32>, tensor<32x96xf32>) -> tensor<1024x96xf32>
  %1 = stablehlo.reshape %0 : (tensor<1024x96xf32>) -> tensor<64x16x96xf32>
  %2 = stablehlo.broadcast_in_dim %c, dims = [2] : (tensor<96xf32>) -> tensor<64x16x96xf32>
  %3 = stablehlo.add %1, %2 : tensor<64x16x96xf32>
  %4 = stablehlo.multiply %3, %half : tensor<64x16x96xf32>
  return %4 : tensor<64x16x96xf32>
}

// A number for each row of the new shape, and columns that are split.
// CHECK-LABEL: @others
// CHECK: stablehlo.add {{.*}} : tensor<64x16x96xf32>
// CHECK: stablehlo.negate {{.*}} : tensor<1024x12x8xf32>
func.func @others(%a: tensor<1024x32xf32>, %b: tensor<32x96xf32>, %c: tensor<16xf32>) -> (tensor<64x16x96xf32>, tensor<1024x12x8xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x32xf32>, tensor<32x96xf32>) -> tensor<1024x96xf32>
  %1 = stablehlo.reshape %0 : (tensor<1024x96xf32>) -> tensor<64x16x96xf32>
  %2 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<16xf32>) -> tensor<64x16x96xf32>
  %3 = stablehlo.add %1, %2 : tensor<64x16x96xf32>
  %4 = stablehlo.reshape %0 : (tensor<1024x96xf32>) -> tensor<1024x12x8xf32>
  %5 = stablehlo.negate %4 : tensor<1024x12x8xf32>
  return %3, %5 : tensor<64x16x96xf32>, tensor<1024x12x8xf32>
}

// Chosen between, limited and read as other numbers, too: all of an expanded function stays in one shape.
// CHECK-LABEL: @chosen
// CHECK: stablehlo.compare
// CHECK: stablehlo.select {{.*}} tensor<1024x96xf32>
// CHECK: stablehlo.clamp {{.*}} tensor<1024x96xf32>
// CHECK: stablehlo.bitcast_convert {{.*}} tensor<1024x96xi32>
// CHECK-NEXT: stablehlo.reshape {{.*}} : (tensor<1024x96xi32>) -> tensor<64x16x96xi32>
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
