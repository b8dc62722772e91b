// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan does not see that slices of an argument that is split otherwise move more than they save: the program as annotated is taken, in which nothing is
// split here. Without --auto-sharding a step takes as long.
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=virtual --simulate --cache-dir=off | FileCheck %s
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=virtual --explain-sharding --cache-dir=off | FileCheck %s --check-prefix=WHY
// RUN: xla-run %s --auto-sharding --mesh=a=2,b=4 --machine=virtual --verify --quiet --cache-dir=off
// CHECK: ms computing
// CHECK-NEXT: % computing, limited by arithmetic
// CHECK: the program as annotated was taken: {{[0-9.]+}} ms in the simulated step; a plan whose sums share messages: {{[0-9.]+}} ms
// WHY: Of the candidates the program as annotated was taken:
// WHY: argument 0 of @main{{.*}} : tensor<64x40xf32> [{}, {}], 10240 bytes on a device
func.func @main(%x: tensor<64x40xf32>) -> (tensor<64x5xf32>, tensor<61x40xf32>) {
  %0 = stablehlo.slice %x [0:64, 0:5] : (tensor<64x40xf32>) -> tensor<64x5xf32>
  %1 = stablehlo.add %0, %0 : tensor<64x5xf32>
  %2 = stablehlo.slice %x [3:64, 0:40] : (tensor<64x40xf32>) -> tensor<61x40xf32>
  %3 = stablehlo.multiply %2, %2 : tensor<61x40xf32>
  return %1, %3 : tensor<64x5xf32>, tensor<61x40xf32>
}
