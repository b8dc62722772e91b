// RUN: xla-opt %s -xla-annotate-trip-counts -split-input-file | FileCheck %s

// i = 0; i < 10; i += 3 runs four times.
// CHECK-LABEL: @counted
// CHECK: millrace.trip_count = 4
func.func @counted() -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
    cond {
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %p = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %three = stablehlo.constant dense<3> : tensor<i32>
      %j = stablehlo.add %i, %three : tensor<i32>
      stablehlo.return %j : tensor<i32>
    }
  return %0 : tensor<i32>
}

// -----

// The limit is known at run time only.
// CHECK-LABEL: @unknown
// CHECK-NOT: trip_count
// CHECK: return
func.func @unknown(%n: tensor<i32>) -> tensor<i32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.while(%i = %zero) : tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j : tensor<i32>
    }
  return %0 : tensor<i32>
}

// -----

// The counter of 8 bits would overflow before it reaches the limit: it never does.
// CHECK-LABEL: @overflow
// CHECK-NOT: trip_count
// CHECK: return
func.func @overflow() -> tensor<i8> {
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %0 = stablehlo.while(%i = %zero) : tensor<i8>
    cond {
      %limit = stablehlo.constant dense<127> : tensor<i8>
      %p = stablehlo.compare LE, %i, %limit : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i8>
      %j = stablehlo.add %i, %one : tensor<i8>
      stablehlo.return %j : tensor<i8>
    }
  return %0 : tensor<i8>
}
