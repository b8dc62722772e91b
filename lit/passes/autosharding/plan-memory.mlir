// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A limit is one of the compiled program, in which the reduction's kernel computes what it reads: only the argument has memory. On request every value
// counts from its operation to its last reader.
// RUN: xla-opt %s -xla-auto-sharding="memory-per-device=5000000 report" 2>&1 >/dev/null | FileCheck %s
// RUN: not xla-opt %s -xla-auto-sharding="memory-per-device=5000000 plan-memory=values" 2>&1 >/dev/null | FileCheck %s --check-prefix=VALUES
// RUN: not xla-opt %s -xla-auto-sharding="plan-memory=all" 2>&1 >/dev/null | FileCheck %s --check-prefix=INVALID
// RUN: not xla-opt %s -xla-auto-sharding="memory-per-device=-1" 2>&1 >/dev/null | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: expects memory-per-device of at least 0, but got -1
// CHECK: remark: sharded for {{.*}}; 41{{[0-9]+}} bytes of values
// VALUES: error: automatic sharding finds no plan: {{.*}}every choice needs at least 16777216 bytes
// INVALID: error: expects plan-memory=values or compiled, but got 'all'
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<4194304xf32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.tanh %x : tensor<4194304xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<4194304xf32>
    %2 = stablehlo.add %0, %1 : tensor<4194304xf32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4194304xf32>, tensor<f32>) -> tensor<f32>
    return %3 : tensor<f32>
  }
}
