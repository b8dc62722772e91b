// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape computations become StableHLO operations on i32.
// RUN: xla-opt %s -shape-legalize-to-stablehlo -split-input-file -verify-diagnostics | FileCheck %s

// The shape of a tensor goes into the operation that takes it.
// CHECK-LABEL: @shape_of
// CHECK: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: %[[N1:.*]] = stablehlo.reshape %[[N]] : (tensor<i32>) -> tensor<1xi32>
// CHECK: %[[S:.*]] = stablehlo.concatenate %[[N1]], %{{.*}}, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
// CHECK-NEXT: stablehlo.dynamic_broadcast_in_dim %arg1, %[[S]], dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
// CHECK-NOT: shape
func.func @shape_of(%x: tensor<?x4xf32>, %c: tensor<f32>) -> tensor<?x4xf32> {
  %s = shape.shape_of %x : tensor<?x4xf32> -> tensor<2xindex>
  %0 = stablehlo.dynamic_broadcast_in_dim %c, %s, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----
// A static shape is a constant.
// CHECK-LABEL: @static
// CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
// CHECK-NEXT: stablehlo.dynamic_reshape %arg1, %[[S]]
func.func @static(%x: tensor<2x3xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %s = shape.shape_of %x : tensor<2x3xf32> -> tensor<2xindex>
  %0 = stablehlo.dynamic_reshape %y, %s : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// Shapes of different rank: ones in front of the shorter, then the larger of each pair.
// CHECK-LABEL: @broadcast
// CHECK: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<1xi32>
// CHECK: %[[B:.*]] = stablehlo.concatenate %[[ONE]], %{{.*}}, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
// CHECK: stablehlo.maximum %{{.*}}, %[[B]] : tensor<2xi32>
func.func @broadcast(%x: tensor<?x?xf32>, %y: tensor<?xf32>, %c: tensor<f32>) -> tensor<?x?xf32> {
  %s = shape.shape_of %x : tensor<?x?xf32> -> tensor<2xindex>
  %t = shape.shape_of %y : tensor<?xf32> -> tensor<1xindex>
  %b = shape.broadcast %s, %t : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
  %0 = stablehlo.dynamic_broadcast_in_dim %c, %b, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// Sizes by hand: dimensions, products, and a vector of them.
// CHECK-LABEL: @sizes
// CHECK: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 1
// CHECK: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<i32>
// CHECK: %[[P:.*]] = stablehlo.multiply %[[N]], %[[TWO]] : tensor<i32>
// CHECK: %[[P1:.*]] = stablehlo.reshape %[[P]]
// CHECK: stablehlo.concatenate %[[P1]], %{{.*}}, dim = 0
// CHECK-NOT: arith
// CHECK-NOT: tensor.
func.func @sizes(%x: tensor<4x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %n = tensor.dim %x, %one : tensor<4x?xf32>
  %p = arith.muli %n, %two : index
  %s = tensor.from_elements %p, %two : tensor<2xindex>
  %0 = stablehlo.dynamic_reshape %y, %s : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// CHECK-LABEL: @count
// CHECK: stablehlo.slice
// CHECK: stablehlo.multiply
// CHECK: %[[WIDE:.*]] = stablehlo.convert %{{.*}} : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT: return %[[WIDE]]
func.func @count(%x: tensor<?x?xf32>) -> tensor<i64> {
  %s = shape.shape_of %x : tensor<?x?xf32> -> tensor<2xindex>
  %n = shape.num_elements %s : tensor<2xindex> -> index
  %i = arith.index_cast %n : index to i64
  %t = tensor.from_elements %i : tensor<i64>
  return %t : tensor<i64>
}

// -----
// A constraint is an assertion only if asked for: shape-legalize-constraints.mlir.
func.func @constraint(%x: tensor<2xindex>, %y: tensor<1xindex>) -> !shape.witness {
  // expected-error @+1 {{'shape.cstr_broadcastable' op has no counterpart in StableHLO here}}
  %w = shape.cstr_broadcastable %x, %y : tensor<2xindex>, tensor<1xindex>
  return %w : !shape.witness
}

// -----
// The size of a dimension that only run time knows.
func.func @unknown_dimension(%x: tensor<?x?xf32>, %i: index) -> index {
  // expected-error @+1 {{'tensor.dim' op has no counterpart in StableHLO here}}
  %n = tensor.dim %x, %i : tensor<?x?xf32>
  return %n : index
}
