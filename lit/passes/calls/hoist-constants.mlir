// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-hoist-constants | FileCheck %s
// RUN: xla-opt %s -xla-hoist-constants --remarks-filter-missed=xla-hoist-constants -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --implicit-check-not=remark:

// Tensors become arguments with their values in an attribute; scalars stay.
// CHECK: func.func @main(%[[A:.*]]: tensor<2xf32>, %[[C:.*]]: tensor<2xf32>)
// CHECK-SAME: millrace.hoisted = [dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>]
// CHECK-NEXT: stablehlo.constant dense<3.000000e+00> : tensor<f32>
// CHECK-NEXT: stablehlo.add %[[A]], %[[C]]
func.func @main(%a: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.constant stays: it has at most one element"
  %s = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.add %a, %c : tensor<2xf32>
  return %0, %s : tensor<2xf32>, tensor<f32>
}

// A private function is called with the arguments that it has.
// CHECK: func.func private @table() -> tensor<2xf32>
// CHECK-NEXT: stablehlo.constant dense<[4.000000e+00, 5.000000e+00]>
func.func private @table() -> tensor<2xf32> {
  // REMARK: :[[@LINE+1]]:{{.*}} remark: {{.*}}"stablehlo.constant stays: its function is private"
  %c = stablehlo.constant dense<[4.0, 5.0]> : tensor<2xf32>
  return %c : tensor<2xf32>
}
