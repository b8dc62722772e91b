// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex matrices by vectors, from both sides, as real products of the matrix as it lies in memory; their results returned, used by other
// kernels, and used in a loop.
// RUN: xla-run %s --verify --quiet --cache-dir=off
func.func @main(%m: tensor<301x257xcomplex<f32>>, %r: tensor<257xcomplex<f32>>, %l: tensor<301xcomplex<f32>>, %s: tensor<192x192xcomplex<f32>>, %v: tensor<192xcomplex<f32>>, %f: tensor<7x192xcomplex<f32>>, %t3: tensor<3x40x90xcomplex<f64>>, %u3: tensor<40x33x3xcomplex<f64>>, %w3: tensor<33x3x40xcomplex<f64>>) -> (tensor<301xcomplex<f32>>, tensor<301xcomplex<f32>>, tensor<192xcomplex<f32>>, tensor<192xcomplex<f32>>, tensor<192xcomplex<f32>>, tensor<257xcomplex<f32>>, tensor<301xf32>, tensor<192xcomplex<f32>>, tensor<301x257xcomplex<f32>>, tensor<7x192xcomplex<f32>>, tensor<3x90x33xcomplex<f64>>, tensor<3x90x33xcomplex<f64>>) {
  %0 = stablehlo.dot_general %m, %r, contracting_dims = [1] x [0] : (tensor<301x257xcomplex<f32>>, tensor<257xcomplex<f32>>) -> tensor<301xcomplex<f32>>
  %1 = stablehlo.dot_general %l, %m, contracting_dims = [0] x [0] : (tensor<301xcomplex<f32>>, tensor<301x257xcomplex<f32>>) -> tensor<257xcomplex<f32>>
  %2 = stablehlo.abs %0 : (tensor<301xcomplex<f32>>) -> tensor<301xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %3:2 = stablehlo.while(%i = %zero, %x = %v) : tensor<i32>, tensor<192xcomplex<f32>>
    cond {
      %n = stablehlo.constant dense<300> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %small = stablehlo.constant dense<(0.01, 0.0)> : tensor<192xcomplex<f32>>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.dot_general %s, %x, contracting_dims = [1] x [0] : (tensor<192x192xcomplex<f32>>, tensor<192xcomplex<f32>>) -> tensor<192xcomplex<f32>>
      %z = stablehlo.multiply %y, %small : tensor<192xcomplex<f32>>
      %t = stablehlo.add %z, %v : tensor<192xcomplex<f32>>
      stablehlo.return %j, %t : tensor<i32>, tensor<192xcomplex<f32>>
    }
  // States that are products as they come, and that change places.
  %unit = stablehlo.constant dense<(0.0625, 0.0)> : tensor<192x192xcomplex<f32>>
  %small = stablehlo.multiply %s, %unit : tensor<192x192xcomplex<f32>>
  %8:3 = stablehlo.while(%i = %zero, %x = %v, %y = %v) : tensor<i32>, tensor<192xcomplex<f32>>, tensor<192xcomplex<f32>>
    cond {
      %n = stablehlo.constant dense<7> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %z = stablehlo.dot_general %small, %x, contracting_dims = [1] x [0] : (tensor<192x192xcomplex<f32>>, tensor<192xcomplex<f32>>) -> tensor<192xcomplex<f32>>
      stablehlo.return %j, %y, %z : tensor<i32>, tensor<192xcomplex<f32>>, tensor<192xcomplex<f32>>
    }
  %9:2 = stablehlo.while(%i = %zero, %x = %v) : tensor<i32>, tensor<192xcomplex<f32>>
    cond {
      %n = stablehlo.constant dense<7> : tensor<i32>
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %z = stablehlo.dot_general %small, %x, contracting_dims = [1] x [0] : (tensor<192x192xcomplex<f32>>, tensor<192xcomplex<f32>>) -> tensor<192xcomplex<f32>>
      stablehlo.return %j, %z : tensor<i32>, tensor<192xcomplex<f32>>
    }
  %4 = stablehlo.add %m, %m : tensor<301x257xcomplex<f32>>
  %5 = stablehlo.dot_general %f, %s, contracting_dims = [1] x [1] : (tensor<7x192xcomplex<f32>>, tensor<192x192xcomplex<f32>>) -> tensor<7x192xcomplex<f32>>
  %6 = stablehlo.dot_general %t3, %u3, batching_dims = [0] x [2], contracting_dims = [1] x [0] : (tensor<3x40x90xcomplex<f64>>, tensor<40x33x3xcomplex<f64>>) -> tensor<3x90x33xcomplex<f64>>
  %7 = stablehlo.dot_general %t3, %w3, batching_dims = [0] x [1], contracting_dims = [1] x [2] : (tensor<3x40x90xcomplex<f64>>, tensor<33x3x40xcomplex<f64>>) -> tensor<3x90x33xcomplex<f64>>
  return %0, %0, %8#1, %8#2, %9#1, %1, %2, %3#1, %4, %5, %6, %7 : tensor<301xcomplex<f32>>, tensor<301xcomplex<f32>>, tensor<192xcomplex<f32>>, tensor<192xcomplex<f32>>, tensor<192xcomplex<f32>>, tensor<257xcomplex<f32>>, tensor<301xf32>, tensor<192xcomplex<f32>>, tensor<301x257xcomplex<f32>>, tensor<7x192xcomplex<f32>>, tensor<3x90x33xcomplex<f64>>, tensor<3x90x33xcomplex<f64>>
}
