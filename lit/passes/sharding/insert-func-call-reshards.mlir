// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-insert-func-call-reshards | FileCheck %s
sdy.mesh @mesh = <["x"=2, "y"=2]>

// CHECK-LABEL: func.func @main
// CHECK: %[[MADE:.*]] = call @f(%arg0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK: %[[MOVED:.*]] = sdy.reshard %[[MADE]] <@mesh, [{"y"}]>
// CHECK: %[[SAME:.*]] = call @f(%[[MOVED]]) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>}
// CHECK-NEXT: return %[[SAME]]
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%0) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  return %a : tensor<8xf32>
}
