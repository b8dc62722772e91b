// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -hlo-test-speculatability -allow-unregistered-dialect | FileCheck %s

// Claims that hold go, with the operations that they are about.
// CHECK-LABEL: func.func @hold
// CHECK-NEXT: return
func.func @hold(%static: tensor<2x3xf32>, %dynamic: tensor<?x3xf32>, %zero: tensor<f32>) {
  %0 = stablehlo.tanh %static : tensor<2x3xf32>
  "hlo_test_speculatability.is_speculatable"(%0) : (tensor<2x3xf32>) -> ()
  %1 = stablehlo.tanh %static : (tensor<2x3xf32>) -> tensor<?x3xf32>
  "hlo_test_speculatability.is_speculatable"(%1) : (tensor<?x3xf32>) -> ()
  %3 = stablehlo.tanh %dynamic : tensor<?x3xf32>
  "hlo_test_speculatability.is_speculatable"(%3) : (tensor<?x3xf32>) -> ()
  %5 = stablehlo.multiply %static, %static : tensor<2x3xf32>
  "hlo_test_speculatability.is_speculatable"(%5) : (tensor<2x3xf32>) -> ()
  %6 = stablehlo.reduce(%static init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  "hlo_test_speculatability.is_recursively_speculatable"(%6) : (tensor<2xf32>) -> ()
  return
}

// Claims that do not hold stay.
// CHECK-LABEL: func.func @stay
// CHECK: stablehlo.tanh
// CHECK: hlo_test_speculatability.is_not_speculatable
// CHECK: hlo_test_speculatability.is_recursively_speculatable
// CHECK: hlo_test_speculatability.is_speculatable
func.func @stay(%static: tensor<2xf32>) {
  %0 = stablehlo.tanh %static : tensor<2xf32>
  "hlo_test_speculatability.is_not_speculatable"(%0) : (tensor<2xf32>) -> ()
  %1 = stablehlo.tanh %static : tensor<2xf32>
  "hlo_test_speculatability.is_recursively_speculatable"(%1) : (tensor<2xf32>) -> ()
  "hlo_test_speculatability.is_speculatable"(%static) : (tensor<2xf32>) -> ()
  return
}

// An operation may fail where its result states a size that its operand does not: sizes of transpose move, those of
// concatenate add up along its dimension and agree in the others.
// CHECK-LABEL: func.func @data_movement
// CHECK-NEXT: return
func.func @data_movement(%static: tensor<2x3xf32>, %dynamic: tensor<?x3xf32>) {
  %0 = "stablehlo.transpose"(%dynamic) {permutation = array<i64: 1, 0>} : (tensor<?x3xf32>) -> tensor<3x?xf32>
  "hlo_test_speculatability.is_speculatable"(%0) : (tensor<3x?xf32>) -> ()
  %1 = "stablehlo.transpose"(%dynamic) {permutation = array<i64: 1, 0>} : (tensor<?x3xf32>) -> tensor<3x2xf32>
  "hlo_test_speculatability.is_not_speculatable"(%1) : (tensor<3x2xf32>) -> ()
  %2 = "stablehlo.concatenate"(%static, %dynamic) {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  "hlo_test_speculatability.is_speculatable"(%2) : (tensor<?x3xf32>) -> ()
  %3 = "stablehlo.concatenate"(%static, %dynamic) {dimension = 0 : i64} : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<5x3xf32>
  "hlo_test_speculatability.is_not_speculatable"(%3) : (tensor<5x3xf32>) -> ()
  %4 = "stablehlo.concatenate"(%static, %dynamic) {dimension = 1 : i64} : (tensor<2x3xf32>, tensor<?x3xf32>) -> tensor<2x6xf32>
  "hlo_test_speculatability.is_not_speculatable"(%4) : (tensor<2x6xf32>) -> ()
  return
}
