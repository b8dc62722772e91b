// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replica 0 sums where replica 1 gathers: an error that names both operations and their devices instead of a hang.
// RUN: not xla-run %s --num-devices=2 --cache-dir=off 2>&1 | FileCheck %s
// CHECK: error: {{.*}}: mismatched collectives: device {{[01]}} executes [[OP:all_[a-z]+]] at {{.*}}order-mismatch.mlir:1[[AT:[28]]]:12, but device
// CHECK-SAME: executes all_{{(reduce at .*:12:12|gather at .*:18:12)}}
module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<2xf32>, %y: tensor<1xf32>) -> tensor<2xf32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %z = stablehlo.constant dense<0> : tensor<ui32>
    %p = stablehlo.compare EQ, %id, %z : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %r = "stablehlo.if"(%p) ({
      %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
      stablehlo.return %0 : tensor<2xf32> }, {
      %1 = "stablehlo.all_gather"(%y) {all_gather_dim = 0 : i64, replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<1xf32>) -> tensor<2xf32>
      stablehlo.return %1 : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    return %r : tensor<2xf32>
  }
}
