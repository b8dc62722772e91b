// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Annotations that cannot hold: the message names the value, what is expected and what came.
// RUN: xla-opt %s -split-input-file -verify-diagnostics -xla-spmd-partition

sdy.mesh @mesh = <["a"=2, "b"=2]>
// expected-error@+1 {{arg 0 - sharding doesn't match tensor rank: 1 != 2}}
func.func @rank(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
// expected-error@+1 {{arg 0 - unknown axis name: "c", expected one of the mesh's axes: "a"=2, "b"=2}}
func.func @unknown(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
// expected-error@+1 {{arg 0 - duplicate axis ref: "a", expected every axis at most once in a sharding}}
func.func @twice(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"a"}]>}) {
  return
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  // expected-error@+1 {{argument 1: expects a mesh of the program's 2 devices (mhlo.num_partitions), but got one of 4}}
  func.func @large(%x: tensor<8x8xf32>, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
    return
  }
}

// -----

// The same for strings.
module attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error@+1 {{argument 1: mhlo.sharding: expected a sharding of rank 2, but got one of rank 1: {devices=[4]<=[4]}}}
  func.func @string_rank(%x: tensor<8xf32>, %y: tensor<8x8xf32> {mhlo.sharding = "{devices=[4]<=[4]}"}) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error@+1 {{result 0: mhlo.sharding: expected all of the program's 4 devices, but got device 7: {devices=[2,2]0,1,2,7}}}
  func.func @string_device(%x: tensor<8x8xf32>) -> (tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2]0,1,2,7}"}) {
    return %x : tensor<8x8xf32>
  }
}

// -----

// One device that is not there.
module attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error@+1 {{argument 0: mhlo.sharding: expected one of the program's 4 devices, but got device 9: {maximal device=9}}}
  func.func @string_single(%x: tensor<8x8xf32> {mhlo.sharding = "{maximal device=9}"}) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @nine = <[], device_ids=[9]>
  // expected-error@+1 {{argument 0: expects one of the program's 4 devices (mhlo.num_partitions), but got device 9: #sdy.sharding<@nine, []>}}
  func.func @single(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@nine, []>}) {
    return
  }
}

// -----

// Only an operation says where it runs.
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @nine = <[], device_ids=[9]>
  func.func @call(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@+1 {{is to run on device 9 of 4}}
    %0 = stablehlo.custom_call @f(%x) {sdy.sharding = #sdy.sharding_per_value<[<@nine, []>]>} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
