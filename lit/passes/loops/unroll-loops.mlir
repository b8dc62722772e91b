// RUN: xla-opt %s -xla-unroll-loops=max-ops=8 -split-input-file | FileCheck %s

// Two iterations of one operation are cheaper than a loop.
// CHECK-LABEL: @tiny
// CHECK-NOT: stablehlo.while
// CHECK: stablehlo.exponential
// CHECK: stablehlo.exponential
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @tiny(%a: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<4xf32>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %p = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.exponential %x : tensor<4xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}

// -----

// A thousand iterations stay a loop.
// CHECK-LABEL: @long
// CHECK: stablehlo.while
func.func @long(%a: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<4xf32>
    cond {
      %n = stablehlo.constant dense<1000> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.exponential %x : tensor<4xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}

// -----

// Integer operations are instructions: four times as many of them, here 12, are one kernel.
// CHECK-LABEL: @bits
// CHECK-NOT: stablehlo.while
// CHECK-COUNT-3: stablehlo.xor
// CHECK: return
func.func @bits(%a: tensor<4xui32>) -> tensor<4xui32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<4xui32>
    cond {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %thirteen = stablehlo.constant dense<13> : tensor<4xui32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.shift_left %x, %thirteen : tensor<4xui32>
      %z = stablehlo.xor %x, %y : tensor<4xui32>
      stablehlo.return %j, %z : tensor<i32>, tensor<4xui32>
    }
  return %0#1 : tensor<4xui32>
}

// -----

// Its body makes four rows, whatever the state has: the function returns any number of them.
// CHECK-LABEL: @any_rows
// CHECK: stablehlo.while
func.func @any_rows(%a: tensor<?x4xf32>, %b: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<?x4xf32>
    cond {
      %two = stablehlo.constant dense<2> : tensor<i32>
      %p = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.exponential %b : tensor<4x4xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<4x4xf32>
    }
  return %0#1 : tensor<?x4xf32>
}

// -----

// A binary search is one kernel of choices: eight times as many operations, here 64, become its steps.
// CHECK-LABEL: @search
// CHECK-NOT: stablehlo.while
// CHECK-COUNT-8: "stablehlo.gather"
// CHECK-NOT: "stablehlo.gather"
// CHECK: return
func.func @search(%table: tensor<256xf32>, %x: tensor<1000xf32>) -> tensor<1000xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %from = stablehlo.constant dense<0> : tensor<1000xi32>
  %to = stablehlo.constant dense<256> : tensor<1000xi32>
  %0:3 = stablehlo.while(%i = %zero, %low = %from, %high = %to) : tensor<i32>, tensor<1000xi32>, tensor<1000xi32>
    cond {
      %n = stablehlo.constant dense<8> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<1000xi32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %sum = stablehlo.add %low, %high : tensor<1000xi32>
      %middle = stablehlo.divide %sum, %two : tensor<1000xi32>
      %v = "stablehlo.gather"(%table, %middle) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<256xf32>, tensor<1000xi32>) -> tensor<1000xf32>
      %left = stablehlo.compare LT, %x, %v : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xi1>
      %l = stablehlo.select %left, %low, %middle : tensor<1000xi1>, tensor<1000xi32>
      %h = stablehlo.select %left, %middle, %high : tensor<1000xi1>, tensor<1000xi32>
      stablehlo.return %j, %l, %h : tensor<i32>, tensor<1000xi32>, tensor<1000xi32>
    }
  return %0#1 : tensor<1000xi32>
}

// -----

// Arithmetic on what was read is no search.
// CHECK-LABEL: @interpolation
// CHECK: stablehlo.while
func.func @interpolation(%table: tensor<256xf32>, %x: tensor<1000xi32>, %y: tensor<1000xf32>) -> tensor<1000xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %y) : tensor<i32>, tensor<1000xf32>
    cond {
      %n = stablehlo.constant dense<8> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %v = "stablehlo.gather"(%table, %x) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<256xf32>, tensor<1000xi32>) -> tensor<1000xf32>
      %b = stablehlo.multiply %a, %v : tensor<1000xf32>
      stablehlo.return %j, %b : tensor<i32>, tensor<1000xf32>
    }
  return %0#1 : tensor<1000xf32>
}
