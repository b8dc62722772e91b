// Computations that the runtime does not have become kernels over one block of elements.
// RUN: xla-opt %s -xla-outline-reducers -split-input-file | FileCheck %s
// CHECK-LABEL: @main
// CHECK: stablehlo.all_reduce
// CHECK: millrace.reducer = @all_reduce
// CHECK: func.func private @all_reduce(%{{.*}}: tensor<2048xf32>, %{{.*}}: tensor<2048xf32>) -> tensor<2048xf32> attributes {millrace.kernel}
// CHECK: stablehlo.map
// CHECK: stablehlo.constant dense<2.0
// CHECK: stablehlo.subtract
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %two : tensor<f32>
    %2 = stablehlo.subtract %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// A sum needs no kernel.
// CHECK-LABEL: @sum
// CHECK-NOT: millrace.reducer
func.func @sum(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %b, %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
