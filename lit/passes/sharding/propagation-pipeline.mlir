// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-propagation-pipeline | FileCheck %s
// Flags about calls, of which there are none, and one under its newer name.
// RUN: xla-opt %s  -sdy-propagation-pipeline='enable-late-inlining=false enable-native-non-flat-support=true debug-propagation-edge-sharding=true' -o %t && grep -q sdy.propagation_edges %t

sdy.mesh @mesh = <["data"=2, "model"=4]>

// One annotation per weight: activations follow, and the second product gives the batch's sharding back.
// CHECK-LABEL: @mlp
// CHECK-SAME: %arg2: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>}
// CHECK-SAME: -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
func.func @mlp(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %w1: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model"}]>}, %w2: tensor<64x16xf32>) -> tensor<8x16xf32> {
  // CHECK: stablehlo.dot_general %arg0, %arg1, {{.*}}[{"data"}, {"model"}]
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x64xf32>) -> tensor<8x64xf32>
  // CHECK: stablehlo.tanh {{.*}}[{"data"}, {"model"}]
  %1 = stablehlo.tanh %0 : tensor<8x64xf32>
  // CHECK: stablehlo.dot_general {{.*}}[{"data"}, {}]
  %2 = stablehlo.dot_general %1, %w2, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// Into a loop and out of it; a constant that the loop starts from is split with it.
// CHECK-LABEL: @loop
// CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"data"}, {}]>]>}
// CHECK: stablehlo.while
// CHECK: stablehlo.add {{.*}}[{"data"}, {}]
// CHECK: return
func.func @loop(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %n: tensor<i32>) -> tensor<8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8x16xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%a = %zero, %j = %i, %b = %x) : tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>
  cond {
    %1 = stablehlo.compare LT, %j, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %a, %b : tensor<8x16xf32>
    stablehlo.return %1, %j, %b : tensor<8x16xf32>, tensor<i32>, tensor<8x16xf32>
  }
  return %0#0 : tensor<8x16xf32>
}

// Through a call.
// CHECK-LABEL: @caller
// CHECK: call @f(%arg0) {{.*}}[{"model"}]
// CHECK: func.func private @f(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>})
// CHECK-NEXT: stablehlo.negate {{.*}}[{"model"}]
func.func @caller(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>}) -> tensor<8xf32> {
  %0 = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
