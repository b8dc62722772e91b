// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textual form and canonical forms of dynamic operations.
// RUN: xla-opt %s | FileCheck %s
// RUN: xla-opt %s --mlir-print-op-generic | xla-opt | FileCheck %s
// RUN: xla-opt %s --emit-bytecode | xla-opt | FileCheck %s
// RUN: xla-opt %s -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @text
// CHECK: stablehlo.dynamic_broadcast_in_dim %arg0, %arg1, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
// CHECK: stablehlo.dynamic_reshape %arg0, %arg1 : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK: stablehlo.dynamic_iota %arg1, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
// CHECK: stablehlo.dynamic_pad %arg0, %arg2, %arg1, %arg1, %arg1 : (tensor<?x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK: stablehlo.real_dynamic_slice %arg0, %arg1, %arg1, %arg1 : (tensor<?x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
// CHECK: stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
// CHECK: stablehlo.set_dimension_size %arg0, %{{.*}}, dim = 1 : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x?xf32, #stablehlo.bounds<?, 3>>
func.func @text(%x: tensor<?x3xf32>, %s: tensor<2xi64>, %z: tensor<f32>) -> (tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32, #stablehlo.bounds<?, 3>>) {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %1 = stablehlo.dynamic_reshape %x, %s : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %2 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
  %3 = stablehlo.dynamic_pad %x, %z, %s, %s, %s : (tensor<?x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %4 = stablehlo.real_dynamic_slice %x, %s, %s, %s : (tensor<?x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  %5 = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %6 = stablehlo.set_dimension_size %x, %5, dim = 1 : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x?xf32, #stablehlo.bounds<?, 3>>
  return %0, %1, %2, %3, %4, %6 : tensor<?x3xf32>, tensor<?x?xf32>, tensor<?x?xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32, #stablehlo.bounds<?, 3>>
}

// FOLD-LABEL: @static
// FOLD: stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// FOLD: stablehlo.reshape %arg1 : (tensor<2x3xf32>) -> tensor<3x2xf32>
// FOLD: stablehlo.iota dim = 1 : tensor<2x3xi32>
// FOLD: stablehlo.pad %arg1, %arg2, low = [1, 0], high = [0, 0], interior = [0, 0]
// FOLD: stablehlo.slice %arg1 [1:2, 0:1]
func.func @static(%v: tensor<3xf32>, %x: tensor<2x3xf32>, %z: tensor<f32>, %s: tensor<2xi64>) -> (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xi32>, tensor<3x3xf32>, tensor<1x1xf32>) {
  %10 = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %00 = stablehlo.constant dense<[0, 0]> : tensor<2xi64>
  %21 = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
  %11 = stablehlo.constant dense<[1, 1]> : tensor<2xi64>
  %0 = stablehlo.dynamic_broadcast_in_dim %v, %s, dims = [1] : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %1 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  %2 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<2x3xi32>
  %3 = stablehlo.dynamic_pad %x, %z, %10, %00, %00 : (tensor<2x3xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x3xf32>
  %4 = stablehlo.real_dynamic_slice %x, %10, %21, %11 : (tensor<2x3xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xi32>, tensor<3x3xf32>, tensor<1x1xf32>
}

// FOLD-LABEL: @sizes
// FOLD: %[[C:.*]] = stablehlo.constant dense<3> : tensor<i32>
// FOLD-NEXT: return %[[C]], %arg0
func.func @sizes(%x: tensor<?x3xf32>) -> (tensor<i32>, tensor<?x3xf32>) {
  %0 = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x3xf32>) -> tensor<i32>
  %1 = stablehlo.set_dimension_size %x, %0, dim = 1 : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x3xf32>
  return %0, %1 : tensor<i32>, tensor<?x3xf32>
}

// A dynamic dimension may expand unless the operation says that it does not.
// FOLD-LABEL: @identity
// FOLD: %[[KEPT:.*]] = stablehlo.dynamic_broadcast_in_dim
// FOLD: return %arg0, %[[KEPT]]
func.func @identity(%x: tensor<?x3xf32>, %s: tensor<2xi64>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] {known_nonexpanding_dimensions = array<i64: 0>} : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %1 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}
