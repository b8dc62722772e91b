// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two products with an exponential between them are one kernel only if the attention emitter supports it. The pass has its answer in the pipeline only.
// RUN: xla-compile %s --entry=attention --emit=fused | FileCheck %s

// CHECK: call @[[K:.*]](%arg0, %arg1, %arg2)
// CHECK: func.func private @[[K]]({{.*}}millrace.attention
// CHECK-NOT: millrace.attention

func.func @attention(%q: tensor<32x8xf32>, %k: tensor<40x8xf32>, %v: tensor<40x16xf32>) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<32x8xf32>, tensor<40x8xf32>) -> tensor<32x40xf32>
  %1 = stablehlo.exponential %0 : tensor<32x40xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<32x40xf32>, tensor<40x16xf32>) -> tensor<32x16xf32>
  return %2 : tensor<32x16xf32>
}

// A score needs one of another row.
func.func @symmetric(%q: tensor<32x8xf32>, %k: tensor<32x8xf32>, %v: tensor<32x16xf32>) -> tensor<32x16xf32> {
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<32x32xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = stablehlo.add %0, %1 : tensor<32x32xf32>
  %3 = stablehlo.exponential %2 : tensor<32x32xf32>
  %4 = stablehlo.dot_general %3, %v, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  return %4 : tensor<32x16xf32>
}

// The sums are those of columns, but the second product adds up rows.
func.func @over_rows(%q: tensor<32x8xf32>, %k: tensor<40x8xf32>, %v: tensor<40x16xf32>) -> tensor<32x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<32x8xf32>, tensor<40x8xf32>) -> tensor<32x40xf32>
  %1 = stablehlo.exponential %0 : tensor<32x40xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<32x40xf32>, tensor<f32>) -> tensor<40xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<40xf32>) -> tensor<32x40xf32>
  %4 = stablehlo.divide %1, %3 : tensor<32x40xf32>
  %5 = stablehlo.dot_general %4, %v, contracting_dims = [1] x [0] : (tensor<32x40xf32>, tensor<40x16xf32>) -> tensor<32x16xf32>
  return %5 : tensor<32x16xf32>
}

// Each half of the keys has a sum of its own.
func.func @halves(%q: tensor<32x8xf32>, %k: tensor<40x8xf32>, %v: tensor<40x16xf32>) -> tensor<32x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<32x8xf32>, tensor<40x8xf32>) -> tensor<32x40xf32>
  %1 = stablehlo.exponential %0 : tensor<32x40xf32>
  %2 = stablehlo.reshape %1 : (tensor<32x40xf32>) -> tensor<32x2x20xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<32x2x20xf32>, tensor<f32>) -> tensor<32x2xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<32x2xf32>) -> tensor<32x2x20xf32>
  %5 = stablehlo.divide %2, %4 : tensor<32x2x20xf32>
  %6 = stablehlo.reshape %5 : (tensor<32x2x20xf32>) -> tensor<32x40xf32>
  %7 = stablehlo.dot_general %6, %v, contracting_dims = [1] x [0] : (tensor<32x40xf32>, tensor<40x16xf32>) -> tensor<32x16xf32>
  return %7 : tensor<32x16xf32>
}
