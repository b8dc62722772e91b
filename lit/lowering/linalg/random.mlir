// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// A length of small factors: one pass per radix, tables of roots, no chirp.
// CHECK-LABEL: @fft
// CHECK: arith.constant dense<{{.*}}> : tensor<12xf32>
// CHECK-NOT: tensor<32xf32>
// CHECK: return
func.func @fft(%x: tensor<12xcomplex<f32>>) -> tensor<12xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [12] : (tensor<12xcomplex<f32>>) -> tensor<12xcomplex<f32>>
  return %0 : tensor<12xcomplex<f32>>
}

// -----

// A large prime length is a convolution of power-of-two length with a chirp.
// CHECK-LABEL: @chirp
// CHECK: bufferization.alloc_tensor() : tensor<256xf64>
func.func @chirp(%x: tensor<97xcomplex<f64>>) -> tensor<97xcomplex<f64>> {
  %0 = stablehlo.fft %x, type = FFT, length = [97] : (tensor<97xcomplex<f64>>) -> tensor<97xcomplex<f64>>
  return %0 : tensor<97xcomplex<f64>>
}

// -----

// Ten elements are two whole Philox blocks in a loop and half a block after it.
// CHECK-LABEL: @philox
// CHECK: scf.for
// CHECK-COUNT-4: tensor.insert
// CHECK: scf.yield
// CHECK-COUNT-2: tensor.insert {{.*}} : tensor<10xi32>
// CHECK: tensor.expand_shape {{.*}} into tensor<2x5xi32>
func.func @philox(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<2x5xui32>) {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x5xui32>)
  return %0, %1 : tensor<3xui64>, tensor<2x5xui32>
}
