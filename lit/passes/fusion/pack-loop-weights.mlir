// RUN: xla-opt %s -xla-fuse-kernels -xla-pack-loop-weights=width=16 -split-input-file | FileCheck %s

// Weights that lie by columns (as PyTorch keeps them) and by rows: both are packed before the loop; the kernels' results keep their shapes.
// CHECK-LABEL: func.func @recurrence
// CHECK: %[[P:.*]] = call @pack(%arg1) : (tensor<48x96xf32>) -> tensor<3x96x16xf32>
// CHECK: %[[Q:.*]] = call @pack_0(%arg2) : (tensor<48x96xf32>) -> tensor<6x48x16xf32>
// CHECK: stablehlo.while
// CHECK: %[[H:.*]] = func.call @tanh_{{[0-9]*}}(%{{.*}}, %[[P]]) : (tensor<3x96xf32>, tensor<3x96x16xf32>) -> tensor<3x48xf32>
// CHECK: func.call @dot_general_{{[0-9]*}}(%[[H]], %[[Q]]) : (tensor<3x48xf32>, tensor<6x48x16xf32>) -> tensor<3x96xf32>
// CHECK: func.func private @tanh_
// CHECK: %[[D:.*]] = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<3x96xf32>, tensor<3x96x16xf32>) -> tensor<3x3x16xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[D]] : (tensor<3x3x16xf32>) -> tensor<3x48xf32>
// CHECK: stablehlo.tanh %[[R]]
// CHECK: func.func private @pack(
// CHECK: %[[S:.*]] = stablehlo.reshape %arg0 : (tensor<48x96xf32>) -> tensor<3x16x96xf32>
// CHECK: stablehlo.transpose %[[S]], dims = [0, 2, 1]
func.func @recurrence(%h: tensor<3x96xf32>, %w: tensor<48x96xf32>, %v: tensor<48x96xf32>, %n: tensor<i32>) -> tensor<3x96xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %h) : tensor<i32>, tensor<3x96xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<3x96xf32>, tensor<48x96xf32>) -> tensor<3x48xf32>
      %b = stablehlo.tanh %a : tensor<3x48xf32>
      %c = stablehlo.dot_general %b, %v, contracting_dims = [1] x [0] : (tensor<3x48xf32>, tensor<48x96xf32>) -> tensor<3x96xf32>
      stablehlo.return %j, %c : tensor<i32>, tensor<3x96xf32>
    }
  return %0#1 : tensor<3x96xf32>
}

// -----

// What the loop computes is no weight; a single row and nine columns stay as they are.
// CHECK-LABEL: func.func @others
// CHECK-NOT: @pack
func.func @others(%h: tensor<96x96xf32>, %r: tensor<1x96xf32>, %w: tensor<96x96xf32>, %v: tensor<96x9xf32>, %n: tensor<i32>) -> (tensor<96x96xf32>, tensor<1x96xf32>, tensor<96x9xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<96x9xf32>
  %0:4 = stablehlo.while(%i = %zero, %x = %h, %y = %r, %z = %none) : tensor<i32>, tensor<96x96xf32>, tensor<1x96xf32>, tensor<96x9xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %a = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<96x96xf32>, tensor<96x96xf32>) -> tensor<96x96xf32>
      %b = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<1x96xf32>, tensor<96x96xf32>) -> tensor<1x96xf32>
      %c = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<96x96xf32>, tensor<96x9xf32>) -> tensor<96x9xf32>
      stablehlo.return %j, %a, %b, %c : tensor<i32>, tensor<96x96xf32>, tensor<1x96xf32>, tensor<96x9xf32>
    }
  return %0#1, %0#2, %0#3 : tensor<96x96xf32>, tensor<1x96xf32>, tensor<96x9xf32>
}

// -----

// A kernel that reads equal parts of the product's columns becomes one with it: a product for each part, with some of the panels.
// CHECK-LABEL: func.func @gates
// CHECK: %[[P:.*]] = call @pack(%arg1) : (tensor<96x32xf32>) -> tensor<6x32x16xf32>
// CHECK: stablehlo.while
// CHECK-NOT: func.call @dot_general
// CHECK: func.call @multiply_{{[0-9]*}}(%{{.*}}, %[[P]], %arg2) : (tensor<3x32xf32>, tensor<6x32x16xf32>, tensor<96xf32>) -> tensor<3x32xf32>
// CHECK: return %{{.*}} : tensor<3x32xf32>
// CHECK: func.func private @multiply_
// CHECK: %[[A:.*]] = stablehlo.slice %arg1 [0:2, 0:32, 0:16] : (tensor<6x32x16xf32>) -> tensor<2x32x16xf32>
// CHECK: stablehlo.dot_general %arg0, %[[A]], contracting_dims = [1] x [1] : (tensor<3x32xf32>, tensor<2x32x16xf32>) -> tensor<3x2x16xf32>
// CHECK: %[[C:.*]] = stablehlo.slice %arg2 [0:32] : (tensor<96xf32>) -> tensor<32xf32>
// CHECK: stablehlo.broadcast_in_dim %[[C]], dims = [1] : (tensor<32xf32>) -> tensor<3x32xf32>
// CHECK: stablehlo.slice %arg1 [4:6, 0:32, 0:16] : (tensor<6x32x16xf32>) -> tensor<2x32x16xf32>
// CHECK: stablehlo.slice %arg2 [64:96] : (tensor<96xf32>) -> tensor<32xf32>
func.func @gates(%h: tensor<3x32xf32>, %w: tensor<96x32xf32>, %b: tensor<96xf32>, %n: tensor<i32>) -> tensor<3x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %h) : tensor<i32>, tensor<3x32xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<3x32xf32>, tensor<96x32xf32>) -> tensor<3x96xf32>
      %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<96xf32>) -> tensor<3x96xf32>
      %d = stablehlo.add %a, %c : tensor<3x96xf32>
      %e = stablehlo.slice %d [0:3, 0:32] : (tensor<3x96xf32>) -> tensor<3x32xf32>
      %f = stablehlo.slice %d [0:3, 64:96] : (tensor<3x96xf32>) -> tensor<3x32xf32>
      %g = stablehlo.multiply %e, %f : tensor<3x32xf32>
      stablehlo.return %j, %g : tensor<i32>, tensor<3x32xf32>
    }
  return %0#1 : tensor<3x32xf32>
}

// -----

// Parts that overlap are no equal parts: the product keeps a kernel of its own.
// CHECK-LABEL: func.func @overlapping
// CHECK: %[[D:.*]] = func.call @dot_general_{{[0-9]*}}(
// CHECK: func.call @multiply_{{[0-9]*}}(%[[D]])
func.func @overlapping(%h: tensor<3x32xf32>, %w: tensor<96x32xf32>, %n: tensor<i32>) -> tensor<3x32xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %h) : tensor<i32>, tensor<3x32xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<3x32xf32>, tensor<96x32xf32>) -> tensor<3x96xf32>
      %e = stablehlo.slice %d [0:3, 0:32] : (tensor<3x96xf32>) -> tensor<3x32xf32>
      %f = stablehlo.slice %d [0:3, 16:48] : (tensor<3x96xf32>) -> tensor<3x32xf32>
      %g = stablehlo.multiply %e, %f : tensor<3x32xf32>
      stablehlo.return %j, %g : tensor<i32>, tensor<3x32xf32>
    }
  return %0#1 : tensor<3x32xf32>
}
