// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-narrow-selects -split-input-file | FileCheck %s

// The window is chosen, not the array.
// CHECK-LABEL: @scalar
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice %arg0, %arg2, sizes = [2]
// CHECK: %[[V:.*]] = stablehlo.select %arg3, %arg1, %[[W]] : tensor<i1>, tensor<2xf32>
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %arg0, %[[V]], %arg2
// CHECK-NEXT: return %[[R]]
func.func @scalar(%a: tensor<64xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %p: tensor<i1>) -> tensor<64xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %1 = stablehlo.select %p, %0, %a : tensor<i1>, tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// A predicate per element: its window.
// CHECK-LABEL: @elements
// CHECK-DAG: %[[W:.*]] = stablehlo.dynamic_slice %arg0, %arg2, sizes = [2]
// CHECK-DAG: %[[P:.*]] = stablehlo.dynamic_slice %arg3, %arg2, sizes = [2] : (tensor<64xi1>
// CHECK-DAG: %[[Q:.*]] = stablehlo.dynamic_slice %arg4, %arg2, sizes = [2] : (tensor<64xi1>
// CHECK: %[[B:.*]] = stablehlo.and %[[P]], %[[Q]] : tensor<2xi1>
// CHECK: stablehlo.select %[[B]], %[[W]], %arg1 : tensor<2xi1>, tensor<2xf32>
func.func @elements(%a: tensor<64xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %p: tensor<64xi1>, %q: tensor<64xi1>) -> tensor<64xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %b = stablehlo.and %p, %q : tensor<64xi1>
  %1 = stablehlo.select %b, %a, %0 : tensor<64xi1>, tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// One choice per index vector: elsewhere indices are out of bounds, whatever the computation is. As jax.vmap writes it, with comparisons of
// broadcasts.
// CHECK-LABEL: @redirected
// CHECK-DAG: %[[OUT:.*]] = stablehlo.constant dense<64> : tensor<4x1xi32>
// CHECK-DAG: %[[ONES:.*]] = stablehlo.constant dense<1> : tensor<4xi32>
// CHECK: %[[B:.*]] = stablehlo.compare LT, %arg3, %[[ONES]] : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
// CHECK: %[[P:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [0] : (tensor<4xi1>) -> tensor<4x1xi1>
// CHECK: %[[I:.*]] = stablehlo.select %[[P]], %[[OUT]], %arg2
// CHECK: "stablehlo.scatter"(%arg0, %[[I]], %arg1)
// CHECK-NOT: stablehlo.select
// CHECK: return
func.func @redirected(%a: tensor<4x64xf32>, %u: tensor<4xf32>, %i: tensor<4x1xi32>, %k: tensor<4xi32>) -> tensor<4x64xf32> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.subtract %y, %x : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x64xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<4x64xf32>
  %ones = stablehlo.constant dense<1> : tensor<4x64xi32>
  %wide = stablehlo.broadcast_in_dim %k, dims = [0] : (tensor<4xi32>) -> tensor<4x64xi32>
  %b = stablehlo.compare LT, %wide, %ones : (tensor<4x64xi32>, tensor<4x64xi32>) -> tensor<4x64xi1>
  %1 = stablehlo.select %b, %a, %0 : tensor<4x64xi1>, tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}

// -----

// A choice per column of the window: a sum adds -0, an assignment writes the old number again.
// CHECK-LABEL: @columns
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<8xf32>
// CHECK: %[[V:.*]] = stablehlo.select %{{.*}}, %arg1, %[[ZERO]] : tensor<8xi1>, tensor<8xf32>
// CHECK: %[[S:.*]] = "stablehlo.scatter"(%arg0, %arg2, %[[V]])
// CHECK: %[[W:.*]] = "stablehlo.gather"(%[[S]], %arg2)
// CHECK: %[[N:.*]] = stablehlo.select %{{.*}}, %arg1, %[[W]] : tensor<8xi1>, tensor<8xf32>
// CHECK: "stablehlo.scatter"(%[[S]], %arg2, %[[N]])
func.func @columns(%a: tensor<64x8xf32>, %u: tensor<8xf32>, %i: tensor<1xi32>, %p: tensor<8xi1>) -> tensor<64x8xf32> {
  %0 = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<64x8xf32>
  %1 = "stablehlo.scatter"(%0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<64x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<64x8xf32>
  %b = stablehlo.broadcast_in_dim %p, dims = [1] : (tensor<8xi1>) -> tensor<64x8xi1>
  %2 = stablehlo.select %b, %1, %a : tensor<64x8xi1>, tensor<64x8xf32>
  return %2 : tensor<64x8xf32>
}

// -----

// Both sides are updates, one select within another.
// CHECK-LABEL: @nested
// CHECK-NOT: tensor<64xf32>, tensor<64xf32>
// CHECK-COUNT-3: stablehlo.dynamic_update_slice
// CHECK-NOT: tensor<i1>, tensor<64xf32>
// CHECK: return
func.func @nested(%a: tensor<64xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %j: tensor<i32>, %p: tensor<i1>, %q: tensor<i1>) -> tensor<64xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %1 = stablehlo.dynamic_update_slice %a, %u, %j : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %2 = stablehlo.select %p, %0, %1 : tensor<i1>, tensor<64xf32>
  %3 = stablehlo.dynamic_update_slice %2, %u, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %4 = stablehlo.select %q, %a, %3 : tensor<i1>, tensor<64xf32>
  return %4 : tensor<64xf32>
}

// -----

// Left alone: an update that others read, sides of different arrays, and a window of three elements that a predicate per element cuts, for
// it may lie partly outside.
// CHECK-LABEL: @alone
// CHECK-COUNT-3: stablehlo.select {{.*}} tensor<64xf32>
func.func @alone(%a: tensor<64xf32>, %b: tensor<64xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %p: tensor<i1>, %m: tensor<64xi1>, %k: tensor<1xi32>, %w: tensor<3xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %1 = stablehlo.select %p, %0, %a : tensor<i1>, tensor<64xf32>
  %2 = stablehlo.dynamic_update_slice %b, %u, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %3 = stablehlo.select %p, %2, %a : tensor<i1>, tensor<64xf32>
  %4 = "stablehlo.scatter"(%b, %k, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<64xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<64xf32>
  %5 = stablehlo.select %m, %4, %b : tensor<64xi1>, tensor<64xf32>
  return %0, %1, %3, %5 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// -----

// Sides that need no operand, and the same value on both of them.
// CHECK-LABEL: @constants
// CHECK-COUNT-2: stablehlo.select
func.func @constants(%p: tensor<i1>, %a: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<64xf32>
  %i = stablehlo.iota dim = 0 : tensor<64xf32>
  %0 = stablehlo.select %p, %i, %one : tensor<i1>, tensor<64xf32>
  %1 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}
