// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -sdy-deduplicate-constants | FileCheck %s

// CHECK-LABEL: @merged
// CHECK-COUNT-2: sdy.constant
// CHECK-NOT: sdy.constant
// CHECK: %[[SUM:.*]] = stablehlo.add %[[C:.*]], %[[C]]
func.func @merged() -> tensor<f32> {
  %0 = sdy.constant dense<1.0> : tensor<f32>
  %1 = sdy.constant dense<1.0> : tensor<f32>
  // Whatever an attribute says, it is another constant.
  %2 = sdy.constant {note = "other"} dense<1.0> : tensor<f32>
  %3 = stablehlo.add %0, %1 : tensor<f32>
  %4 = stablehlo.add %3, %2 : tensor<f32>
  return %4 : tensor<f32>
}
