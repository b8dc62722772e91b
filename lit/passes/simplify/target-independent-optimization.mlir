// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folded constant makes a rewrite possible, and a rewrite makes constants.
// RUN: xla-opt %s -stablehlo-target-independent-optimization | FileCheck %s
// RUN: xla-opt %s -stablehlo-target-independent-optimization=fold-op-element-limit=2 | FileCheck %s --check-prefix=LIMIT

// 2 - 1 is 1, and x * 1 is x.
// CHECK-LABEL: @both
// CHECK-NEXT: return %arg0
func.func @both(%x: tensor<4xi32>) -> tensor<4xi32> {
  %a = stablehlo.constant dense<2> : tensor<4xi32>
  %b = stablehlo.constant dense<1> : tensor<4xi32>
  %0 = stablehlo.subtract %a, %b : tensor<4xi32>
  %1 = stablehlo.multiply %x, %0 : tensor<4xi32>
  return %1 : tensor<4xi32>
}

// Too large to evaluate.
// CHECK-LABEL: @limit
// CHECK-NEXT: stablehlo.constant dense<[5, 4, 3]>
// LIMIT-LABEL: @limit
// LIMIT: stablehlo.sort
func.func @limit() -> tensor<3xi32> {
  %a = stablehlo.constant dense<[4, 5, 3]> : tensor<3xi32>
  %0 = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%l: tensor<i32>, %r: tensor<i32>):
    %gt = stablehlo.compare GT, %l, %r : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %gt : tensor<i1>
  }) : (tensor<3xi32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}

// A barrier stays.
// CHECK-LABEL: @barrier
// CHECK: stablehlo.optimization_barrier
func.func @barrier() -> tensor<i32> {
  %a = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.optimization_barrier %a : tensor<i32>
  return %0 : tensor<i32>
}
