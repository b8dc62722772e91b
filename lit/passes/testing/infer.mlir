// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -hlo-test-infer -allow-unregistered-dialect -split-input-file | FileCheck %s

// Types from operands, with a bound that only one operand has.
// CHECK-LABEL: func.func @types
// CHECK: "hlo_test_infer.return_types"(%{{.*}}) {types0 = tensor<2x?xf32, #stablehlo.bounds<?, 4>>}
func.func @types(%a: tensor<2x?xf32, #stablehlo.bounds<?, 4>>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.add %a, %b : (tensor<2x?xf32, #stablehlo.bounds<?, 4>>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "hlo_test_infer.get_return_types"(%0) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----

// The operation that was asked is dead afterwards and goes.
// CHECK-LABEL: func.func @shapes
// CHECK-NOT: stablehlo
// CHECK: %[[SHAPE:.*]] = shape.shape_of %arg0
// CHECK: return %[[SHAPE]]
func.func @shapes(%a: tensor<?x3xf32>) -> tensor<2xindex> {
  %0 = stablehlo.abs %a : tensor<?x3xf32>
  %1 = "hlo_test_infer.reify_return_type_shapes"(%0) : (tensor<?x3xf32>) -> tensor<2xindex>
  return %1 : tensor<2xindex>
}

// -----

// CHECK-LABEL: func.func @components
// CHECK: "hlo_test_infer.return_type_components"(%{{.*}}) {types0 = tensor<?x3xf32>}
func.func @components(%a: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = stablehlo.abs %a : tensor<?x3xf32>
  %1 = "hlo_test_infer.get_return_type_components"(%0) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

// -----

// An argument says nothing, and neither does an operation that does not infer.
// CHECK-LABEL: func.func @nothing
// CHECK: hlo_test_infer.get_return_types
// CHECK: hlo_test_infer.reify_return_type_shapes
func.func @nothing(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<1xindex>) {
  %0 = "hlo_test_infer.get_return_types"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @f(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "hlo_test_infer.reify_return_type_shapes"(%1) : (tensor<4xf32>) -> tensor<1xindex>
  return %0, %2 : tensor<4xf32>, tensor<1xindex>
}
