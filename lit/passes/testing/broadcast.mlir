// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -hlo-test-broadcast -allow-unregistered-dialect -split-input-file -verify-diagnostics | FileCheck %s

// The bound of one operand holds for the other: padded up to it, then given the size.
// CHECK-LABEL: func.func @bounded
// CHECK: %[[A:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<?x1xf32, #stablehlo.bounds<7, ?>>) -> tensor<?x5xf32, #stablehlo.bounds<7, ?>>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<5xf32>) -> tensor<7x5xf32>
// CHECK: %[[SIZE:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: %[[SIZED:.*]] = stablehlo.set_dimension_size %[[B]], %[[SIZE]], dim = 0
// CHECK: stablehlo.custom_call @numpy_broadcasted(%[[A]], %[[SIZED]])
func.func @bounded(%a: tensor<?x1xf32, #stablehlo.bounds<7, ?>>, %b: tensor<5xf32>) -> !stablehlo.token {
  %0 = "hlo_test_broadcast.numpy_broadcast"(%a, %b) : (tensor<?x1xf32, #stablehlo.bounds<7, ?>>, tensor<5xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

// CHECK-LABEL: func.func @equal
// CHECK-NEXT: stablehlo.custom_call @numpy_broadcasted(%arg0, %arg0)
func.func @equal(%a: tensor<2x3xf32>) -> !stablehlo.token {
  %0 = "hlo_test_broadcast.numpy_broadcast"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

// CHECK-LABEL: func.func @along
// CHECK-NEXT: %[[WIDE:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<2x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: return %[[WIDE]]
func.func @along(%a: tensor<2x1xf32>) -> tensor<2x3x4xf32> {
  %0 = "hlo_test_broadcast.broadcast_if_needed"(%a) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<2x1xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// expected-error@+1 {{incompatible shapes for broadcasting 4 and 5}}
func.func @sizes(%a: tensor<4xf32>, %b: tensor<5xf32>) -> !stablehlo.token {
  %0 = "hlo_test_broadcast.numpy_broadcast"(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// -----

// expected-error@+1 {{cannot mix bounded and static dimensions in broadcast}}
func.func @mixed(%a: tensor<4xf32>, %b: tensor<?xf32, #stablehlo.bounds<4>>) -> !stablehlo.token {
  %0 = "hlo_test_broadcast.numpy_broadcast"(%a, %b) : (tensor<4xf32>, tensor<?xf32, #stablehlo.bounds<4>>) -> !stablehlo.token
  return %0 : !stablehlo.token
}
