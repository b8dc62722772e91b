// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-split-resharding-dimensions | FileCheck %s
// RUN: xla-opt %s -sdy-split-resharding-dimensions -sdy-reshard-to-collectives | FileCheck %s --check-prefix=MOVES
// RUN: xla-opt %s -sdy-reshard-to-collectives | FileCheck %s --check-prefix=PERMUTES
sdy.mesh @mesh = <["x"=2, "y"=4, "z"=2]>

// Two axes of one dimension go to two others.
// CHECK-LABEL: @apart
// CHECK-NEXT: %[[A:.*]] = stablehlo.reshape %arg0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"y"}, {"x"}, {}, {}]>]>} : (tensor<16x8x8xf32>) -> tensor<4x4x8x8xf32>
// CHECK-NEXT: %[[B:.*]] = sdy.reshard %[[A]] <@mesh, [{}, {}, {"x"}, {"y"}]>
// CHECK-NEXT: %[[C:.*]] = stablehlo.reshape %[[B]] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}, {"y"}]>]>} : (tensor<4x4x8x8xf32>) -> tensor<16x8x8xf32>
// CHECK-NEXT: return %[[C]]
// MOVES-LABEL: @apart
// MOVES-NOT: collective_permute
// MOVES: sdy.all_to_all
// PERMUTES-LABEL: @apart
func.func @apart(%a: tensor<16x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y", "x"}, {}, {}]>}) -> tensor<16x8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {"x"}, {"y"}]> : tensor<16x8x8xf32>
  return %0 : tensor<16x8x8xf32>
}

// One that stays in front of one that goes, and what stays of an axis that is cut.
// CHECK-LABEL: @front
// CHECK: sdy.reshard %{{.*}} <@mesh, [{"y":(1)2}, {}, {"y":(2)2}]> : tensor<2x4x8xf32>
func.func @front(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<8x8xf32> {
  %0 = sdy.reshard %a <@mesh, [{"y":(1)2}, {"y":(2)2}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Axes of two dimensions come together; what comes in takes the place of what goes away.
// CHECK-LABEL: @together
// CHECK: stablehlo.reshape %arg0 {{.*}}[{"y"}, {"x"}, {}, {}]{{.*}} -> tensor<4x8x2x2xf32>
// CHECK: sdy.reshard %{{.*}} <@mesh, [{}, {}, {"x"}, {"z"}]>
func.func @together(%a: tensor<4x8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}, {}]>}) -> tensor<4x8x4xf32> {
  %0 = sdy.reshard %a <@mesh, [{}, {}, {"x", "z"}]> : tensor<4x8x4xf32>
  return %0 : tensor<4x8x4xf32>
}

// Not split: axes that stay together, axes that meet those of another dimension, parts that do not divide, no sharding at all.
// CHECK-LABEL: @left
// CHECK-NOT: reshape
// CHECK: return
func.func @left(%a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, %b: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {"z"}]>},
                %c: tensor<12x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}, %d: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<12x16xf32>, tensor<16x16xf32>) {
  %0 = sdy.reshard %a <@mesh, [{}, {"x", "y"}]> : tensor<16x16xf32>
  %1 = sdy.reshard %b <@mesh, [{"z"}, {"y"}]> : tensor<16x16xf32>
  %2 = sdy.reshard %c <@mesh, [{"x"}, {"y"}]> : tensor<12x16xf32>
  %3 = sdy.reshard %d <@mesh, [{"x"}, {"y"}]> : tensor<16x16xf32>
  return %0, %1, %2, %3 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<12x16xf32>, tensor<16x16xf32>
}
