// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -split-input-file -sdy-aggressive-propagate | FileCheck %s
// RUN: xla-opt %s -split-input-file -sdy-propagate-to-func-results | FileCheck %s --check-prefix=RESULTS
// RUN: xla-opt %s -split-input-file -sdy-drop-sharding-rules | FileCheck %s --check-prefix=RULES

sdy.mesh @mesh = <["a"=2, "b"=2]>

// Inside of a loop the values are those that it carries, also without edges.
// CHECK-LABEL: @main
func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  // CHECK: stablehlo.while{{.*}}<@mesh, [{"a", ?}]>
  %0:2 = stablehlo.while(%i = %n, %sum = %y) : tensor<i32>, tensor<8xf32>
  cond {
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    // CHECK: stablehlo.add %{{.*}}, %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a", ?}]>]>}
    %more = stablehlo.add %sum, %x : tensor<8xf32>
    stablehlo.return %i, %more : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}

// Results of other functions than main are their callers' business; sdy-propagate-to-func-results makes them what is returned.
// CHECK-LABEL: func private @other
// CHECK-SAME: -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>})
// RESULTS-LABEL: func private @other
// RESULTS-SAME: -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, tensor<8xf32>)
func.func private @other(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}]>}) {
  return %x, %y : tensor<8xf32>, tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2]>

// The user's rules stay.
// RULES-LABEL: @rules
// A function alone is the program.
// RESULTS-LABEL: @rules
// RESULTS-SAME: -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})
func.func @rules(%x: tensor<8x4xf32>) -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
  // RULES: stablehlo.custom_call @mine(%arg0) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=4}, custom>}
  %0 = stablehlo.custom_call @mine(%x) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j, i]) {i=8, j=4}, custom>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  // RULES: stablehlo.negate %arg0 :
  %1 = stablehlo.negate %x {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=4}>} : tensor<8x4xf32>
  return %x : tensor<8x4xf32>
}
