// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Annotations that contradict each other: the error names the tensor. An argument and the result in its place have to be split alike.
// RUN: xla-opt %s -verify-diagnostics -xla-auto-sharding

// expected-error@+1 {{automatic sharding finds no plan: argument 0 of @main : tensor<16x32xf32> has no possible choice beside what its neighbours can choose}}
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]>
  func.func @main(%x: tensor<16x32xf32> {tf.aliasing_output = 0 : i32, sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>})
      -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"b"}]>}) {
    %0 = stablehlo.tanh %x : tensor<16x32xf32>
    return %0 : tensor<16x32xf32>
  }
}
