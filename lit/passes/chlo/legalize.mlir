// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape of the decompositions: what is computed in which type, dynamic shapes, what is left alone.
// RUN: xla-opt %s -chlo-legalize-to-stablehlo | FileCheck %s

// Narrow floats are computed in f32 and rounded once.
// CHECK-LABEL: @narrow
// CHECK: stablehlo.convert %{{.*}} : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NOT: bf16
// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
func.func @narrow(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = chlo.atanh %x : tensor<4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// A static broadcast needs no shape computation, and none of the operand that has the shape already.
// CHECK-LABEL: @static_broadcast
// CHECK-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3xf32>
// CHECK-NEXT: %[[BB:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1]
// CHECK-NEXT: stablehlo.add %[[A]], %[[BB]]
func.func @static_broadcast(%a: tensor<2x3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = chlo.broadcast_add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @dynamic_broadcast
// CHECK: %[[S:.*]] = shape.broadcast
// CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %[[S]], dims = [0]
// CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %[[S]], dims = [0]
// CHECK: stablehlo.multiply
func.func @dynamic_broadcast(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = chlo.broadcast_multiply %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @dynamic_constant
// CHECK: stablehlo.dynamic_broadcast_in_dim
// CHECK: stablehlo.atan2
func.func @dynamic_constant(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = chlo.atan %a : tensor<?xf32> -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// StableHLO stays.
// CHECK-LABEL: @untouched
// CHECK-NEXT: stablehlo.tanh
// CHECK-NEXT: return
func.func @untouched(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.tanh %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}
