// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reasons of a plan: what each tensor would cost if it were split otherwise, and which tensors annotations decide, but none of propagation, because every
// sharding is written down (annotations.mlir has those of a program that was taken as annotated).
// RUN: xla-compile %s --auto-sharding --machine=h100 --explain-sharding --cache-dir=off | FileCheck %s
// CHECK: Of the candidates a plan
// CHECK: argument 0 of @main : tensor<4096x2048xf32> [{{.*}} ms, annotated
// CHECK-NEXT: the annotation leaves nothing to choose
// CHECK: argument 1 of @main : tensor<2048x2048xf32> [{{.*}} ms
// CHECK-NEXT: {{^  \[.*\]: (\+|-)[0-9.]+ ms}}
// CHECK: stablehlo.tanh
// CHECK-NEXT: no other choice is left
// CHECK-NOT: annotated here
// CHECK: collectives of each device:
func.func @main(%x: tensor<4096x2048xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, %w: tensor<2048x2048xf32>) -> tensor<4096x2048xf32> {
  %0 = stablehlo.tanh %x : tensor<4096x2048xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4096x2048xf32>, tensor<2048x2048xf32>) -> tensor<4096x2048xf32>
  return %1 : tensor<4096x2048xf32>
}
sdy.mesh @mesh = <["a"=4]>
