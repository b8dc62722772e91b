// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of data movement ops, bounds in their inferred types, and their cheap folds.
// RUN: xla-opt %s | xla-opt | FileCheck %s
// RUN: xla-opt %s -mlir-print-op-generic | xla-opt | FileCheck %s
// RUN: xla-opt %s -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @text
func.func @text(%a: tensor<2x3xf32>, %z: tensor<f32>, %b: tensor<?x3xf32, #stablehlo.bounds<4, ?>>) {
  // CHECK: stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  // CHECK: stablehlo.constant() <{value = dense<1> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>
  %1 = "stablehlo.constant"() {value = dense<1> : tensor<2xi8>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  // CHECK: stablehlo.iota dim = 1 : tensor<2x3xi32>
  %2 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  // CHECK: stablehlo.broadcast %{{.*}}, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  %3 = stablehlo.broadcast %a, sizes = [4] : (tensor<2x3xf32>) -> tensor<4x2x3xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x5x3xf32>
  %4 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x5x3xf32>
  // CHECK: stablehlo.reshape %{{.*}} : (tensor<2x3xf32>) -> tensor<6xf32>
  %5 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0] : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 4>>
  %6 = stablehlo.transpose %b, dims = [1, 0] : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<3x?xf32, #stablehlo.bounds<?, 4>>
  // CHECK: stablehlo.slice %{{.*}} [0:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %7 = stablehlo.slice %a [0:1:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  // CHECK: stablehlo.pad %{{.*}}, %{{.*}}, low = [1, 0], high = [0, -1], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x2xf32>
  %8 = stablehlo.pad %a, %z, low = [1, 0], high = [0, -1], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x2xf32>
  // CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<2x3xf32>, tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<?x3xf32, #stablehlo.bounds<6, ?>>
  %9 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xf32>, tensor<?x3xf32, #stablehlo.bounds<4, ?>>) -> tensor<?x3xf32, #stablehlo.bounds<6, ?>>
  // CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<2x3xf32>
  %10 = stablehlo.reverse %a, dims = [0] : tensor<2x3xf32>
  return
}

// Newer MLIR writes one byte per boolean in hexadecimal; this one packs them.
// CHECK-LABEL: @byte_booleans
// CHECK: stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
func.func @byte_booleans() -> tensor<3xi1> {
  %0 = stablehlo.constant dense<"0x010001"> : tensor<3xi1>
  return %0 : tensor<3xi1>
}

// FOLD-LABEL: @identities
// FOLD-SAME: %[[A:.*]]: tensor<2x3xf32>, %[[Z:.*]]: tensor<f32>
func.func @identities(%a: tensor<2x3xf32>, %z: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %4 = stablehlo.pad %a, %z, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %5 = stablehlo.slice %a [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // FOLD-NEXT: return %[[A]], %[[A]], %[[A]], %[[A]]
  return %1, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// Not identities: another order of equal sizes; a dynamic size may shrink.
// FOLD-LABEL: @kept
// FOLD: stablehlo.transpose
// FOLD: stablehlo.slice
func.func @kept(%a: tensor<2x2xf32>, %b: tensor<?xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.slice %b [0:2] : (tensor<?xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<2xf32>
}

// FOLD-LABEL: @concatenate
// FOLD-SAME: %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<0xf32>
// FOLD-NEXT: %[[C:.*]] = stablehlo.concatenate %[[A]], %[[A]], %[[A]], dim = 0
// FOLD-NEXT: return %[[C]], %[[A]]
func.func @concatenate(%a: tensor<2xf32>, %b: tensor<0xf32>) -> (tensor<6xf32>, tensor<2xf32>) {
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = stablehlo.concatenate %0, %b, %a, dim = 0 : (tensor<4xf32>, tensor<0xf32>, tensor<2xf32>) -> tensor<6xf32>
  %2 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2xf32>, tensor<0xf32>) -> tensor<2xf32>
  return %1, %2 : tensor<6xf32>, tensor<2xf32>
}

// FOLD-LABEL: @constants
func.func @constants() -> (tensor<2x3xi32>, tensor<1x3xi32>) {
  // FOLD-DAG: stablehlo.constant dense<7> : tensor<2x3xi32>
  // FOLD-DAG: stablehlo.constant dense<0> : tensor<1x3xi32>
  %0 = stablehlo.constant dense<7> : tensor<i32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<i32>) -> tensor<2x3xi32>
  %2 = stablehlo.iota dim = 0 : tensor<1x3xi32>
  return %1, %2 : tensor<2x3xi32>, tensor<1x3xi32>
}
