// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Canonical forms of reduce, sort and map.
// RUN: xla-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @reduce_over_nothing
// CHECK-NEXT: return %arg0
func.func @reduce_over_nothing(%x: tensor<2xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @reduce_with_unused_result
// CHECK: %[[R:.*]] = stablehlo.reduce(%arg1 init: %arg3)
// CHECK: return %[[R]]
func.func @reduce_with_unused_result(%x: tensor<2xf32>, %y: tensor<2xi32>, %z: tensor<f32>, %w: tensor<i32>) -> tensor<i32> {
  %0:2 = stablehlo.reduce(%x init: %z), (%y init: %w) across dimensions = [0] : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %1 = stablehlo.add %a, %b : tensor<f32>
    %2 = stablehlo.add %c, %d : tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}

// An argmax needs the values to find the index.
// CHECK-LABEL: @keeps_dependent_input
// CHECK: stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3)
func.func @keeps_dependent_input(%x: tensor<2xf32>, %y: tensor<2xi32>, %z: tensor<f32>, %w: tensor<i32>) -> tensor<i32> {
  %0:2 = stablehlo.reduce(%x init: %z), (%y init: %w) across dimensions = [0] : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %p = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    %2 = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<i32>
}

// CHECK-LABEL: @sort
// CHECK: "stablehlo.sort"(%arg0) <{dimension = 1 : i64}>
func.func @sort(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#0 : tensor<2x3xf32>
}

// CHECK-LABEL: @map_of_outside_value
// CHECK: stablehlo.broadcast_in_dim %arg1, dims = []
func.func @map_of_outside_value(%x: tensor<2xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %z : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
