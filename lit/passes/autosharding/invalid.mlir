// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be planned is an error that says what to do.
// RUN: xla-opt %s -split-input-file -verify-diagnostics -xla-auto-sharding="memory-per-device=1000 plan-memory=values"

// expected-error@+1 {{automatic sharding expects a mesh (sdy.mesh, or --mesh), but the module has none}}
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

// expected-error@+2 {{automatic sharding finds no plan}}
// expected-note@+1 {{the program as annotated: takes 4194304 bytes on a device, 4193304 more than the limit}}
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%a: tensor<8192x64xf32>) -> tensor<8192x64xf32> {
    %0 = stablehlo.tanh %a : tensor<8192x64xf32>
    return %0 : tensor<8192x64xf32>
  }
}

// -----

// expected-error@+1 {{UNIMPLEMENTED: automatic sharding over}}
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  sdy.mesh @other = <["y"=2]>
  func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{"y"}]>}) -> tensor<8xf32> {
    %0 = stablehlo.tanh %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
