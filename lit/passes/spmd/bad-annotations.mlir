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
// expected-error@+1 {{arg 0 - unknown axis name: "c"}}
func.func @unknown(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"c"}]>}) {
  return
}

// -----

sdy.mesh @mesh = <["a"=2, "b"=2]>
// expected-error@+1 {{arg 0 - duplicate axis ref: "a"}}
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
