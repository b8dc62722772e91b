// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every tensor is there, also whole ones: what came near and did not get in, and why. A constraint is named where it stands, not at what it
// constrains.
// RUN: xla-compile %s --explain-sharding | FileCheck %s

// CHECK-LABEL: {{^}}annotated:
// CHECK: argument 0 of @main
// CHECK: dimension 1: "model" of stablehlo.transpose {{.*}} did not come through stablehlo.transpose {{.*}} along i: the dimension is closed
// CHECK: argument 6 of @main : tensor<4xf32> #sdy.sharding<@mesh, [{}], unreduced={"data"}>
// CHECK-NEXT: summands along "data": unreduced
// CHECK-LABEL: {{^}}split by propagation:
// CHECK: stablehlo.transpose : tensor<16x8xf32> #sdy.sharding<@mesh, [{"model"}, {"data"}]>
// CHECK-NEXT: dimension 0 "model": from sdy.sharding_constraint ({{.*}}explain-reasons.mlir:[[#@LINE+37]])
// CHECK: result 5 of @main "transposed" : tensor<16x8xf32>
// CHECK-NEXT: dimension 0 "model": from sdy.sharding_constraint ({{.*}}explain-reasons.mlir:[[#@LINE+35]]), returned
// CHECK-LABEL: {{^}}whole, because annotations say so:
// CHECK-NEXT: argument 2 of @main "params['c']" : tensor<8x16xf32>
// CHECK-NEXT: dimension 0: "data" of argument 0 of @main {{.*}} did not come through stablehlo.multiply {{.*}} along i: the dimension is closed
// CHECK-LABEL: {{^}}whole, because of a conflict:
// CHECK-NEXT: stablehlo.add : tensor<8x16xf32>
// CHECK-NEXT: dimension 0: "data" of argument 0 of @main {{.*}} along i: argument 1 of @main {{.*}} has "model" there
// CHECK-NEXT: rule of stablehlo.add ({{.*}}): ([i, j], [i, j])->([i, j]) {i=8, j=16}
// CHECK-LABEL: {{^}}whole, because an operation needs them whole:
// CHECK-NEXT: stablehlo.dynamic_slice : tensor<8x7xf32>
// CHECK-NEXT: along j: the operation needs it whole (need_replication)
// CHECK-NEXT: rule of stablehlo.dynamic_slice {{.*}} need_replication={j} blocked_propagation={j}
// CHECK-LABEL: {{^}}whole, because of a barrier:
// CHECK-NEXT: sdy.propagation_barrier : tensor<8x16xf32>
// CHECK-LABEL: {{^}}whole, because they have no dimensions:
// CHECK-NEXT: argument 4 of @main : tensor<i32>
// CHECK-LABEL: {{^}}whole, because no annotation reached them:
// CHECK-NEXT: argument 5 of @main : tensor<4x4xf32>
// Equal ones are one.
// CHECK-NEXT: stablehlo.negate : tensor<4x4xf32>  ({{.*}}explain-reasons.mlir:[[#@LINE+11]], {{.*}}explain-reasons.mlir:[[#@LINE+12]])
// CHECK-LABEL: {{^}}collectives of each device:
module attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %y: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"model"}, {}]>},
                  %c: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>} loc("params['c']"), %z: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{?}, {"model"}]>},
                  %i: tensor<i32>, %u: tensor<4x4xf32>,
                  %s: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"data"}>}) -> (tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x7xf32>, tensor<4x4xf32>, tensor<8x16xf32>, tensor<16x8xf32> {jax.result_info = "transposed"}) {
    %0 = stablehlo.add %x, %y : tensor<8x16xf32>
    %1 = stablehlo.multiply %x, %c : tensor<8x16xf32>
    %2 = stablehlo.dynamic_slice %z, %i, %i, sizes = [8, 7] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<8x7xf32>
    %n = stablehlo.negate %u : tensor<4x4xf32>
    %3 = stablehlo.negate %n : tensor<4x4xf32>
    %4 = sdy.propagation_barrier %z allowed_direction=BACKWARD : tensor<8x16xf32>
    %5 = stablehlo.sine %4 : tensor<8x16xf32>
    %6 = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{"model"}, {"data"}]> : tensor<16x8xf32>
    return %0, %1, %2, %3, %5, %7 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x7xf32>, tensor<4x4xf32>, tensor<8x16xf32>, tensor<16x8xf32>
  }
}
