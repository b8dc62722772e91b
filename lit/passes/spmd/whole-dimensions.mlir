// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations along a dimension that is split: what travels is small, or half of what a gather would move.
// RUN: xla-opt %s -split-input-file -xla-spmd-partition | FileCheck %s

// The largest of each device and its place are gathered, not the operand; what fills up the last tile are initial values.
module @argmax attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @argmax
  // CHECK-COUNT-2: stablehlo.select
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [1] : (tensor<8x8xf32>, tensor<8x8xi32>
  // CHECK: "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 0 : i64, {{.*}}}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
  // CHECK: "stablehlo.all_gather"(%{{.*}}) <{all_gather_dim = 0 : i64, {{.*}}}> : (tensor<1x8xi32>) -> tensor<4x8xi32>
  // CHECK: stablehlo.reduce(%{{.*}} init: %{{.*}}), (%{{.*}} init: %{{.*}}) across dimensions = [0] : (tensor<4x8xf32>, tensor<4x8xi32>
  // CHECK-NOT: all_gather
  func.func @main(%x: tensor<8x30xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> (tensor<8xf32>, tensor<8xi32>) {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %place = stablehlo.iota dim = 1 : tensor<8x30xi32>
    %0:2 = stablehlo.reduce(%x init: %low), (%place init: %zero) across dimensions = [1] :
        (tensor<8x30xf32>, tensor<8x30xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
      %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }
    return %0#0, %0#1 : tensor<8xf32>, tensor<8xi32>
  }
}

// -----

// Lines are sorted where they are whole: the cut moves to the other dimension, and back.
module @sort attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @sort
  // CHECK: "stablehlo.all_to_all"(%arg0) {{.*}} : (tensor<8x4xf32>) -> tensor<2x16xf32>
  // CHECK: "stablehlo.sort"
  // CHECK: "stablehlo.all_to_all"({{.*}} : (tensor<2x16xf32>) -> tensor<8x4xf32>
  // CHECK-NOT: all_gather
  func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>})
      -> (tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) {
    %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}

// -----

// The other dimension is not one that four devices divide: it is gathered.
module @gathered attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=4]>
  // CHECK-LABEL: module @gathered
  // CHECK: "stablehlo.all_gather"(%arg0)
  // CHECK-NOT: all_to_all
  func.func @main(%x: tensor<6x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"a"}]>}) -> tensor<6x16xf32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }) : (tensor<6x16xf32>) -> tensor<6x16xf32>
    return %0 : tensor<6x16xf32>
  }
}
