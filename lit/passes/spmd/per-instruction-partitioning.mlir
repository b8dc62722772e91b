// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-per-instruction-partitioning=filter=dot,constant,all_gather,while,call | FileCheck %s
// RUN: xla-opt %s -sdy-per-instruction-partitioning=filter=func=second,selectHigh=2 | FileCheck %s --check-prefix=FIRST
// RUN: xla-opt %s -sdy-per-instruction-partitioning="filter='selectLow=3, selectHigh=4, add'" | FileCheck %s --check-prefix=RANGE
// RUN: not xla-opt %s -sdy-per-instruction-partitioning=filter=selectLow=x 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: filter: expects a number, but got 'x'
sdy.mesh @mesh = <["x"=2, "y"=2]>

// A product on parts; what follows stays as it is. It is the second operation of this function.
// CHECK-LABEL: @product
// CHECK-NEXT: %[[M:.*]] = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%[[A:.*]]: tensor<4x32xf32>, %[[B:.*]]: tensor<32x8xf32>) {
// CHECK-NEXT: %[[P:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: sdy.return %[[P]]
// CHECK: stablehlo.add %[[M]], %[[M]] {sdy.sharding
// FIRST-LABEL: @product
// FIRST-NOT: sdy.manual_computation
// RANGE-LABEL: @product
// RANGE-NOT: sdy.manual_computation
func.func @product(%a: tensor<8x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %b: tensor<32x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}

// Collectives, constants, and a function that is called, which others still call as it was; what is not divided stays.
// CHECK-LABEL: @second
// CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}]>]
// CHECK-NEXT: stablehlo.constant dense<1.0{{.*}}> : tensor<4xf32>
// CHECK: sdy.manual_computation
// CHECK: "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 0
// CHECK-SAME: #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#sdy<axis_ref"x">]>
// CHECK: sdy.manual_computation
// CHECK: call @callee_0(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: sdy.constant {{.*}}tensor<5xf32>
// FIRST: sdy.manual_computation
// FIRST-NOT: sdy.manual_computation
// RANGE: sdy.manual_computation
// RANGE: stablehlo.add
func.func @second(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<5xf32>) {
  %0 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<8xf32>
  %1 = stablehlo.add %0, %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  %2 = sdy.all_gather [{"x"}] %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
  %3 = func.call @callee(%a) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : (tensor<8xf32>) -> tensor<8xf32>
  %4 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} dense<1.0> : tensor<5xf32>
  return %0, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<5xf32>
}

// CHECK: func.func private @callee(%arg0: tensor<8xf32> {sdy.sharding
func.func private @callee(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.negate %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// A loop with what it takes from outside.
// CHECK-LABEL: @loop
// CHECK: sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, []>, <@mesh, [{"x"}]>, <@mesh, [{"x"}]>]
// CHECK: stablehlo.while
// CHECK: stablehlo.add %{{.*}} : tensor<4xf32>
// CHECK: } : (tensor<i32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
// CHECK: func.func private @callee_0(%arg0: tensor<4xf32>) -> tensor<4xf32>
func.func @loop(%i: tensor<i32>, %a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
  %0:2 = stablehlo.while(%k = %i, %v = %a) : tensor<i32>, tensor<8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>, <@mesh, [{"x"}]>]>}
    cond {
    %1 = stablehlo.compare LT, %k, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %v, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<8xf32>
    stablehlo.return %k, %1 : tensor<i32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
}
