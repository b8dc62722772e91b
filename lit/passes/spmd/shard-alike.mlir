// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is to be sharded like another value is split as that; named axes and {unknown} do not keep a program from being split.
// RUN: xla-run %s --num-devices=4 --cache-dir=off | sed -n 's/^device 3: //p' > %t.four
// RUN: sed '/num_partitions/s/attributes {[^}]*} //; s/ {mhlo.sharding = "[^"]*"}//g' %s > %t.mlir && xla-run %t.mlir --cache-dir=off > %t.one
// RUN: diff %t.one %t.four
// RUN: xla-compile %s --emit=partitioned | FileCheck %s
// CHECK: stablehlo.multiply {{.*}} : tensor<32x32xi32>
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main() -> (tensor<64xi32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %1 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %2 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}"} : (tensor<64x64xi32>) -> tensor<64x64xi32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{unknown shard_as 1}"} : (tensor<64x64xi32>) -> tensor<64x64xi32>
    %4 = stablehlo.multiply %1, %1 : tensor<64x64xi32>
    %5 = stablehlo.custom_call @Sharding(%4) {mhlo.sharding = "{unknown shard_as 1}"} : (tensor<64x64xi32>) -> tensor<64x64xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<64x64xi32>, tensor<i32>) -> tensor<64xi32>
    return %6 : tensor<64xi32>
  }
}
