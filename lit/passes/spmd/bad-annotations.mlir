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
    // expected-note@+1 {{the value that is returned}}
    %0 = stablehlo.negate %x : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
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

// -----

// Of a signature that takes several lines, the line of the argument.
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @line_of_rank(
    %x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>},
    // expected-error@+1 {{arg 1 - sharding doesn't match tensor rank: 3 != 2, expected an entry for each dimension of 'tensor<8x8xf32>', but got #sdy.sharding<@mesh, [{"a"}, {}, {}]>}}
    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @line_of_unknown(
    %x: tensor<8x8xf32>,
    // expected-error@+1 {{arg 1 - unknown axis name: "c", expected one of the mesh's axes: "a"=2, "b"=2}}
    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}, {}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @line_of_twice(
    %x: tensor<8x8xf32>,
    // expected-error@+1 {{arg 1 - duplicate axis ref: "a", expected every axis at most once in a sharding}}
    %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {"a"}]>}) {
  return
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func @line_of_large(
      %x: tensor<8x8xf32>,
      // expected-error@+1 {{argument 1: expects a mesh of the program's 2 devices (mhlo.num_partitions), but got one of 4: #sdy.sharding<@mesh, [{"a"}, {}]>}}
      %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}) {
    return
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @line_of_string(
      %x: tensor<8xf32>,
      // expected-error@+1 {{argument 1: mhlo.sharding: expected all of the program's 4 devices, but got device 5: {devices=[2,2]0,1,2,5}}}
      %y: tensor<8x8xf32> {mhlo.sharding = "{devices=[2,2]0,1,2,5}"}) {
    return
  }
}

// -----

// Operations.
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @op_rank(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{'stablehlo.negate' op result - sharding doesn't match tensor rank: 1 != 2, expected an entry for each dimension of 'tensor<8x8xf32>', but got #sdy.sharding<@mesh, [{"a"}]>}}
  %0 = stablehlo.negate %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}]>]>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @op_unknown(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' op unknown axis name: "c", expected one of the mesh's axes: "a"=2, "b"=2}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @op_twice(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error@+1 {{'sdy.sharding_constraint' op duplicate axis ref: "b", expected every axis at most once in a sharding}}
  %0 = sdy.sharding_constraint %x <@mesh, [{"b"}, {"b"}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func @op_large(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-error@+1 {{'sdy.sharding_constraint' op expects a mesh of the program's 2 devices (mhlo.num_partitions), but got one of 4: #sdy.sharding<@mesh, [{"b"}, {}]>}}
    %0 = sdy.sharding_constraint %x <@mesh, [{"b"}, {}]> : tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @op_string(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
    // expected-error@+1 {{'stablehlo.custom_call' op mhlo.sharding: expected a sharding of rank 2, but got one of rank 1: {devices=[4]<=[4]}}}
    %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[4]<=[4]}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// Results have no place of their own: the function's line, and the line of the value.
module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  // expected-error@+1 {{result 1: expects a mesh of the program's 2 devices (mhlo.num_partitions), but got one of 4: #sdy.sharding<@mesh, [{"b"}, {}]>}}
  func.func @result_large(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}) {
    // expected-note@+1 {{the value that is returned}}
    %0 = stablehlo.negate %x : tensor<8x8xf32>
    return %x, %0 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}
