// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of complex matrices are one product of real ones.
// RUN: xla-opt %s -xla-split-complex-dots -cse | FileCheck %s

// CHECK-LABEL: @product
// CHECK: %[[A:.*]] = millrace.alias %arg0 : tensor<256x128xcomplex<f32>> to tensor<256x128x2xf32>
// CHECK: %[[LHS:.*]] = stablehlo.reshape %[[A]] : (tensor<256x128x2xf32>) -> tensor<256x256xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [0, 2]
// CHECK: %[[FIRST:.*]] = stablehlo.compare  EQ
// CHECK-DAG: %[[RE:.*]] = stablehlo.real %[[B]]
// CHECK-DAG: %[[IM:.*]] = stablehlo.imag %[[B]]
// CHECK-DAG: %[[NEG:.*]] = stablehlo.negate %[[IM]]
// CHECK: %[[TURNED:.*]] = stablehlo.complex %[[NEG]], %[[RE]]
// CHECK: %[[BOTH:.*]] = stablehlo.select %[[FIRST]], %[[B]], %[[TURNED]]
// CHECK: %[[PARTS:.*]] = millrace.alias %[[BOTH]] : tensor<128x2x192xcomplex<f32>> to tensor<128x2x192x2xf32>
// CHECK: %[[RHS:.*]] = stablehlo.reshape %[[PARTS]] : (tensor<128x2x192x2xf32>) -> tensor<256x192x2xf32>
// CHECK: %[[DOT:.*]] = stablehlo.dot_general %[[LHS]], %[[RHS]], contracting_dims = [1] x [0]
// CHECK: millrace.alias %[[DOT]] : tensor<256x192x2xf32> to tensor<256x192xcomplex<f32>>
func.func @product(%a: tensor<256x128xcomplex<f32>>, %b: tensor<128x192xcomplex<f32>>) -> tensor<256x192xcomplex<f32>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<256x128xcomplex<f32>>, tensor<128x192xcomplex<f32>>) -> tensor<256x192xcomplex<f32>>
  return %0 : tensor<256x192xcomplex<f32>>
}

// The large operand is read as it lies, the parts of the other one behind each other.
// CHECK-LABEL: @long
// CHECK: stablehlo.select {{.*}} : tensor<2x24x128xi1>, tensor<2x24x128xf64>
// CHECK: %[[B:.*]] = millrace.alias %arg1 : tensor<128x4000xcomplex<f64>> to tensor<128x4000x2xf64>
// CHECK: %[[DOT:.*]] = stablehlo.dot_general {{.*}}, %[[B]], contracting_dims = [2] x [0]{{.*}} -> tensor<2x24x4000x2xf64>
// CHECK-COUNT-4: stablehlo.slice %[[DOT]]
// CHECK: stablehlo.complex
func.func @long(%a: tensor<24x128xcomplex<f64>>, %b: tensor<128x4000xcomplex<f64>>) -> tensor<24x4000xcomplex<f64>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<24x128xcomplex<f64>>, tensor<128x4000xcomplex<f64>>) -> tensor<24x4000xcomplex<f64>>
  return %0 : tensor<24x4000xcomplex<f64>>
}

// Batches, and what is summed last in both operands: rows for both parts of each number of the result.
// CHECK-LABEL: @batches
// CHECK: stablehlo.select {{.*}} : tensor<4x64x2x48xi1>, tensor<4x64x2x48xcomplex<f32>>
// CHECK: stablehlo.dot_general {{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [3]{{.*}} (tensor<4x64x96xf32>, tensor<4x64x2x96xf32>) -> tensor<4x64x64x2xf32>
func.func @batches(%a: tensor<4x64x48xcomplex<f32>>, %b: tensor<4x64x48xcomplex<f32>>) -> tensor<4x64x64xcomplex<f32>> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x64x48xcomplex<f32>>, tensor<4x64x48xcomplex<f32>>) -> tensor<4x64x64xcomplex<f32>>
  return %0 : tensor<4x64x64xcomplex<f32>>
}

// Neither operand's last dimension is where parts can stand: the left one is transposed.
// CHECK-LABEL: @turned
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 1]
// CHECK: millrace.alias %[[T]] : tensor<2x96x128xcomplex<f32>> to tensor<2x96x128x2xf32>
func.func @turned(%a: tensor<2x128x96xcomplex<f32>>, %b: tensor<128x90x2xcomplex<f32>>) -> tensor<2x96x90xcomplex<f32>> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2], contracting_dims = [1] x [0] : (tensor<2x128x96xcomplex<f32>>, tensor<128x90x2xcomplex<f32>>) -> tensor<2x96x90xcomplex<f32>>
  return %0 : tensor<2x96x90xcomplex<f32>>
}

// The smaller operand is repeated, here the left one; the parts of the result stand behind its rows.
// CHECK-LABEL: @left
// CHECK-DAG: stablehlo.select {{.*}} : tensor<8x2x128xi1>, tensor<8x2x128xcomplex<f32>>
// CHECK-DAG: millrace.alias %arg1
// CHECK: %[[DOT:.*]] = stablehlo.dot_general {{.*}}, contracting_dims = [2] x [1]{{.*}} (tensor<8x2x256xf32>, tensor<128x256xf32>) -> tensor<8x2x128xf32>
// CHECK: stablehlo.slice %[[DOT]] [0:8, 0:1, 0:128]
// CHECK: stablehlo.slice %[[DOT]] [0:8, 1:2, 0:128]
// CHECK: stablehlo.complex
func.func @left(%a: tensor<8x128xcomplex<f32>>, %b: tensor<128x128xcomplex<f32>>) -> tensor<8x128xcomplex<f32>> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<8x128xcomplex<f32>>, tensor<128x128xcomplex<f32>>) -> tensor<8x128xcomplex<f32>>
  return %0 : tensor<8x128xcomplex<f32>>
}

// Few steps, or few for each number that is placed (an outer product), are not worth more kernels; real products are no business of this pass.
// CHECK-LABEL: @left_alone
// CHECK-NOT: millrace.alias
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK-NOT: millrace.alias
func.func @left_alone(%a: tensor<4x4xcomplex<f32>>, %b: tensor<256x256xf32>, %v: tensor<1024x1xcomplex<f32>>, %m: tensor<1x2048xcomplex<f32>>) -> (tensor<4x4xcomplex<f32>>, tensor<256x256xf32>, tensor<1024x2048xcomplex<f32>>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %1 = stablehlo.dot_general %b, %b, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = stablehlo.dot_general %v, %m, contracting_dims = [1] x [0] : (tensor<1024x1xcomplex<f32>>, tensor<1x2048xcomplex<f32>>) -> tensor<1024x2048xcomplex<f32>>
  return %0, %1, %2 : tensor<4x4xcomplex<f32>>, tensor<256x256xf32>, tensor<1024x2048xcomplex<f32>>
}

// Real and imaginary parts side by side are the numbers as they lie; in another order, or of two tensors, they are not.
// CHECK-LABEL: @stacks
// CHECK: %[[PARTS:.*]] = millrace.alias %arg0 : tensor<8x4xcomplex<f32>> to tensor<8x4x2xf32>
// CHECK-COUNT-2: stablehlo.concatenate
// CHECK: return %[[PARTS]]
func.func @stacks(%a: tensor<8x4xcomplex<f32>>, %b: tensor<8x4xcomplex<f32>>) -> (tensor<8x4x2xf32>, tensor<8x4x2xf32>, tensor<8x4x2xf32>) {
  %re = stablehlo.real %a : (tensor<8x4xcomplex<f32>>) -> tensor<8x4xf32>
  %im = stablehlo.imag %a : (tensor<8x4xcomplex<f32>>) -> tensor<8x4xf32>
  %other = stablehlo.imag %b : (tensor<8x4xcomplex<f32>>) -> tensor<8x4xf32>
  %0 = stablehlo.reshape %re : (tensor<8x4xf32>) -> tensor<8x4x1xf32>
  %1 = stablehlo.reshape %im : (tensor<8x4xf32>) -> tensor<8x4x1xf32>
  %2 = stablehlo.reshape %other : (tensor<8x4xf32>) -> tensor<8x4x1xf32>
  %3 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<8x4x1xf32>, tensor<8x4x1xf32>) -> tensor<8x4x2xf32>
  %4 = stablehlo.concatenate %1, %0, dim = 2 : (tensor<8x4x1xf32>, tensor<8x4x1xf32>) -> tensor<8x4x2xf32>
  %5 = stablehlo.concatenate %0, %2, dim = 2 : (tensor<8x4x1xf32>, tensor<8x4x1xf32>) -> tensor<8x4x2xf32>
  return %3, %4, %5 : tensor<8x4x2xf32>, tensor<8x4x2xf32>, tensor<8x4x2xf32>
}

// Bytes joined to numbers are the numbers; few of them, and elements of the same size, stay with the kernel that needs them.
// CHECK-LABEL: @bytes
// CHECK: %[[ALL:.*]] = millrace.alias %arg0 : tensor<4000x4xui8> to tensor<4000xf32>
// CHECK-COUNT-2: stablehlo.bitcast_convert
// CHECK: return %[[ALL]]
func.func @bytes(%a: tensor<4000x4xui8>, %b: tensor<4x4xui8>, %c: tensor<8000xf32>) -> (tensor<4000xf32>, tensor<4xf32>, tensor<8000xi32>) {
  %0 = stablehlo.bitcast_convert %a : (tensor<4000x4xui8>) -> tensor<4000xf32>
  %1 = stablehlo.bitcast_convert %b : (tensor<4x4xui8>) -> tensor<4xf32>
  %2 = stablehlo.bitcast_convert %c : (tensor<8000xf32>) -> tensor<8000xi32>
  return %0, %1, %2 : tensor<4000xf32>, tensor<4xf32>, tensor<8000xi32>
}

// Sums of columns of complex numbers are sums of twice as many columns, sums of long rows have two; of short rows, of all, of what a kernel computes, and products stay.
// CHECK-LABEL: @sums
// CHECK: %[[PARTS:.*]] = millrace.alias %arg0 : tensor<100x50xcomplex<f32>> to tensor<100x50x2xf32>
// CHECK: %[[WIDE:.*]] = stablehlo.reshape %[[PARTS]] : (tensor<100x50x2xf32>) -> tensor<100x100xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[WIDE]] init: %{{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<100x100xf32>, tensor<f32>) -> tensor<100xf32>
// CHECK: %[[TWO:.*]] = stablehlo.reshape %[[SUM]] : (tensor<100xf32>) -> tensor<50x2xf32>
// CHECK: millrace.alias %[[TWO]] : tensor<50x2xf32> to tensor<50xcomplex<f32>>
// CHECK: %[[LONG:.*]] = millrace.alias %arg1
// CHECK: %[[ROWS:.*]] = stablehlo.reduce(%[[LONG]] init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<100x300x2xf32>, tensor<f32>) -> tensor<100x2xf32>
// CHECK-NEXT: millrace.alias %[[ROWS]] : tensor<100x2xf32> to tensor<100xcomplex<f32>>
// CHECK-NOT: millrace.alias
// CHECK-COUNT-4: stablehlo.reduce
// CHECK-NOT: millrace.alias
func.func @sums(%a: tensor<100x50xcomplex<f32>>, %b: tensor<100x300xcomplex<f32>>) -> (tensor<50xcomplex<f32>>, tensor<100xcomplex<f32>>, tensor<100xcomplex<f32>>, tensor<complex<f32>>, tensor<50xcomplex<f32>>, tensor<50xcomplex<f32>>) {
  %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<100x50xcomplex<f32>>, tensor<complex<f32>>) -> tensor<50xcomplex<f32>>
  %1 = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x300xcomplex<f32>>, tensor<complex<f32>>) -> tensor<100xcomplex<f32>>
  %6 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<100x50xcomplex<f32>>, tensor<complex<f32>>) -> tensor<100xcomplex<f32>>
  %5 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<100x50xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %2 = stablehlo.exponential %a : tensor<100x50xcomplex<f32>>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<100x50xcomplex<f32>>, tensor<complex<f32>>) -> tensor<50xcomplex<f32>>
  %4 = stablehlo.reduce(%a init: %one) applies stablehlo.multiply across dimensions = [0] : (tensor<100x50xcomplex<f32>>, tensor<complex<f32>>) -> tensor<50xcomplex<f32>>
  return %0, %1, %6, %5, %3, %4 : tensor<50xcomplex<f32>>, tensor<100xcomplex<f32>>, tensor<100xcomplex<f32>>, tensor<complex<f32>>, tensor<50xcomplex<f32>>, tensor<50xcomplex<f32>>
}
