// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings on ordinary operations only, of the older dot among them: the program is split, and eight devices give what one gives.
// RUN: xla-run %s --num-devices=8 --cache-dir=off | sed -n 's/^device 7: //p' > %t.eight
// RUN: sed '/num_partitions/s/attributes {[^}]*} //; s/ {mhlo.sharding = [^}]*}"}//g' %s > %t.mlir && xla-run %t.mlir --cache-dir=off > %t.one
// RUN: diff %t.one %t.eight
// RUN: xla-compile %s --emit=partitioned | FileCheck %s
// CHECK: stablehlo.add {{.*}} : tensor<8x64xi32>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<32x16xi32>
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main() -> (tensor<64xi32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %1 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %2 = stablehlo.add %0, %1 {mhlo.sharding = "{devices=[8,1]<=[8]}"} : tensor<64x64xi32>
    %3 = stablehlo.dot %0, %2 {mhlo.sharding = "{devices=[2,4]<=[8]}"} : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<64x64xi32>, tensor<i32>) -> tensor<64xi32>
    return %4 : tensor<64xi32>
  }
}
