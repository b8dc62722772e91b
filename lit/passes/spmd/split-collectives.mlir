// RUN: xla-opt %s --pass-pipeline='builtin.module(func.func(xla-split-collectives{max-bytes=64}))' | FileCheck %s

// Of 32, 32, 16 and 48 bytes: the last parameters' gradients are made first, and reduced first. A part that is too large stays whole.
// CHECK-LABEL: @gradients
// CHECK: %[[LAST:.*]]:2 = "stablehlo.all_reduce"(%arg2, %arg3) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>
// CHECK: stablehlo.maximum
// CHECK: %[[NEXT:.*]]:2 = "stablehlo.all_reduce"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>
// CHECK: %[[LARGE:.*]] = "stablehlo.all_reduce"(%arg4)
// CHECK: return %[[NEXT]]#0, %[[NEXT]]#1, %[[LAST]]#0, %[[LAST]]#1, %[[LARGE]]
func.func @gradients(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<4xf32>, %d: tensor<12xf32>, %e: tensor<32xf32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<12xf32>, tensor<32xf32>) {
  %0:4 = "stablehlo.all_reduce"(%a, %b, %c, %d) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>} : (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<12xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<12xf32>)
  %1 = "stablehlo.all_reduce"(%e) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<32xf32>) -> tensor<32xf32>
  return %0#0, %0#1, %0#2, %0#3, %1 : tensor<8xf32>, tensor<8xf32>, tensor<4xf32>, tensor<12xf32>, tensor<32xf32>
}

// What fits is one message.
// CHECK-LABEL: @small
// CHECK: stablehlo.all_reduce
// CHECK-NOT: stablehlo.all_reduce
func.func @small(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0:2 = "stablehlo.all_reduce"(%a, %b) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
