// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What costs one addition per element is computed in both kernels that need it; what costs more, or reads two tensors, is written.
// RUN: xla-opt %s -xla-repeat-cheap-operations -xla-fuse-kernels | FileCheck %s

// CHECK-LABEL: @variance
// CHECK: call @{{.*}} : (tensor<64xf32>, tensor<64x1024xf32>) -> tensor<1024xf32>
// CHECK: call @{{.*}} : {{.*}} -> tensor<64x1024xf32>
func.func @variance(%x: tensor<64x1024xf32>, %mean: tensor<64xf32>) -> (tensor<1024xf32>, tensor<64x1024xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<64xf32>) -> tensor<64x1024xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<64x1024xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<64x1024xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<1024xf32>) -> tensor<64x1024xf32>
  %5 = stablehlo.multiply %1, %4 : tensor<64x1024xf32>
  return %3, %5 : tensor<1024xf32>, tensor<64x1024xf32>
}

// CHECK-LABEL: @two_operands
// CHECK: call @{{.*}} -> (tensor<64x1024xf32>, tensor<1024xf32>)
func.func @two_operands(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> (tensor<1024xf32>, tensor<64x1024xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.subtract %x, %y : tensor<64x1024xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<64x1024xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<1024xf32>) -> tensor<64x1024xf32>
  %5 = stablehlo.multiply %1, %4 : tensor<64x1024xf32>
  return %3, %5 : tensor<1024xf32>, tensor<64x1024xf32>
}

// The magnitude of a complex number is none of an addition per element: it is written.
// CHECK-LABEL: @magnitudes
// CHECK: call @{{.*}} -> (tensor<64x1024xf32>, tensor<1024xf32>)
func.func @magnitudes(%x: tensor<64x1024xcomplex<f32>>) -> (tensor<1024xf32>, tensor<64x1024xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.abs %x : (tensor<64x1024xcomplex<f32>>) -> tensor<64x1024xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<64x1024xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<1024xf32>) -> tensor<64x1024xf32>
  %5 = stablehlo.multiply %1, %4 : tensor<64x1024xf32>
  return %3, %5 : tensor<1024xf32>, tensor<64x1024xf32>
}
