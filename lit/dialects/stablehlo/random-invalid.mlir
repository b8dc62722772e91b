// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each constraint of rng, rng_bit_generator and fft has a program that breaks it.
// RUN: xla-opt %s -split-input-file -verify-diagnostics

// (C1) element types agree
func.func @rng_c1(%a: tensor<f32>, %b: tensor<f64>, %s: tensor<1xi64>) {
  // expected-error@+1 {{failed to verify that all of {a, b, result} have same element type}}
  %0 = stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<f32>, tensor<f64>, tensor<1xi64>) -> tensor<2xf32>
  return
}

// -----

// (C2) a normal distribution is of floats
func.func @rng_c2(%a: tensor<i32>, %b: tensor<i32>, %s: tensor<1xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{mu and sigma must be floats}}
  %0 = stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<2xi32>
  return
}

// -----

// (C3) the result has one dimension per size
func.func @rng_c3(%a: tensor<f32>, %b: tensor<f32>, %s: tensor<1xi64>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{are incompatible with return type(s) of operation}}
  %0 = stablehlo.rng %a, %b, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2x2xf32>
  return
}

// -----

// (C1) the state keeps its shape
func.func @rng_bit_generator_c1(%s: tensor<2xui64>) {
  // expected-error@+1 {{output state shape must be compatible with initial state shape. Got: 'tensor<2xui64>' and 'tensor<3xui64>'}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return
}

// -----

// (C1) the state keeps its element type
func.func @rng_bit_generator_c1_type(%s: tensor<2xui64>) {
  // expected-error@+1 {{output state must have the element type of the initial state}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui32>, tensor<4xui32>)
  return
}

// -----

// (C1) the operand has enough dimensions
func.func @fft_c1(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operand rank must not be less than fft rank of 2 for operand of type}}
  %0 = stablehlo.fft %x, type = FFT, length = [4, 4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

// (C2) FFT takes complex numbers
func.func @fft_c2_fft(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{FFT/IFFT/IRFFT take a complex tensor as input, but is given}}
  %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

// (C2) RFFT takes floats
func.func @fft_c2_rfft(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{RFFT requires f32 or f64 input type, but is given 'complex<f32>'.}}
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  return
}

// -----

// (C2) the result is complex
func.func @fft_c2_result(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{are incompatible with return type(s) of operation}}
  %0 = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// (C3) one to three dimensions
func.func @fft_c3(%x: tensor<2x2x2x2xcomplex<f32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{rank must be between 1 and 3, but got 4.}}
  %0 = stablehlo.fft %x, type = FFT, length = [2, 2, 2, 2] : (tensor<2x2x2x2xcomplex<f32>>) -> tensor<2x2x2x2xcomplex<f32>>
  return
}

// -----

// (C4) RFFT takes fft_length
func.func @fft_c4(%x: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{RFFT requires innermost dimensions to be compatible with fft_length. Got: 4 but wanted 5.}}
  %0 = stablehlo.fft %x, type = RFFT, length = [5] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  return
}

// -----

// (C5) IRFFT takes half of fft_length
func.func @fft_c5(%x: tensor<4xcomplex<f32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: 4 but fft_length is 4.}}
  %0 = stablehlo.fft %x, type = IRFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return
}

// -----

// (C5) IRFFT takes fft_length in the other dimensions
func.func @fft_c5_other(%x: tensor<2x3xcomplex<f32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{IRFFT requires non-final dimensions to be compatible with fft_length.}}
  %0 = stablehlo.fft %x, type = IRFFT, length = [3, 4] : (tensor<2x3xcomplex<f32>>) -> tensor<2x4xf32>
  return
}
