// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings over devices in orders of their own: four devices give what one gives, and what is split stays so between the two.
// RUN: xla-run %s --num-devices=4 --cache-dir=off | sed -n 's/^device 3: //p' > %t.four
// RUN: sed '/num_partitions/s/attributes {[^}]*} //; s/ {mhlo.sharding = [^}]*}"}//g' %s > %t.mlir && xla-run %t.mlir --cache-dir=off > %t.one
// RUN: diff %t.one %t.four
// RUN: xla-opt %s -xla-spmd-partition | FileCheck %s
// CHECK: stablehlo.negate {{.*}} : tensor<64x64xi32>
// CHECK: stablehlo.multiply {{.*}} : tensor<32x128xi32>
module attributes {mhlo.num_partitions = 4 : i32} {
  func.func @main() -> (tensor<128xi32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %1 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{devices=[2,2]0,3,1,2}"} : (tensor<128x128xi32>) -> tensor<128x128xi32>
    %4 = stablehlo.negate %3 : tensor<128x128xi32>
    %5 = stablehlo.custom_call @Sharding(%4) {mhlo.sharding = "{devices=[4,1]2,0,3,1}"} : (tensor<128x128xi32>) -> tensor<128x128xi32>
    %6 = stablehlo.multiply %5, %5 : tensor<128x128xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.reduce(%6 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<128x128xi32>, tensor<i32>) -> tensor<128xi32>
    return %7 : tensor<128xi32>
  }
}
