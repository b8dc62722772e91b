// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replica 1 does not take part: an error that names operation, line and device, at once instead of a hang.
// RUN: not xla-run %s --num-devices=2 --cache-dir=off 2>&1 | FileCheck %s
// CHECK: error: {{.*}}missing-participant.mlir:11:12: all_reduce: missing participant: all_reduce at {{.*}}:11:12 on device 0 waits for device 1, which has finished without taking part
module attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %id = stablehlo.replica_id : tensor<ui32>
    %z = stablehlo.constant dense<0> : tensor<ui32>
    %p = stablehlo.compare EQ, %id, %z : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %r = "stablehlo.if"(%p) ({
      %0 = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<[[0,1]]> : tensor<1x2xi64>} : (tensor<f32>) -> tensor<f32>
      stablehlo.return %0 : tensor<f32>
    }, { stablehlo.return %x : tensor<f32> }) : (tensor<i1>) -> tensor<f32>
    return %r : tensor<f32>
  }
}
