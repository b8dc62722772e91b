// RUN: xla-opt %s -xla-hoist-constants | FileCheck %s

// Tensors become arguments with their values in an attribute; scalars stay.
// CHECK: func.func @main(%[[A:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<2xf32>)
// CHECK-SAME: millrace.hoisted = [dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>]
// CHECK-NEXT: stablehlo.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: stablehlo.add %[[A]], %[[C]]
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %s = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.add %a, %c : tensor<2xf32>
  return %0, %s : tensor<2xf32>, tensor<f32>
}
