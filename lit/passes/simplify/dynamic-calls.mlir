// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The custom calls of JAX's shape-polymorphic programs get static shapes, then become operations.
// RUN: xla-opt %s -stablehlo-refine-shapes -stablehlo-canonicalize-dynamism -split-input-file | FileCheck %s

// CHECK-LABEL: @main
// CHECK-NEXT: %{{.*}}, %[[I:.*]] = chlo.top_k(%arg0, k = 3) : tensor<4x9xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
// CHECK-NEXT: return %{{.*}}, %[[I]] : tensor<4x3xf32>, tensor<4x3xi32>
func.func @main(%x: tensor<4x9xf32>) -> (tensor<4x?xf32>, tensor<4x?xi32>) {
  %k = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4x9xf32>, tensor<i32>) -> (tensor<4x?xf32>, tensor<4x?xi32>)
  return %0#0, %0#1 : tensor<4x?xf32>, tensor<4x?xi32>
}

// -----
// CHECK-LABEL: @main
// CHECK-NEXT: stablehlo.rng_bit_generator %arg0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x4xui32>)
func.func @main(%s: tensor<2xui64>) -> tensor<?x4xui32> {
  %shape = stablehlo.constant dense<[5, 4]> : tensor<2xi32>
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%s, %shape) {api_version = 2 : i32, rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<?x4xui32>)
  return %0#1 : tensor<?x4xui32>
}

// -----
// 5 + 1 + 0 padded, windows of 2 every 2.
// CHECK-LABEL: @main
// CHECK: "stablehlo.reduce_window"(%arg0, %arg1) <{base_dilations = array<i64: 1>, padding = dense<{{\[\[}}1, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}>
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK-NEXT: stablehlo.return %[[S]]
// CHECK-NEXT: (tensor<5xf32>, tensor<f32>) -> tensor<3xf32>
func.func @main(%x: tensor<5xf32>, %init: tensor<f32>) -> tensor<?xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %padding = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %two, %two, %one, %one, %padding) {called_computations = [@add]} : (tensor<5xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// -----
// k moves into the configuration of the static call.
// CHECK-LABEL: @main
// CHECK: stablehlo.custom_call @ApproxTopK(%arg0, %arg1, %arg2, %arg3) {called_computations = [@gt], mhlo.backend_config = {reduction_dim = 0 : i64, top_k = 3 : i64}}
// CHECK-SAME: -> (tensor<3xf32>, tensor<3xi32>)
func.func @main(%x: tensor<8xf32>, %i: tensor<8xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %k = stablehlo.constant dense<3> : tensor<i32>
  %s = stablehlo.constant dense<3> : tensor<1xi32>
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%x, %i, %a, %b, %k, %s, %s) {called_computations = [@gt], indices_of_shape_operands = dense<[5, 6]> : tensor<2xi64>, mhlo.backend_config = {reduction_dim = 0 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<?xf32>, tensor<?xi32>)
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xi32>
}
func.func private @gt(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----
// An amount that is not known stays an operand.
// CHECK-LABEL: @main
// CHECK: stablehlo.custom_call @stablehlo.dynamic_top_k(%arg0, %arg1)
func.func @main(%x: tensor<4x9xf32>, %k: tensor<i32>) -> tensor<4x?xf32> {
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4x9xf32>, tensor<i32>) -> (tensor<4x?xf32>, tensor<4x?xi32>)
  return %0#0 : tensor<4x?xf32>
}
