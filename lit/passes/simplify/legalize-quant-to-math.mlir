// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Quantized values become storage integers, and what computes on them floats.
// RUN: xla-opt %s -stablehlo-legalize-quant-to-math | FileCheck %s

// CHECK-LABEL: func.func @quantize(%arg0: tensor<4xf32>) -> tensor<4xi8>
// CHECK-DAG: %[[SCALE:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-DAG: %[[ZP:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<4xf32>
// CHECK-DAG: %[[Q:.*]] = stablehlo.divide %arg0, %[[SCALE]]
// CHECK: %[[A:.*]] = stablehlo.add %[[Q]], %[[ZP]]
// CHECK-DAG: %[[MIN:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-DAG: %[[MAX:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK: %[[C:.*]] = stablehlo.clamp %[[MIN]], %[[A]], %[[MAX]]
// CHECK: %[[R:.*]] = stablehlo.round_nearest_even %[[C]]
// CHECK: %[[I:.*]] = stablehlo.convert %[[R]] : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT: return %[[I]]
func.func @quantize(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 2.0:3>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 2.0:3>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 2.0:3>>
}

// Everything happens in the expressed type. f16 has no 32767, so integers are clamped as well.
// CHECK-LABEL: func.func @quantize_f16(%arg0: tensor<4xf16>) -> tensor<4xi16>
// CHECK: stablehlo.divide %arg0, {{.*}} : tensor<4xf16>
// CHECK: %[[F:.*]] = stablehlo.clamp {{.*}} : (tensor<f16>, tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
// CHECK: stablehlo.convert {{.*}} : (tensor<4xf16>) -> tensor<4xi16>
// CHECK: stablehlo.clamp {{.*}} : (tensor<i16>, tensor<4xi16>, tensor<i16>) -> tensor<4xi16>
func.func @quantize_f16(%x: tensor<4xf16>) -> tensor<4x!quant.uniform<i16:f16, 2.0>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf16>) -> tensor<4x!quant.uniform<i16:f16, 2.0>>
  return %0 : tensor<4x!quant.uniform<i16:f16, 2.0>>
}

// NaN becomes 0, which this storage does not have.
// CHECK-LABEL: func.func @quantize_without_zero
// CHECK: stablehlo.convert {{.*}} -> tensor<4xi8>
// CHECK: stablehlo.clamp {{.*}} : (tensor<i8>, tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
func.func @quantize_without_zero(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8<1:100>:f32, 2.0:3>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8<1:100>:f32, 2.0:3>>
  return %0 : tensor<4x!quant.uniform<i8<1:100>:f32, 2.0:3>>
}

// One scale per feature is broadcast along the quantized dimension; zero points of zero cost nothing.
// CHECK-LABEL: func.func @dequantize_per_axis(%arg0: tensor<3x2xi8>) -> tensor<3x2xf32>
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<3x2xi8>) -> tensor<3x2xf32>
// CHECK: %[[S:.*]] = stablehlo.constant dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [1]
// CHECK-NOT: subtract
// CHECK: stablehlo.multiply %[[X]], %[[B]]
func.func @dequantize_per_axis(%x: tensor<3x2x!quant.uniform<i8:f32:1, {2.0, 4.0}>>) -> tensor<3x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<3x2x!quant.uniform<i8:f32:1, {2.0, 4.0}>>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @add(%arg0: tensor<4xi8>, %arg1: tensor<4xi8>) -> tensor<4xi8>
// CHECK: stablehlo.add {{.*}} : tensor<4xf32>
func.func @add(%x: tensor<4x!quant.uniform<i8:f32, 2.0>>, %y: tensor<4x!quant.uniform<i8:f32, 3.0>>) -> tensor<4x!quant.uniform<i8:f32, 4.0>> {
  %0 = stablehlo.add %x, %y : (tensor<4x!quant.uniform<i8:f32, 2.0>>, tensor<4x!quant.uniform<i8:f32, 3.0>>) -> tensor<4x!quant.uniform<i8:f32, 4.0>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 4.0>>
}

// Data movement moves storage, through calls too; unsigned storage stays unsigned.
// CHECK-LABEL: func.func @move(%arg0: tensor<2x3xui8>) -> tensor<3x2xui8>
// CHECK: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xui8>) -> tensor<3x2xui8>
// CHECK: call @identity({{.*}}) : (tensor<3x2xui8>) -> tensor<3x2xui8>
func.func @move(%x: tensor<2x3x!quant.uniform<u8:f32, 2.0:128>>) -> tensor<3x2x!quant.uniform<u8:f32, 2.0:128>> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x!quant.uniform<u8:f32, 2.0:128>>) -> tensor<3x2x!quant.uniform<u8:f32, 2.0:128>>
  %1 = call @identity(%0) : (tensor<3x2x!quant.uniform<u8:f32, 2.0:128>>) -> tensor<3x2x!quant.uniform<u8:f32, 2.0:128>>
  return %1 : tensor<3x2x!quant.uniform<u8:f32, 2.0:128>>
}
func.func private @identity(%x: tensor<3x2x!quant.uniform<u8:f32, 2.0:128>>) -> tensor<3x2x!quant.uniform<u8:f32, 2.0:128>> {
  return %x : tensor<3x2x!quant.uniform<u8:f32, 2.0:128>>
}

// A body computes on expressed values, the operation around it moves storage.
// CHECK-LABEL: func.func @reduce_max
// CHECK: stablehlo.reduce(%arg0 init: %arg1) across dimensions = [0] : (tensor<4xi8>, tensor<i8>) -> tensor<i8>
// CHECK-NEXT: reducer(%[[A:.*]]: tensor<i8>, %[[B:.*]]: tensor<i8>)
// CHECK: stablehlo.maximum {{.*}} : tensor<f32>
func.func @reduce_max(%x: tensor<4x!quant.uniform<i8:f32, 2.0>>, %z: tensor<!quant.uniform<i8:f32, 2.0>>) -> tensor<!quant.uniform<i8:f32, 2.0>> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<4x!quant.uniform<i8:f32, 2.0>>, tensor<!quant.uniform<i8:f32, 2.0>>) -> tensor<!quant.uniform<i8:f32, 2.0>>
  return %0 : tensor<!quant.uniform<i8:f32, 2.0>>
}

// CHECK-LABEL: @leaves_float
// CHECK-NEXT: stablehlo.add %arg0, %arg0 : tensor<4xf32>
// CHECK-NEXT: return
func.func @leaves_float(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
