// RUN: xla-opt %s -xla-hoist-loop-invariants -split-input-file | FileCheck %s

// The transpose of an unchanged value runs once; the exponential depends on the state and stays.
// CHECK-LABEL: @transpose
// CHECK: stablehlo.transpose %arg1
// CHECK: stablehlo.while
// CHECK-NOT: stablehlo.transpose
// CHECK: stablehlo.exponential
func.func @transpose(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>, %n: tensor<i32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %x = %a, %v = %w) : tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %t = stablehlo.transpose %v, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %e = stablehlo.exponential %x : tensor<4x4xf32>
      %y = stablehlo.add %e, %t : tensor<4x4xf32>
      stablehlo.return %j, %y, %v : tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32>
    }
  return %0#1 : tensor<4x4xf32>
}
