// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-insert-explicit-reshards | FileCheck %s
// RUN: xla-opt %s -sdy-insert-explicit-reshards=enable-full-version=true | FileCheck %s
sdy.mesh @mesh = <["a"=2, "b"=2]>

// What a function says of its arguments holds where it is called; what comes in as it says stays.
// CHECK-LABEL: @main
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
  // CHECK-NEXT: %[[Y:.*]] = sdy.reshard %arg1 <@mesh, [{"b"}]>
  // CHECK-NEXT: %[[X:.*]] = sdy.reshard %arg0 <@mesh, [{"b"}]>
  // CHECK-NEXT: call @f(%[[X]], %arg1)
  %0 = call @f(%x, %y) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // CHECK-NEXT: call @f(%[[Y]],
  %1 = call @f(%y, %y) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}]>]>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// CHECK-LABEL: func.func private @f(
// CHECK-NOT: reshard
func.func private @f(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}, %y: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
  return %x : tensor<8xf32>
}

// About its argument a function says nothing: it is whole.
// CHECK-LABEL: @whole
func.func @whole(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  // CHECK-NEXT: %[[X:.*]] = sdy.reshard %arg0 <@mesh, [{}]>
  // CHECK-NEXT: call @g(%[[X]])
  %0 = call @g(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
func.func private @g(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
