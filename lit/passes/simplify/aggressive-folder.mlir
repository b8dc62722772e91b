// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations on constants are evaluated, up to a size; barriers, random numbers and side effects are not.
// RUN: xla-opt %s -stablehlo-aggressive-folder | FileCheck %s
// RUN: xla-opt %s -stablehlo-aggressive-folder=fold-op-element-limit=3 | FileCheck %s --check-prefix=LIMIT
// RUN: xla-opt %s -stablehlo-aggressive-folder=optimize-float=false | FileCheck %s --check-prefix=INT

// CHECK-LABEL: @add
// CHECK-NEXT: stablehlo.constant dense<[11, 22, 33, 44]> : tensor<4xi32>
// CHECK-NEXT: return
// LIMIT-LABEL: @add
// LIMIT: stablehlo.add
func.func @add() -> tensor<4xi32> {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %2 = stablehlo.add %0, %1 : tensor<4xi32>
  return %2 : tensor<4xi32>
}

// CHECK-LABEL: @reduce
// CHECK-NEXT: stablehlo.constant dense<6.000000e+00> : tensor<f32>
// INT-LABEL: @reduce
// INT: stablehlo.reduce
func.func @reduce() -> tensor<f32> {
  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: @keeps_barrier
// CHECK: stablehlo.optimization_barrier
// CHECK: stablehlo.negate
func.func @keeps_barrier() -> tensor<i32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.optimization_barrier %0 : tensor<i32>
  %2 = stablehlo.negate %1 : tensor<i32>
  return %2 : tensor<i32>
}

// CHECK-LABEL: @keeps_random
// CHECK: stablehlo.rng
func.func @keeps_random() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<2> : tensor<1xi64>
  %2 = stablehlo.rng %0, %1, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// Running sums take as many steps as the square of their length: short ones are constants, long ones are left to the program.
// CHECK-LABEL: @running_sums
// CHECK-COUNT-1: stablehlo.reduce_window
// CHECK-NOT: stablehlo.reduce_window
func.func @running_sums() -> (tensor<4xi32>, tensor<20000xi32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.constant dense<1> : tensor<4xi32>
  %1 = "stablehlo.reduce_window"(%0, %z) <{window_dimensions = array<i64: 4>, padding = dense<[[3, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %2 = stablehlo.constant dense<1> : tensor<20000xi32>
  %3 = "stablehlo.reduce_window"(%2, %z) <{window_dimensions = array<i64: 20000>, padding = dense<[[19999, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<20000xi32>, tensor<i32>) -> tensor<20000xi32>
  return %1, %3 : tensor<4xi32>, tensor<20000xi32>
}
