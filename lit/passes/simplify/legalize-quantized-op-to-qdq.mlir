// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A quantized operation becomes dequantize, operation, quantize; one that moves elements stays.
// RUN: xla-opt %s -stablehlo-legalize-quantized-op-to-qdq | FileCheck %s
// RUN: xla-opt %s -stablehlo-legalize-quantized-op-to-qdq -stablehlo-legalize-qdq-to-quantized-op | FileCheck %s --check-prefix=BACK

// CHECK-LABEL: @abs
// CHECK: %[[D:.*]] = stablehlo.uniform_dequantize %arg0
// CHECK: %[[A:.*]] = stablehlo.abs %[[D]] : tensor<4xf32>
// CHECK: stablehlo.uniform_quantize %[[A]]
// BACK-LABEL: @abs
// BACK-NEXT: stablehlo.abs %arg0 : tensor<4x!quant.uniform<i8:f32, 2.000000e+00:3>>
// BACK-NEXT: return
func.func @abs(%x: tensor<4x!quant.uniform<i8:f32, 2.0:3>>) -> tensor<4x!quant.uniform<i8:f32, 2.0:3>> {
  %0 = stablehlo.abs %x : tensor<4x!quant.uniform<i8:f32, 2.0:3>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 2.0:3>>
}

// CHECK-LABEL: @leaves_reshape
// CHECK-NEXT: stablehlo.reshape %arg0
// CHECK-NEXT: return
// BACK-LABEL: @leaves_reshape
func.func @leaves_reshape(%x: tensor<4x!quant.uniform<i8:f32, 2.0:3>>) -> tensor<2x2x!quant.uniform<i8:f32, 2.0:3>> {
  %0 = stablehlo.reshape %x : (tensor<4x!quant.uniform<i8:f32, 2.0:3>>) -> tensor<2x2x!quant.uniform<i8:f32, 2.0:3>>
  return %0 : tensor<2x2x!quant.uniform<i8:f32, 2.0:3>>
}
