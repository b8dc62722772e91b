// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-unflatten-call-graph | FileCheck %s
// RUN: xla-opt %s -sdy-unflatten-call-graph=dedup-functions-fully=true | FileCheck %s --check-prefix=FULL
sdy.mesh @mesh = <["x"=2, "y"=2]>

// Copies that are sharded otherwise stay, unless any one per caller will do.
// CHECK-LABEL: func.func @main
// CHECK: call @f(
// CHECK-NEXT: call @f_0(
// CHECK-NEXT: call @f(
// CHECK-NOT: @f_1
// FULL-LABEL: func.func @main
// FULL: call @f(
// FULL-NEXT: call @f(
// FULL-NEXT: call @f(
// FULL-NOT: @f_
func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f_0(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = call @f_1(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
func.func private @f_0(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %a : tensor<8xf32>
}
func.func private @f_1(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> attributes {sdy.original_func_name = "f"} {
  return %a : tensor<8xf32>
}
