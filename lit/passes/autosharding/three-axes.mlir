// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Meshes of three axes, one of them of size one, and an annotation with axes in another order than the mesh has them: it stays, the values are those
// of one device, and the machine's numbers of devices are the products of the axes.
// RUN: xla-run %s --auto-sharding --mesh=x=2,y=2,z=2 --verify --quiet --cache-dir=off
// RUN: xla-run %s --auto-sharding --mesh=x=4,y=1,z=2 --verify --quiet --cache-dir=off
// RUN: xla-run %s --auto-sharding --mesh=x=3,y=1,z=2 --verify --quiet --cache-dir=off
// RUN: xla-opt %s -xla-auto-sharding="machine=tpu-v4" | FileCheck %s
// RUN: xla-compile %s --auto-sharding --mesh=x=16,y=16,z=3 --machine=tpu-v4 --simulate --cache-dir=off | FileCheck %s --check-prefix=LARGE
// CHECK: %arg0: tensor<64x32x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"{{[xyz]}}", "{{[xyz]}}"
// CHECK-SAME: %arg2: tensor<96x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x"}, {}]>}
// LARGE: a step on tpu-v4
sdy.mesh @mesh = <["x"=2, "y"=2, "z"=2]>
func.func @main(%x: tensor<64x32x48xf32>, %w: tensor<48x96xf32>,
                %v: tensor<96x48xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z", "x"}, {}]>}) -> tensor<64x48x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<64x32x48xf32>, tensor<48x96xf32>) -> tensor<64x32x96xf32>
  %1 = stablehlo.tanh %0 : tensor<64x32x96xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [2] x [0] : (tensor<64x32x96xf32>, tensor<96x48xf32>) -> tensor<64x32x48xf32>
  %3 = stablehlo.transpose %2, dims = [0, 2, 1] : (tensor<64x32x48xf32>) -> tensor<64x48x32xf32>
  %4 = stablehlo.tanh %3 : tensor<64x48x32xf32>
  return %4 : tensor<64x48x32xf32>
}
