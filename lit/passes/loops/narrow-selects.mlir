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

// -----

// The choice needs the array after its update: the update is taken back where it is not chosen.
// CHECK-LABEL: @taken_back
// CHECK: stablehlo.while(%[[A:.*]] = %arg0, %[[I:.*]] = %arg2)
// CHECK: do
// CHECK: %[[OLD:.*]] = stablehlo.dynamic_slice %[[A]], %[[I]], sizes = [2]
// CHECK: %[[B:.*]] = stablehlo.dynamic_update_slice %[[A]], %arg1, %[[I]]
// CHECK: %[[X:.*]] = stablehlo.dynamic_slice %[[B]], %arg2, sizes = [1]
// CHECK: %[[P:.*]] = stablehlo.compare
// CHECK: %[[P1:.*]] = stablehlo.reshape %[[P]]
// CHECK: %[[NOW:.*]] = stablehlo.dynamic_slice %[[B]], %[[I]], sizes = [2]
// CHECK: %[[V:.*]] = stablehlo.select %[[P1]], %[[NOW]], %[[OLD]] : tensor<i1>, tensor<2xf32>
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %[[B]], %[[V]], %[[I]]
// CHECK: stablehlo.return %[[R]]
func.func @taken_back(%a0: tensor<64xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %l: tensor<1xf32>) -> tensor<64xf32> {
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %a0, %k = %i) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %b = stablehlo.dynamic_update_slice %a, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %x = stablehlo.dynamic_slice %b, %i, sizes = [1] : (tensor<64xf32>, tensor<i32>) -> tensor<1xf32>
    %q = stablehlo.compare LT, %x, %l : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
    %p = stablehlo.reshape %q : (tensor<1xi1>) -> tensor<i1>
    %r = stablehlo.select %p, %b, %a : tensor<i1>, tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %r, %next : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}

// -----

// Scatters, the last one first: what they wrote is replaced. The predicate is one per row.
// CHECK-LABEL: @taken_back_in_reverse
// CHECK: stablehlo.while(%[[A:.*]] = %arg0
// CHECK: do
// CHECK: %[[OLD1:.*]] = "stablehlo.gather"(%[[A]], %arg1)
// CHECK: %[[B:.*]] = "stablehlo.scatter"(%[[A]], %arg1, %arg3)
// CHECK: %[[W:.*]] = "stablehlo.gather"(%[[B]], %arg2)
// CHECK: %[[OLD2:.*]] = "stablehlo.gather"(%[[B]], %arg2)
// CHECK: %[[C:.*]] = "stablehlo.scatter"(%[[B]], %arg2, %[[W]])
// CHECK: %[[NOW2:.*]] = "stablehlo.gather"(%[[C]], %arg2)
// CHECK: %[[V2:.*]] = stablehlo.select %{{.*}}, %[[OLD2]], %[[NOW2]] : tensor<i1>
// CHECK: %[[D:.*]] = "stablehlo.scatter"(%[[C]], %arg2, %[[V2]])
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %[[Y:.*]]: tensor<f32>):
// CHECK-NEXT: stablehlo.return %[[Y]]
// CHECK: %[[NOW1:.*]] = "stablehlo.gather"(%[[D]], %arg1)
// CHECK: %[[V1:.*]] = stablehlo.select %{{.*}}, %[[OLD1]], %[[NOW1]]
// CHECK: %[[R:.*]] = "stablehlo.scatter"(%[[D]], %arg1, %[[V1]])
// CHECK: stablehlo.return %[[R]]
func.func @taken_back_in_reverse(%a0: tensor<64x3xf32>, %i: tensor<1xi32>, %j: tensor<1xi32>, %u: tensor<3xf32>, %p: tensor<i1>) -> tensor<64x3xf32> {
  %n = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%a = %a0, %k = %one) : tensor<64x3xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %b = "stablehlo.scatter"(%a, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<64x3xf32>
    %w = "stablehlo.gather"(%b, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>,
        slice_sizes = array<i64: 1, 3>}> : (tensor<64x3xf32>, tensor<1xi32>) -> tensor<3xf32>
    %d = "stablehlo.scatter"(%b, %j, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0]>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x3xf32>, tensor<1xi32>, tensor<3xf32>) -> tensor<64x3xf32>
    %r = stablehlo.select %p, %a, %d : tensor<i1>, tensor<64x3xf32>
    %next = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %r, %next : tensor<64x3xf32>, tensor<i32>
  }
  return %0#0 : tensor<64x3xf32>
}

// -----

// Nothing is taken back outside of loops, nor where something else than updates is between.
// CHECK-LABEL: @not_taken_back
// CHECK: stablehlo.select %{{.*}} : tensor<i1>, tensor<64xf32>
// CHECK: stablehlo.while
// CHECK: stablehlo.select %{{.*}} : tensor<i1>, tensor<64xf32>
func.func @not_taken_back(%a0: tensor<64xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %q: tensor<i1>) -> (tensor<64xf32>, tensor<1xf32>) {
  %n = stablehlo.constant dense<9> : tensor<i32>
  %b0 = stablehlo.dynamic_update_slice %a0, %u, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %x0 = stablehlo.dynamic_slice %b0, %n, sizes = [1] : (tensor<64xf32>, tensor<i32>) -> tensor<1xf32>
  %r0 = stablehlo.select %q, %b0, %a0 : tensor<i1>, tensor<64xf32>
  %0:3 = stablehlo.while(%a = %r0, %k = %i, %l = %x0) : tensor<64xf32>, tensor<i32>, tensor<1xf32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %b = stablehlo.dynamic_update_slice %a, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %x = stablehlo.dynamic_slice %b, %i, sizes = [1] : (tensor<64xf32>, tensor<i32>) -> tensor<1xf32>
    %m = stablehlo.negate %b : tensor<64xf32>
    %r = stablehlo.select %q, %m, %a : tensor<i1>, tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %r, %next, %x : tensor<64xf32>, tensor<i32>, tensor<1xf32>
  }
  return %0#0, %0#2 : tensor<64xf32>, tensor<1xf32>
}

// -----

// Of a number that is compared with all elements, the window needs no array.
// CHECK-LABEL: @broadcast_in_mask
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<2xf32>
// CHECK-NOT: tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
// CHECK: stablehlo.compare LT, %{{.*}}, %[[W]]
func.func @broadcast_in_mask(%a: tensor<64xf32>, %u: tensor<2xf32>, %i: tensor<i32>, %x: tensor<f32>) -> tensor<64xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
  %b = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<64xf32>
  %p = stablehlo.compare LT, %a, %b : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
  %1 = stablehlo.select %p, %0, %a : tensor<64xi1>, tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// Windows of two that are clamped into the array lie inside: they are read and chosen. One element further they would not.
// CHECK-LABEL: @clamped_windows
// CHECK: %[[I:.*]] = stablehlo.clamp
// CHECK: %[[W:.*]] = "stablehlo.gather"(%arg0, %[[I]])
// CHECK: %[[V:.*]] = stablehlo.select %{{.*}}, %arg1, %[[W]] : tensor<3x2xi1>
// CHECK: "stablehlo.scatter"(%arg0, %[[I]], %[[V]])
// CHECK-LABEL: @windows_partly_outside
// CHECK: "stablehlo.scatter"(%arg0, %{{.*}}, %arg1)
// CHECK: stablehlo.select %{{.*}} : tensor<3x64xi1>
func.func @clamped_windows(%a: tensor<3x64xf32>, %u: tensor<3x2xf32>, %i: tensor<1xi32>, %p: tensor<3xi1>) -> tensor<3x64xf32> {
  %least = stablehlo.constant dense<0> : tensor<1xi32>
  %most = stablehlo.constant dense<62> : tensor<1xi32>
  %j = stablehlo.clamp %least, %i, %most : tensor<1xi32>
  %0 = "stablehlo.scatter"(%a, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<3x64xf32>, tensor<1xi32>, tensor<3x2xf32>) -> tensor<3x64xf32>
  %b = stablehlo.broadcast_in_dim %p, dims = [0] : (tensor<3xi1>) -> tensor<3x64xi1>
  %1 = stablehlo.select %b, %0, %a : tensor<3x64xi1>, tensor<3x64xf32>
  return %1 : tensor<3x64xf32>
}
func.func @windows_partly_outside(%a: tensor<3x64xf32>, %u: tensor<3x2xf32>, %i: tensor<1xi32>, %p: tensor<3xi1>) -> tensor<3x64xf32> {
  %least = stablehlo.constant dense<0> : tensor<1xi32>
  %most = stablehlo.constant dense<63> : tensor<1xi32>
  %j = stablehlo.clamp %least, %i, %most : tensor<1xi32>
  %0 = "stablehlo.scatter"(%a, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1]>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<3x64xf32>, tensor<1xi32>, tensor<3x2xf32>) -> tensor<3x64xf32>
  %b = stablehlo.broadcast_in_dim %p, dims = [0] : (tensor<3xi1>) -> tensor<3x64xi1>
  %1 = stablehlo.select %b, %0, %a : tensor<3x64xi1>, tensor<3x64xf32>
  return %1 : tensor<3x64xf32>
}

// -----

// The gradient of a choice: what is left is one update, and +0.0 for -0.0, for the sum makes that. What is read of a choice is chosen.
// CHECK-LABEL: @array_or_zeros
// CHECK: stablehlo.while(%[[A:.*]] = %arg0
// CHECK: do
// CHECK: %[[X:.*]] = stablehlo.dynamic_slice %[[A]], %arg3, sizes = [2]
// CHECK: %[[Y:.*]] = stablehlo.select %arg2, %[[X]], %{{.*}} : tensor<i1>, tensor<2xf32>
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice %[[A]], %arg3, sizes = [2]
// CHECK: %[[V:.*]] = stablehlo.select %arg2, %{{.*}}, %[[W]] : tensor<i1>, tensor<2xf32>
// CHECK: %[[U:.*]] = stablehlo.dynamic_update_slice %[[A]], %[[V]], %arg3
// CHECK: %[[S:.*]] = stablehlo.add %[[U]], %{{.*}} : tensor<64xf32>
// CHECK: stablehlo.return %[[S]], %{{.*}}, %[[Y]]
func.func @array_or_zeros(%a0: tensor<64xf32>, %u: tensor<2xf32>, %p: tensor<i1>, %i: tensor<i32>) -> (tensor<64xf32>, tensor<2xf32>) {
  %n = stablehlo.constant dense<9> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0:3 = stablehlo.while(%a = %a0, %k = %i, %l = %u) : tensor<64xf32>, tensor<i32>, tensor<2xf32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %x = stablehlo.select %p, %zeros, %a : tensor<i1>, tensor<64xf32>
    %y = stablehlo.select %p, %a, %zeros : tensor<i1>, tensor<64xf32>
    %w = stablehlo.dynamic_slice %y, %i, sizes = [2] : (tensor<64xf32>, tensor<i32>) -> tensor<2xf32>
    %z = stablehlo.dynamic_update_slice %y, %zero, %i : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %s = stablehlo.add %x, %z : tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %s, %next, %w : tensor<64xf32>, tensor<i32>, tensor<2xf32>
  }
  return %0#0, %0#2 : tensor<64xf32>, tensor<2xf32>
}

// -----

// Where the predicate holds, both are arrays.
// CHECK-LABEL: @array_and_array
// CHECK: do
// CHECK: %[[X:.*]] = stablehlo.select %arg2, %{{.*}} : tensor<i1>, tensor<64xf32>
// CHECK: stablehlo.add %[[X]], %{{.*}} : tensor<64xf32>
func.func @array_and_array(%a0: tensor<64xf32>, %u: tensor<2xf32>, %p: tensor<i1>, %i: tensor<i32>) -> tensor<64xf32> {
  %n = stablehlo.constant dense<9> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %0:2 = stablehlo.while(%a = %a0, %k = %i) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %x = stablehlo.select %p, %a, %zeros : tensor<i1>, tensor<64xf32>
    %s = stablehlo.add %x, %a : tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %s, %next : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}

// -----

// A loop of which one number chooses all results runs where they are chosen.
// CHECK-LABEL: @chosen_loop
// CHECK: do
// CHECK: %[[R:.*]]:2 = "stablehlo.if"(%arg1) ({
// CHECK: stablehlo.return %[[A:.*]], %{{.*}} : tensor<64xf32>, tensor<i32>
// CHECK: }, {
// CHECK: %[[W:.*]]:2 = stablehlo.while(
// CHECK: stablehlo.return %[[W]]#0, %[[W]]#1 : tensor<64xf32>, tensor<i32>
// CHECK-NOT: stablehlo.select
// CHECK: stablehlo.return %[[R]]#0
// The second one is read by others, too.
// CHECK-LABEL: @read_loop
// CHECK-NOT: stablehlo.if
// CHECK: stablehlo.select %{{.*}} : tensor<i1>, tensor<64xf32>
func.func @chosen_loop(%a0: tensor<64xf32>, %p: tensor<i1>, %u: tensor<2xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %a0, %k = %zero) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%b = %a, %l = %k) : tensor<64xf32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %l, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %d = stablehlo.dynamic_update_slice %b, %u, %l : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
      %next = stablehlo.add %l, %l : tensor<i32>
      stablehlo.return %d, %next : tensor<64xf32>, tensor<i32>
    }
    %r = stablehlo.select %p, %a, %1#0 : tensor<i1>, tensor<64xf32>
    %s = stablehlo.select %p, %k, %1#1 : tensor<i1>, tensor<i32>
    stablehlo.return %r, %s : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}
func.func @read_loop(%a0: tensor<64xf32>, %p: tensor<i1>, %u: tensor<2xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %a0, %k = %zero) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%b = %a, %l = %k) : tensor<64xf32>, tensor<i32>
    cond {
      %c = stablehlo.compare LT, %l, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %d = stablehlo.dynamic_update_slice %b, %u, %l : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
      %next = stablehlo.add %l, %l : tensor<i32>
      stablehlo.return %d, %next : tensor<64xf32>, tensor<i32>
    }
    %r = stablehlo.select %p, %1#0, %a : tensor<i1>, tensor<64xf32>
    stablehlo.return %r, %1#1 : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}
