// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gates of a recurrent network are parts of one product's columns: products and gates of a step are one kernel, which takes the step's
// inputs where they lie. Rows are no whole number of tiles; one part of the columns is read twice.
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off --entry=single
// RUN: xla-compile %s --time -o /dev/null --cache-dir=off 2>&1 | FileCheck %s --check-prefix=KERNELS

// KERNELS: compile time per kernel
// KERNELS-NOT: row {{ *}}multiply
// KERNELS: contraction {{ *}}multiply
// KERNELS-NOT: row {{ *}}multiply
func.func @main(%inputs: tensor<7x19x256xf32>, %weights: tensor<256x64xf32>, %bias: tensor<256xf32>, %start: tensor<19x64xf32>) -> (tensor<19x64xf32>, tensor<19x64xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>

  %w = stablehlo.tanh %weights : tensor<256x64xf32>
  %0:3 = stablehlo.while(%i = %zero, %h = %start, %c = %start) : tensor<i32>, tensor<19x64xf32>, tensor<19x64xf32>
    cond {
      %n = stablehlo.constant dense<7> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %x = stablehlo.dynamic_slice %inputs, %i, %zero, %zero, sizes = [1, 19, 256] : (tensor<7x19x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x19x256xf32>
      %x2 = stablehlo.reshape %x : (tensor<1x19x256xf32>) -> tensor<19x256xf32>
      %d = stablehlo.dot_general %h, %w, contracting_dims = [1] x [1] : (tensor<19x64xf32>, tensor<256x64xf32>) -> tensor<19x256xf32>
      %y = stablehlo.add %x2, %d : tensor<19x256xf32>
      %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<256xf32>) -> tensor<19x256xf32>
      %g = stablehlo.add %y, %b : tensor<19x256xf32>
      %g0 = stablehlo.slice %g [0:19, 0:64] : (tensor<19x256xf32>) -> tensor<19x64xf32>
      %g1 = stablehlo.slice %g [0:19, 64:128] : (tensor<19x256xf32>) -> tensor<19x64xf32>
      %g3 = stablehlo.slice %g [0:19, 192:256] : (tensor<19x256xf32>) -> tensor<19x64xf32>
      %s0 = stablehlo.logistic %g0 : tensor<19x64xf32>
      %s1 = stablehlo.tanh %g1 : tensor<19x64xf32>
      %s3 = stablehlo.logistic %g3 : tensor<19x64xf32>
      %kept = stablehlo.multiply %s0, %c : tensor<19x64xf32>
      %new = stablehlo.multiply %s1, %g3 : tensor<19x64xf32>
      %c2 = stablehlo.add %kept, %new : tensor<19x64xf32>
      %c3 = stablehlo.tanh %c2 : tensor<19x64xf32>
      %h2 = stablehlo.multiply %s3, %c3 : tensor<19x64xf32>
      stablehlo.return %j, %h2, %c2 : tensor<i32>, tensor<19x64xf32>, tensor<19x64xf32>
    }
  return %0#1, %0#2 : tensor<19x64xf32>, tensor<19x64xf32>
}

// The state is a factor and read beside it; half of the columns are read.
func.func @single(%weights: tensor<64x256xf32>, %start: tensor<3x64xf32>, %steps: tensor<i32>) -> tensor<3x64xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %n = stablehlo.remainder %steps, %nine : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %h = %start) : tensor<i32>, tensor<3x64xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.dot_general %h, %weights, contracting_dims = [1] x [0] : (tensor<3x64xf32>, tensor<64x256xf32>) -> tensor<3x256xf32>
      %g0 = stablehlo.slice %d [0:3, 0:64] : (tensor<3x256xf32>) -> tensor<3x64xf32>
      %g1 = stablehlo.slice %d [0:3, 128:192] : (tensor<3x256xf32>) -> tensor<3x64xf32>
      %s0 = stablehlo.logistic %g0 : tensor<3x64xf32>
      %s1 = stablehlo.tanh %g1 : tensor<3x64xf32>
      %a = stablehlo.multiply %s0, %s1 : tensor<3x64xf32>
      %b = stablehlo.add %a, %h : tensor<3x64xf32>
      stablehlo.return %j, %b : tensor<i32>, tensor<3x64xf32>
    }
  return %0#1 : tensor<3x64xf32>
}
