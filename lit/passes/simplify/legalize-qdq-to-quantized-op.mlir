// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dequantize, operation, quantize becomes a quantized operation, unless the float value is needed.
// RUN: xla-opt %s -stablehlo-legalize-qdq-to-quantized-op | FileCheck %s

// CHECK-LABEL: @add
// CHECK-NEXT: stablehlo.add %arg0, %arg1 : tensor<4x!quant.uniform<i8:f32, 2.000000e+00>>
// CHECK-NEXT: return
func.func @add(%x: tensor<4x!quant.uniform<i8:f32, 2.0>>, %y: tensor<4x!quant.uniform<i8:f32, 2.0>>) -> tensor<4x!quant.uniform<i8:f32, 2.0>> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 2.0>>) -> tensor<4xf32>
  %1 = stablehlo.uniform_dequantize %y : (tensor<4x!quant.uniform<i8:f32, 2.0>>) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 2.0>>
  return %3 : tensor<4x!quant.uniform<i8:f32, 2.0>>
}

// CHECK-LABEL: @keeps_float_user
// CHECK: stablehlo.abs {{.*}} : tensor<4xf32>
func.func @keeps_float_user(%x: tensor<4x!quant.uniform<i8:f32, 2.0>>) -> (tensor<4xf32>, tensor<4x!quant.uniform<i8:f32, 2.0>>) {
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 2.0>>) -> tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 2.0>>
  return %1, %2 : tensor<4xf32>, tensor<4x!quant.uniform<i8:f32, 2.0>>
}
