// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// A sum of bf16 accumulates in f32 and rounds once, in the order of the operand's dimensions.
// CHECK-LABEL: @sum_bf16
// CHECK: linalg.fill {{.*}} outs({{.*}} : tensor<4xf32>)
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.generic
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @sum_bf16(%x: tensor<4x8xbf16>, %i: tensor<bf16>) -> tensor<4xbf16> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// A maximum needs no wider accumulator.
// CHECK-LABEL: @max_bf16
// CHECK-NOT: f32
// CHECK: return
func.func @max_bf16(%x: tensor<4x8xbf16>, %i: tensor<bf16>) -> tensor<8xbf16> {
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

// Several operands share one loop nest.
// CHECK-LABEL: @argmax
// CHECK-COUNT-2: linalg.fill
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction", "parallel"]
// CHECK: linalg.yield {{.*}} : f32, i32
// CHECK-NOT: linalg.generic
func.func @argmax(%x: tensor<?x8xf32>, %k: tensor<?x8xi32>, %i: tensor<f32>, %j: tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %0:2 = stablehlo.reduce(%x init: %i), (%k init: %j) across dimensions = [0] : (tensor<?x8xf32>, tensor<?x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
    %3 = stablehlo.select %1, %c, %d : tensor<i1>, tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
}
