// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed of one tensor and then put into another order is computed by the kernel that does so.
// RUN: xla-opt %s -xla-fuse-kernels | FileCheck %s

// CHECK-LABEL: func.func @image
// CHECK-NEXT: %[[R:.*]] = call @transpose_{{.*}}(%arg0, %arg1, %arg2) : (tensor<2x32x32x3xui8>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x32x32xf32>
// CHECK-NEXT: return %[[R]]
func.func @image(%x: tensor<2x32x32x3xui8>, %mean: tensor<3xf32>, %deviation: tensor<3xf32>) -> tensor<2x3x32x32xf32> {
  %0 = stablehlo.convert %x : (tensor<2x32x32x3xui8>) -> tensor<2x32x32x3xf32>
  %1 = stablehlo.broadcast_in_dim %mean, dims = [3] : (tensor<3xf32>) -> tensor<2x32x32x3xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<2x32x32x3xf32>
  %3 = stablehlo.broadcast_in_dim %deviation, dims = [3] : (tensor<3xf32>) -> tensor<2x32x32x3xf32>
  %4 = stablehlo.divide %2, %3 : tensor<2x32x32x3xf32>
  %5 = stablehlo.transpose %4, dims = [0, 3, 1, 2] : (tensor<2x32x32x3xf32>) -> tensor<2x3x32x32xf32>
  return %5 : tensor<2x3x32x32xf32>
}

// Two tensors would be put into another order instead of one; a value that others read is in memory anyway; a pad is the copy that the
// transposition makes anyway, what is before it has its own kernel.
// CHECK-LABEL: func.func @others
// CHECK: call @add_{{.*}} -> tensor<64x96xf32>
// CHECK: call @transpose_{{[0-9]+}}{{(_[0-9]+)?}}(%{{[^,]*}}) : (tensor<64x96xf32>) -> tensor<96x64xf32>
// CHECK: call @negate_{{.*}} -> tensor<64x96xf32>
// CHECK: call @transpose_{{[0-9]+}}{{(_[0-9]+)?}}(%{{[^,]*}}) : (tensor<64x96xf32>) -> tensor<96x64xf32>
// CHECK: call @abs_{{.*}} -> tensor<64x96xf32>
// CHECK: call @transpose_{{[0-9]+}}{{(_[0-9]+)?}}(%{{[^,]*}}) : (tensor<64x96xf32>) -> tensor<98x64xf32>
func.func @others(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>) -> (tensor<96x64xf32>, tensor<96x64xf32>, tensor<64x96xf32>, tensor<98x64xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %x, %y : tensor<64x96xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<64x96xf32>) -> tensor<96x64xf32>
  %2 = stablehlo.negate %x : tensor<64x96xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<64x96xf32>) -> tensor<96x64xf32>
  %4 = stablehlo.abs %y : tensor<64x96xf32>
  %5 = stablehlo.pad %4, %zero, low = [0, 1], high = [0, 1], interior = [0, 0] : (tensor<64x96xf32>, tensor<f32>) -> tensor<64x98xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<64x98xf32>) -> tensor<98x64xf32>
  return %1, %3, %2, %6 : tensor<96x64xf32>, tensor<96x64xf32>, tensor<64x96xf32>, tensor<98x64xf32>
}
