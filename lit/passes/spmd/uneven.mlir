// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dimensions that tiles do not divide are filled up; what fills them is replaced before it could be summed.
// RUN: xla-opt %s -split-input-file -xla-spmd-partition | FileCheck %s

// Three elements for each of two devices; the last of the second is none.
module @sum attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: module @sum
  // CHECK: func.func @main(%arg0: tensor<3xf32> {mhlo.sharding = "{devices=[2]<=[2]}", millrace.whole_shape = array<i64: 5>})
  // CHECK: %[[ENDS:.*]] = stablehlo.constant dense<[3, 2]> : tensor<2xi32>
  // CHECK: stablehlo.dynamic_slice %[[ENDS]]
  // CHECK: stablehlo.compare LT
  // CHECK: %[[KEPT:.*]] = stablehlo.select %{{.*}}, %arg0, %{{.*}} : tensor<3xi1>, tensor<3xf32>
  // CHECK: stablehlo.reduce(%[[KEPT]] init: %{{.*}}) applies stablehlo.add
  // CHECK: "stablehlo.all_reduce"
  func.func @main(%x: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

// Where nothing is summed nothing is replaced; the result was asked for in parts.
module @elementwise attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: module @elementwise
  // CHECK: func.func @main(%arg0: tensor<3xf32> {{.*}}) -> (tensor<3xf32> {mhlo.sharding = "{devices=[2]<=[2]}", millrace.whole_shape = array<i64: 5>})
  // CHECK-NEXT: %[[R:.*]] = stablehlo.sine %arg0 : tensor<3xf32>
  // CHECK-NEXT: return %[[R]]
  func.func @main(%x: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> (tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
    %0 = stablehlo.sine %x : tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}

// -----

// Nobody asked for parts of different sizes: the result is whole.
module @unspecified attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  // CHECK-LABEL: module @unspecified
  // CHECK: -> (tensor<5xf32> {mhlo.sharding = "{replicated}"})
  // CHECK: "stablehlo.all_gather"{{.*}} -> tensor<6xf32>
  // CHECK-NEXT: stablehlo.slice {{.*}} [0:5]
  func.func @main(%x: tensor<5xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) -> tensor<5xf32> {
    %0 = stablehlo.sine %x : tensor<5xf32>
    return %0 : tensor<5xf32>
  }
}
