// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-insert-explicit-reshards -split-input-file | FileCheck %s
// RUN: xla-opt %s -sdy-temp-explicit-reshards-for-optimizations -split-input-file | FileCheck %s
// RUN: xla-opt %s -sdy-insert-explicit-reshards -sdy-verify-unreduced-axes -split-input-file > %t
// RUN: not xla-opt %s -sdy-verify-unreduced-axes -split-input-file 2>&1 | FileCheck %s --check-prefix=VERIFY

sdy.mesh @mesh = <["x"=2, "y"=2]>
// Each use of what is not summed yet gets its sum; until then it is passed on.
// CHECK-LABEL: @late
// CHECK: %[[SUM:.*]] = stablehlo.add %arg0, %arg0 {{.*}}unreduced={"x", "y"}
// CHECK: %[[A:.*]] = sdy.all_reduce {"x"} %[[SUM]] out_sharding=<@mesh, [{}], unreduced={"y"}>
// CHECK: %[[B:.*]] = sdy.all_reduce {"x"} %[[SUM]] out_sharding=<@mesh, [{}], unreduced={"y"}>
// CHECK: stablehlo.subtract %[[A]], %[[B]]
// CHECK: %[[C:.*]] = sdy.all_reduce {"y"}
// CHECK: return %[[C]]
// VERIFY: 'stablehlo.subtract' op dropped unreduced axis 'x' without a blessed operation
func.func @late(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x", "y"}>}) -> tensor<8xf32> {
  %0 = stablehlo.add %a, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x", "y"}>]>} : tensor<8xf32>
  %1 = stablehlo.subtract %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"y"}>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// The contraction's axis cannot split the rows as well; the result is made in the rows that the left side has.
// CHECK-LABEL: @product
// CHECK: %[[P:.*]] = stablehlo.dot {{.*}}[<@mesh, [{"y"}, {?}]>]
// CHECK: sdy.reshard %[[P]] <@mesh, [{"x"}, {?}]>
func.func @product(%a: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {"x"}]>}, %b: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {?}]>]>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// The left side's rows are whole: this is a reduce-scatter. Nor is anything done at other operations.
// CHECK-LABEL: @left_alone
// CHECK-NOT: reshard
// CHECK: return
func.func @left_alone(%a: tensor<4x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}, %b: tensor<32x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.dot %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// What is joined is split alike: as the larger one.
// CHECK-LABEL: @joined
// CHECK: %[[R:.*]] = sdy.reshard %arg0 <@mesh, [{"y"}, {}]>
// CHECK: stablehlo.concatenate %[[R]], %arg1{{.*}}[<@mesh, [{"y"}, {}]>]
func.func @joined(%a: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<4x5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<4x8xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x3xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
