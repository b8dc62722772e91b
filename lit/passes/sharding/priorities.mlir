// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-aggressive-propagate -split-input-file | FileCheck %s --check-prefix=AGGRESSIVE
// RUN: xla-opt %s -sdy-op-priority-propagate -split-input-file | FileCheck %s --check-prefix=OP
// RUN: xla-opt %s -sdy-user-priority-propagate -split-input-file | FileCheck %s --check-prefix=USER

// In program order the product is visited first and gives its result "a" on dimension 0, from the larger operand. With
// priorities of operations the addition decides: dimension 1.
sdy.mesh @mesh = <["a"=2]>
// AGGRESSIVE-LABEL: @operations
// AGGRESSIVE: stablehlo.dot_general {{.*}}[{"a", ?}, {?}]
// OP-LABEL: @operations
// OP: stablehlo.dot_general {{.*}}[{?}, {"a", ?}]
// OP: stablehlo.add {{.*}}[{?}, {"a", ?}]
func.func @operations(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}, %w: tensor<16x8xf32>, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.add %0, %y : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// The second argument's wish comes first because the other's has a later priority.
sdy.mesh @mesh = <["a"=2]>
// USER-LABEL: @users
// USER-SAME: %arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {?}]>}
// USER: stablehlo.add {{.*}}[{?}, {"a", ?}]
func.func @users(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p1, {?}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"a", ?}]>}) -> tensor<8x8xf32> {
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----
// Afterwards no annotation has a priority, not even the first.
sdy.mesh @mesh = <["a"=2]>
// USER-LABEL: @no_priorities_left
// USER-SAME: %arg0: {{.*}}<@mesh, [{"a"}, {}]>
// USER-SAME: -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}, {}]>})
// USER: sdy.sharding_constraint %arg0 <@mesh, [{"a"}, {}]>
func.func @no_priorities_left(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}p0, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p0, {}]>}) {
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}p0, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
