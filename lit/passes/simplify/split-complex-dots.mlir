// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of complex matrices are one product of real ones.
// RUN: xla-opt %s -xla-split-complex-dots -cse | FileCheck %s

// CHECK-LABEL: @product
// CHECK-DAG: %[[AR:.*]] = stablehlo.real %arg0
// CHECK-DAG: %[[AI:.*]] = stablehlo.imag %arg0
// CHECK-DAG: %[[BR:.*]] = stablehlo.real %arg1
// CHECK-DAG: %[[BI:.*]] = stablehlo.imag %arg1
// CHECK-DAG: %[[NEG:.*]] = stablehlo.negate %[[BI]]
// CHECK-DAG: stablehlo.concatenate {{.*}} -> tensor<128x192x2xf32>
// CHECK-DAG: stablehlo.concatenate {{.*}} -> tensor<256x128x2xf32>
// CHECK: %[[FOUR:.*]] = stablehlo.concatenate {{.*}} -> tensor<128x2x192x2xf32>
// CHECK: stablehlo.reshape %[[FOUR]] : (tensor<128x2x192x2xf32>) -> tensor<256x192x2xf32>
// CHECK: %[[DOT:.*]] = stablehlo.dot_general {{.*}}, contracting_dims = [1] x [0]{{.*}} (tensor<256x256xf32>, tensor<256x192x2xf32>) -> tensor<256x192x2xf32>
// CHECK: stablehlo.slice %[[DOT]] [0:256, 0:192, 0:1]
// CHECK: stablehlo.slice %[[DOT]] [0:256, 0:192, 1:2]
// CHECK: stablehlo.complex
func.func @product(%a: tensor<256x128xcomplex<f32>>, %b: tensor<128x192xcomplex<f32>>) -> tensor<256x192xcomplex<f32>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x128xcomplex<f32>>, tensor<128x192xcomplex<f32>>) -> tensor<256x192xcomplex<f32>>
  return %0 : tensor<256x192xcomplex<f32>>
}

// The large operand is not repeated: the parts of the result stand behind the rows of the other one.
// CHECK-LABEL: @long
// CHECK-COUNT-2: stablehlo.concatenate {{.*}} -> tensor<24x128x2xf64>
// CHECK: stablehlo.concatenate {{.*}} -> tensor<24x2x256xf64>
// CHECK: stablehlo.concatenate {{.*}} -> tensor<128x2x400xf64>
// CHECK: stablehlo.dot_general {{.*}}, contracting_dims = [2] x [0]{{.*}} -> tensor<24x2x400xf64>
func.func @long(%a: tensor<24x128xcomplex<f64>>, %b: tensor<128x400xcomplex<f64>>) -> tensor<24x400xcomplex<f64>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<24x128xcomplex<f64>>, tensor<128x400xcomplex<f64>>) -> tensor<24x400xcomplex<f64>>
  return %0 : tensor<24x400xcomplex<f64>>
}

// Few steps, or few for each number, are not worth more kernels; real products are no business of this pass.
// CHECK-LABEL: @left_alone
// CHECK-NOT: stablehlo.real
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK-NOT: stablehlo.complex
func.func @left_alone(%a: tensor<4x4xcomplex<f32>>, %b: tensor<256x256xf32>, %v: tensor<1x2048xcomplex<f32>>, %m: tensor<2048x2048xcomplex<f32>>) -> (tensor<4x4xcomplex<f32>>, tensor<256x256xf32>, tensor<1x2048xcomplex<f32>>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = stablehlo.dot_general %v, %m, contracting_dims = [1] x [0] : (tensor<1x2048xcomplex<f32>>, tensor<2048x2048xcomplex<f32>>) -> tensor<1x2048xcomplex<f32>>
  return %0, %1, %2 : tensor<4x4xcomplex<f32>>, tensor<256x256xf32>, tensor<1x2048xcomplex<f32>>
}
