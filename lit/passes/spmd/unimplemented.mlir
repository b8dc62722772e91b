// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the partitioner cannot do it says, at the operation.
// RUN: xla-opt %s -xla-spmd-partition -split-input-file -verify-diagnostics

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{expects a mesh of the program's 4 devices (mhlo.num_partitions), but got one of 2}}
    %0 = sdy.sharding_constraint %x <@mesh, [{"a"}]> : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<8xf32> {
    %token = stablehlo.create_token : !stablehlo.token
    // expected-error@+1 {{UNIMPLEMENTED: partitioning of stablehlo.infeed outside of a manual computation}}
    %0:2 = "stablehlo.infeed"(%token) : (!stablehlo.token) -> (tensor<8xf32>, !stablehlo.token)
    return %0#0 : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  // expected-error@+1 {{argument 0: mhlo.sharding: expected all of the program's 2 devices, but got 4: {devices=[4]<=[4]}}}
  func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  // expected-error@+1 {{mhlo.sharding: expected a sharding at position 1 of '{oops}'}}
  func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{oops}"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{replicated}"}) -> tensor<4xf32> {
    // expected-error@+1 {{expects dimension 0 of 'tensor<8xf32>' to be split so that devices hold 'tensor<4xf32>', but it is in 1 parts}}
    %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  // expected-error@+1 {{result 0: UNIMPLEMENTED: partitioning of dynamic shapes, but got 'tensor<?xf32>'}}
  func.func @main(%x: tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}, %n: tensor<1xi32>) -> tensor<?xf32> {
    // expected-note@+1 {{the value that is returned}}
    %0 = stablehlo.dynamic_reshape %x, %n : (tensor<8xf32>, tensor<1xi32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
}
