// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -split-input-file -verify-diagnostics

func.func @c1(%x: tensor<4xindex>) -> tensor<8xf32> {
  // expected-error @below {{(C1) expects elements that are integers, floats or complex numbers, but got 'tensor<4xindex>'}}
  %0 = millrace.alias %x : tensor<4xindex> to tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @c2(%x: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
  // expected-error @below {{(C2) expects a result of 32 bytes, as the operand 'tensor<4xcomplex<f32>>', but got 'tensor<4xf32>' of 16 bytes}}
  %0 = millrace.alias %x : tensor<4xcomplex<f32>> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @static(%x: tensor<?xf32>) -> tensor<4xf32> {
  // expected-error @below {{operand #0 must be statically shaped tensor}}
  %0 = millrace.alias %x : tensor<?xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
