// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -split-input-file -sdy-aggressive-propagate=conservative-propagation=true | FileCheck %s

sdy.mesh @mesh = <["a"=4, "b"=2]>

// Parts of axes do not propagate, except between a function's result and what is returned.
// CHECK-LABEL: @parts
func.func @parts(%x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a":(1)2, ?}]>}) -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a":(2)2, ?}, {?}]>}) {
  // CHECK: stablehlo.negate %arg0 : tensor<8x6xf32>
  %0 = stablehlo.negate %x : tensor<8x6xf32>
  // CHECK: stablehlo.sine %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a":(2)2, ?}, {?}]>]>}
  %1 = stablehlo.sine %0 : tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

sdy.mesh @mesh = <["a"=4, "b"=2]>

// The first two rows would need half of the axis.
// CHECK-LABEL: @cut
func.func @cut(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}]>}) -> tensor<2x4xf32> {
  // CHECK: stablehlo.reshape %arg0 :
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
