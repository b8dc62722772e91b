// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that was planned for little memory gets small messages: of 16 KB here, for 256 KB, so that two sums of 12 KB stay apart.
// RUN: xla-compile %s --emit=partitioned | FileCheck %s
// RUN: sed 's/262144/16777216/' %s | xla-compile - --emit=partitioned | FileCheck %s --check-prefix=MORE
// CHECK-COUNT-2: stablehlo.all_reduce
// CHECK-NOT: memory_per_device
// MORE-COUNT-1: stablehlo.all_reduce
// MORE-NOT: stablehlo.all_reduce
module attributes {mhlo.num_partitions = 2 : i32, millrace.memory_per_device = 262144 : i64} {
  sdy.mesh @mesh = <["x"=2]>
  func.func @main(%a: tensor<8x3072xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %b: tensor<8x3072xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<3072xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, tensor<3072xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3072xf32>, tensor<f32>) -> tensor<3072xf32>
    %1 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3072xf32>, tensor<f32>) -> tensor<3072xf32>
    return %0, %1 : tensor<3072xf32>, tensor<3072xf32>
  }
}
