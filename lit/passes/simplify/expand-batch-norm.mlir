// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// batch_norm_* become the formulas of the specification; small float types are computed in f32.
// RUN: xla-opt %s -xla-expand-batch-norm | FileCheck %s

// CHECK-LABEL: @inference
// CHECK-DAG: %[[MEAN:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [1]
// CHECK: %[[CENTERED:.*]] = stablehlo.subtract %arg0, %[[MEAN]]
// CHECK: %[[EPS:.*]] = stablehlo.add %arg4, {{.*}} : tensor<3xf32>
// CHECK: %[[DEV:.*]] = stablehlo.sqrt %[[EPS]]
// CHECK: stablehlo.divide %[[CENTERED]]
// CHECK: stablehlo.multiply
// CHECK: stablehlo.add
// CHECK-NOT: batch_norm
func.func @inference(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %var) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @training_bf16
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// CHECK: stablehlo.reduce(%[[X]] init: {{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK-COUNT-3: -> tensor<{{.*}}xbf16>
func.func @training_bf16(%x: tensor<2x3xbf16>, %scale: tensor<3xbf16>, %offset: tensor<3xbf16>) -> (tensor<2x3xbf16>, tensor<3xbf16>, tensor<3xbf16>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<2x3xbf16>, tensor<3xbf16>, tensor<3xbf16>)
  return %0#0, %0#1, %0#2 : tensor<2x3xbf16>, tensor<3xbf16>, tensor<3xbf16>
}

// A size that only the run knows enters the mean as a value.
// CHECK-LABEL: @training_dynamic
// CHECK: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: stablehlo.convert %[[N]] : (tensor<i32>) -> tensor<f32>
// CHECK: stablehlo.dynamic_broadcast_in_dim
func.func @training_dynamic(%x: tensor<?x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @grad
// CHECK-COUNT-3: stablehlo.reduce
// CHECK-NOT: batch_norm
func.func @grad(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %mean: tensor<3xf32>, %var: tensor<3xf32>, %g: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %scale, %mean, %var, %g) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// Quantized batch norms are left to the quantization passes.
// CHECK-LABEL: @leaves_quantized
// CHECK: stablehlo.batch_norm_inference
!q = tensor<2x3x!quant.uniform<i8:f32, 2.0:3>>
!v = tensor<3x!quant.uniform<i8:f32, 2.0:3>>
func.func @leaves_quantized(%x: !q, %scale: !v, %offset: !v, %mean: !v, %var: !v) -> !q {
  %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %var) {epsilon = 0.001 : f32, feature_index = 1 : i64} : (!q, !v, !v, !v, !v) -> !q
  return %0 : !q
}
