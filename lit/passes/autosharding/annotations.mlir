// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The partitioned program of a plan may take longer than the plan expects, here by a reduction that has nothing to add: the program as annotated is taken,
// whose simulated step is shorter. Without --auto-sharding a step takes as long.
// RUN: xla-compile %s --auto-sharding --machine=virtual --simulate --cache-dir=off | FileCheck %s
// RUN: xla-compile %s --auto-sharding --machine=virtual --explain-sharding --cache-dir=off | FileCheck %s --check-prefix=WHY
// RUN: xla-run %s --auto-sharding --machine=virtual --verify --quiet --cache-dir=off
// CHECK: ms computing
// CHECK: 2 all_reduce
// CHECK: the program as annotated was taken: {{[0-9.]+}} ms in the simulated step; a plan whose sums share messages: {{[0-9.]+}} ms
// WHY: Of the candidates the program as annotated was taken:
// WHY-NEXT: Shardings follow from the annotations
// WHY: annotated:
// WHY: dimension 0 "data": annotated here
// WHY: split by propagation:
// WHY: from argument 0 of @main {{.*}}, through stablehlo.subtract
// WHY: collectives of each device:
sdy.mesh @mesh = <["data"=2, "model"=4]>
func.func @main(%x: tensor<8192x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "model"}, {}]>}) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8192x64xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<64xf32>) -> tensor<8192x64xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<8192x64xf32>
  %3 = stablehlo.multiply %2, %2 : tensor<8192x64xf32>
  %4 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8192x64xf32>, tensor<f32>) -> tensor<64xf32>
  %5 = stablehlo.reshape %4 : (tensor<64xf32>) -> tensor<1x64xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1x64xf32>, tensor<f32>) -> tensor<64xf32>
  %7 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8192x64xf32>, tensor<f32>) -> tensor<64xf32>
  %8 = stablehlo.reshape %7 : (tensor<64xf32>) -> tensor<1x64xf32>
  %9 = stablehlo.reduce(%8 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %6, %9 : tensor<64xf32>, tensor<64xf32>
}
