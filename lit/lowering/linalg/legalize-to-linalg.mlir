// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -stablehlo-legalize-to-linalg | FileCheck %s
// RUN: xla-opt %s -stablehlo-legalize-to-linalg=enable-primitive-ops=true | FileCheck %s --check-prefix=PRIMITIVE
// RUN: xla-opt %s -stablehlo-legalize-to-linalg=capture-scalar-inputs=false | FileCheck %s --check-prefix=OPERAND
// RUN: not xla-opt %s -stablehlo-legalize-to-linalg=enable-sparse-ops=true 2>&1 | FileCheck %s --check-prefix=SPARSE
// SPARSE: error: sparse tensors are not supported

// CHECK-LABEL: func.func @add
// CHECK: linalg.generic
// CHECK: arith.addf
// PRIMITIVE-LABEL: func.func @add
// PRIMITIVE: linalg.map { arith.addf } ins(%arg0, %arg1 : tensor<2x3xf32>, tensor<2x3xf32>)
func.func @add(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @sum
// CHECK: linalg.generic
// PRIMITIVE-LABEL: func.func @sum
// PRIMITIVE: linalg.reduce { arith.addf } ins(%arg0 : tensor<2x3xf32>) outs(%{{.*}} : tensor<2xf32>) dimensions = [1]
func.func @sum(%a: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// PRIMITIVE-LABEL: func.func @moves
// PRIMITIVE: linalg.transpose ins(%arg0 : tensor<2x3x4xf32>) outs(%{{.*}} : tensor<4x2x3xf32>) permutation = [2, 0, 1]
// PRIMITIVE: linalg.broadcast ins(%arg1 : tensor<3xf32>) outs(%{{.*}} : tensor<2x3x4xf32>) dimensions = [0, 2]
func.func @moves(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %0 = stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0, %1 : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// A product has no primitive form.
// PRIMITIVE-LABEL: func.func @product
// PRIMITIVE: linalg.generic
func.func @product(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Attributes of others go on.
// CHECK-LABEL: func.func @marked
// CHECK: linalg.generic {{.*}} attrs = {test.mark = "here"}
// PRIMITIVE-LABEL: func.func @marked
// PRIMITIVE: linalg.map { arith.mulf } ins(%arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>) outs({{.*}}) {test.mark = "here"}
func.func @marked(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.multiply %a, %a {test.mark = "here"} : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// The bits of quantized numbers are left to others.
// CHECK-LABEL: func.func @bits
// CHECK: stablehlo.bitcast_convert
// CHECK: linalg.generic
func.func @bits(%a: tensor<6x!quant.uniform<i8:f32, 0.5>>) -> tensor<6xi8> {
  %0 = stablehlo.bitcast_convert %a : (tensor<6x!quant.uniform<i8:f32, 0.5>>) -> tensor<6xi8>
  %1 = stablehlo.negate %0 : tensor<6xi8>
  return %1 : tensor<6xi8>
}

// CHECK-LABEL: func.func @choice
// CHECK: %[[P:.*]] = tensor.extract %arg0[] : tensor<i1>
// CHECK: arith.select %[[P]]
// OPERAND-LABEL: func.func @choice
// OPERAND: ins(%arg0, %arg1, %arg2 : tensor<i1>, tensor<4xf32>, tensor<4xf32>)
func.func @choice(%p: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<4xf32>
  return %0 : tensor<4xf32>
}
