// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-narrow-sums -split-input-file | FileCheck %s

// What starts as +0.0 and is only added to is never -0.0: the window is added.
// CHECK-LABEL: @window
// CHECK: stablehlo.while(%[[A:.*]] = %{{.*}}, %[[I:.*]] = %arg1)
// CHECK: do
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice %[[A]], %[[I]], sizes = [2]
// CHECK: %[[V:.*]] = stablehlo.add %[[W]], %arg0 : tensor<2xf32>
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %[[A]], %[[V]], %[[I]]
// CHECK: stablehlo.return %[[R]]
func.func @window(%u: tensor<2xf32>, %i: tensor<i32>) -> tensor<64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %zeros, %k = %i) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %r = stablehlo.add %a, %f : tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %r, %next : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}

// -----

// Two sums in a row, one of them with a scatter, on either side.
// CHECK-LABEL: @chain
// CHECK: stablehlo.while(%[[A:.*]] = %{{.*}}, %[[I:.*]] = %arg1)
// CHECK: do
// CHECK: %[[S:.*]] = "stablehlo.scatter"(%[[A]], %arg2, %arg0)
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<f32>)
// CHECK-NEXT: %[[B:.*]] = stablehlo.add %[[Y]], %[[X]]
// CHECK-NEXT: return %[[B]]
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice %[[S]], %[[I]], sizes = [2]
// CHECK: %[[V:.*]] = stablehlo.add %[[W]], %arg0 : tensor<2xf32>
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %[[S]], %[[V]], %[[I]]
// CHECK: stablehlo.return %[[R]]
func.func @chain(%u: tensor<2xf32>, %i: tensor<i32>, %places: tensor<2x1xi32>) -> tensor<64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %zeros, %k = %i) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %g = "stablehlo.scatter"(%zeros, %places, %u) <{unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<64xf32>
    %f = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %b = stablehlo.add %g, %a : tensor<64xf32>
    %r = stablehlo.add %b, %f : tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %r, %next : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}

// -----

// Neutral whatever the array holds: -0.0 added, +0.0 subtracted, one multiplied, the least integer.
// CHECK-LABEL: @neutral
// CHECK: do
// CHECK-COUNT-4: stablehlo.dynamic_slice
// CHECK-NOT: stablehlo.{{add|subtract|multiply|maximum}} {{.*}} : tensor<64x
// CHECK: stablehlo.return
func.func @neutral(%a0: tensor<64xf32>, %b0: tensor<64xi32>, %u: tensor<2xf32>, %v: tensor<2xi32>, %i: tensor<i32>) -> (tensor<64xf32>, tensor<64xi32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %negative = stablehlo.constant dense<-0.0> : tensor<64xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<64xf32>
  %least = stablehlo.constant dense<-2147483648> : tensor<64xi32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:3 = stablehlo.while(%a = %a0, %b = %b0, %k = %i) : tensor<64xf32>, tensor<64xi32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f = stablehlo.dynamic_update_slice %negative, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %g = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %h = stablehlo.dynamic_update_slice %ones, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %l = stablehlo.dynamic_update_slice %least, %v, %k : (tensor<64xi32>, tensor<2xi32>, tensor<i32>) -> tensor<64xi32>
    %1 = stablehlo.add %a, %f : tensor<64xf32>
    %2 = stablehlo.subtract %1, %g : tensor<64xf32>
    %3 = stablehlo.multiply %h, %2 : tensor<64xf32>
    %4 = stablehlo.maximum %b, %l : tensor<64xi32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %3, %4, %next : tensor<64xf32>, tensor<64xi32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xi32>
}

// -----

// The argument can hold -0.0, of which each sum makes +0.0; what is subtracted from is not negated.
// CHECK-LABEL: @left_alone
// CHECK: do
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: stablehlo.add %{{.*}} : tensor<64xf32>
// CHECK: stablehlo.subtract %{{.*}} : tensor<64xf32>
func.func @left_alone(%a0: tensor<64xf32>, %u: tensor<2xf32>, %i: tensor<i32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:3 = stablehlo.while(%a = %a0, %b = %zeros, %k = %i) : tensor<64xf32>, tensor<64xf32>, tensor<i32>
  cond {
    %c0 = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c0 : tensor<i1>
  } do {
    %f = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %1 = stablehlo.add %a, %f : tensor<64xf32>
    %2 = stablehlo.subtract %f, %b : tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %1, %2, %next : tensor<64xf32>, tensor<64xf32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// The argument can hold -0.0: the first turn is made before the loop, the others bring the window of the turn before to +0.0, which is carried.
// CHECK-LABEL: @first_turn
// CHECK: %[[F:.*]] = stablehlo.dynamic_update_slice %{{.*}}, %arg1, %[[P0:.*]] : (tensor<64xf32>
// CHECK: %[[A1:.*]] = stablehlo.add %arg0, %[[F]] : tensor<64xf32>
// CHECK: %[[K1:.*]] = stablehlo.add
// CHECK: stablehlo.while(%[[K:.*]] = %[[K1]], %[[A:.*]] = %[[A1]], %[[P:.*]] = %[[P0]])
// CHECK: do
// CHECK: %[[AT:.*]] = stablehlo.multiply %[[K]], %[[K]]
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice %[[A]], %[[AT]], sizes = [2]
// CHECK: %[[V:.*]] = stablehlo.add %[[W]], %arg1 : tensor<2xf32>
// CHECK: %[[OLD:.*]] = stablehlo.dynamic_slice %[[A]], %[[P]], sizes = [2]
// CHECK: %[[CLEAN:.*]] = stablehlo.add %[[OLD]], %{{.*}} : tensor<2xf32>
// CHECK: %[[B:.*]] = stablehlo.dynamic_update_slice %[[A]], %[[CLEAN]], %[[P]]
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %[[B]], %[[V]], %[[AT]]
// CHECK: stablehlo.return %{{.*}}, %[[R]], %[[AT]]
func.func @first_turn(%a0: tensor<64xf32>, %u: tensor<2xf32>) -> tensor<64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %a = %a0) : tensor<i32>, tensor<64xf32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %at = stablehlo.multiply %k, %k : tensor<i32>
    %f = stablehlo.dynamic_update_slice %zeros, %u, %at : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %r = stablehlo.add %a, %f : tensor<64xf32>
    %next = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %next, %r : tensor<i32>, tensor<64xf32>
  }
  return %0#1 : tensor<64xf32>
}

// -----

// What is added is never -0.0: after the first turn nothing is.
// CHECK-LABEL: @first_turn_alone
// CHECK: %[[A1:.*]] = stablehlo.add %{{.*}}, %arg0 : tensor<64xf32>
// CHECK: stablehlo.while(%[[K:.*]] = %{{.*}}, %[[A:.*]] = %[[A1]]) : tensor<i32>, tensor<64xf32>
// CHECK: do
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice %[[A]]
// CHECK-NOT: stablehlo.dynamic_slice
// CHECK: %[[R:.*]] = stablehlo.dynamic_update_slice %[[A]]
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.return
func.func @first_turn_alone(%a0: tensor<64xf32>) -> tensor<64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %u = stablehlo.constant dense<1.0> : tensor<2xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %a = %a0) : tensor<i32>, tensor<64xf32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %r = stablehlo.add %f, %a : tensor<64xf32>
    %next = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %next, %r : tensor<i32>, tensor<64xf32>
  }
  return %0#1 : tensor<64xf32>
}

// -----

// The first sum is an update and keeps -0.0; the second one would make +0.0 of it. Nobody knows how often the loop runs.
// CHECK-LABEL: @of_unknown_length
// CHECK: do
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice
// CHECK: %[[B:.*]] = stablehlo.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}} : (tensor<64xf32>
// CHECK: stablehlo.add %[[B]], %{{.*}} : tensor<64xf32>
func.func @of_unknown_length(%a0: tensor<64xf32>, %u: tensor<2xf32>, %n: tensor<i32>) -> tensor<64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %negative = stablehlo.constant dense<-0.0> : tensor<64xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%k = %zero, %a = %a0) : tensor<i32>, tensor<64xf32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f = stablehlo.dynamic_update_slice %negative, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %g = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
    %b = stablehlo.add %f, %a : tensor<64xf32>
    %r = stablehlo.add %b, %g : tensor<64xf32>
    %next = stablehlo.add %k, %one : tensor<i32>
    stablehlo.return %next, %r : tensor<i32>, tensor<64xf32>
  }
  return %0#1 : tensor<64xf32>
}

// -----

// Branches give windows and their places, a branch without one what is in the array anyway; a padded window is an update, too.
// CHECK-LABEL: @branches
// CHECK: do
// CHECK: %[[F:.*]]:3 = "stablehlo.case"
// CHECK: stablehlo.return %{{.*}}, %arg0, %{{.*}} : tensor<i32>, tensor<2xf32>, tensor<i32>
// CHECK-DAG: %[[NONE:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-DAG: %[[FIRST:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK: stablehlo.return %{{.*}}, %[[NONE]], %[[FIRST]]
// CHECK: %[[FIVE:.*]] = stablehlo.constant dense<5> : tensor<i32>
// CHECK: stablehlo.return %{{.*}}, %arg0, %[[FIVE]]
// CHECK: %[[W:.*]] = stablehlo.dynamic_slice %{{.*}}, %[[F]]#2, sizes = [2]
// CHECK: %[[V:.*]] = stablehlo.add %[[W]], %[[F]]#1 : tensor<2xf32>
// CHECK: stablehlo.dynamic_update_slice %{{.*}}, %[[V]], %[[F]]#2
func.func @branches(%u: tensor<2xf32>, %i: tensor<i32>) -> tensor<64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %zeros, %k = %i) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f:2 = "stablehlo.case"(%k) ({
      %g = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
      stablehlo.return %g, %k : tensor<64xf32>, tensor<i32>
    }, {
      stablehlo.return %zeros, %i : tensor<64xf32>, tensor<i32>
    }, {
      %g = stablehlo.pad %u, %zero, low = [5], high = [57], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<64xf32>
      stablehlo.return %g, %n : tensor<64xf32>, tensor<i32>
    }) : (tensor<i32>) -> (tensor<64xf32>, tensor<i32>)
    %r = stablehlo.add %a, %f#0 : tensor<64xf32>
    stablehlo.return %r, %f#1 : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}

// -----

// Windows of different sizes, and an array that is full.
// CHECK-LABEL: @different_branches
// CHECK: do
// CHECK: %[[F:.*]]:2 = "stablehlo.if"
// CHECK: stablehlo.add %{{.*}}, %[[F]]#0 : tensor<64xf32>
// CHECK: stablehlo.add %{{.*}}, %[[F]]#1 : tensor<64xf32>
func.func @different_branches(%u: tensor<2xf32>, %v: tensor<3xf32>, %full: tensor<64xf32>, %i: tensor<i32>, %p: tensor<i1>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:3 = stablehlo.while(%a = %zeros, %b = %zeros, %k = %i) : tensor<64xf32>, tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f:2 = "stablehlo.if"(%p) ({
      %g = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
      %h = stablehlo.dynamic_update_slice %zeros, %u, %k : (tensor<64xf32>, tensor<2xf32>, tensor<i32>) -> tensor<64xf32>
      stablehlo.return %g, %h : tensor<64xf32>, tensor<64xf32>
    }, {
      %g = stablehlo.dynamic_update_slice %zeros, %v, %k : (tensor<64xf32>, tensor<3xf32>, tensor<i32>) -> tensor<64xf32>
      stablehlo.return %g, %full : tensor<64xf32>, tensor<64xf32>
    }) : (tensor<i1>) -> (tensor<64xf32>, tensor<64xf32>)
    %r = stablehlo.add %a, %f#0 : tensor<64xf32>
    %s = stablehlo.add %b, %f#1 : tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %r, %s, %next : tensor<64xf32>, tensor<64xf32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}

// -----

// What goes to one place is summed up first, in the order of the scatter; the array then changes once per place. With many places the array of zeros is cheaper.
// CHECK-LABEL: @same_places
// CHECK: do
// CHECK: %[[SAME:.*]] = stablehlo.compare EQ, %{{.*}} : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
// CHECK: %[[J:.*]] = stablehlo.select %[[SAME]]
// CHECK: %[[FIRST:.*]] = stablehlo.reduce(%[[J]] init: %{{.*}}) applies stablehlo.minimum across dimensions = [1]
// CHECK: %[[COLUMN:.*]] = stablehlo.reshape %[[FIRST]]
// CHECK: %[[SUMS:.*]] = "stablehlo.scatter"(%{{.*}}, %[[COLUMN]], %arg0)
// CHECK: %[[IS:.*]] = stablehlo.compare EQ, %[[FIRST]], %{{.*}}
// CHECK: %[[P:.*]] = stablehlo.select %{{.*}}, %arg1, %{{.*}} : tensor<3x1xi1>, tensor<3x1xi32>
// CHECK: "stablehlo.scatter"(%iterArg, %[[P]], %[[SUMS]])
// CHECK: stablehlo.add
// CHECK-LABEL: @many_places
// CHECK: stablehlo.add %{{.*}} : tensor<30xf32>
func.func @same_places(%u: tensor<3xf32>, %i: tensor<3x1xi32>) -> tensor<64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %zeros, %k = %one) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<64xf32>
    %r = stablehlo.add %a, %f : tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %r, %next : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}
func.func @many_places(%u: tensor<3xf32>, %i: tensor<3x1xi32>) -> tensor<30xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<30xf32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %zeros, %k = %one) : tensor<30xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f = "stablehlo.scatter"(%zeros, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<30xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<30xf32>
    %r = stablehlo.add %a, %f : tensor<30xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %r, %next : tensor<30xf32>, tensor<i32>
  }
  return %0#0 : tensor<30xf32>
}

// -----

// A stencil: the window is most of the array, which is computed in one pass.
// CHECK-LABEL: @stencil
// CHECK: do
// CHECK: stablehlo.pad
// CHECK: stablehlo.add %{{.*}} : tensor<64xf32>
func.func @stencil(%u: tensor<62xf32>) -> tensor<64xf32> {
  %zeros = stablehlo.constant dense<0.0> : tensor<64xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<9> : tensor<i32>
  %0:2 = stablehlo.while(%a = %zeros, %k = %one) : tensor<64xf32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %f = stablehlo.pad %u, %zero, low = [1], high = [1], interior = [0] : (tensor<62xf32>, tensor<f32>) -> tensor<64xf32>
    %r = stablehlo.add %a, %f : tensor<64xf32>
    %next = stablehlo.add %k, %k : tensor<i32>
    stablehlo.return %r, %next : tensor<64xf32>, tensor<i32>
  }
  return %0#0 : tensor<64xf32>
}
