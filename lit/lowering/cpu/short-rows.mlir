// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of a few elements: one row per lane, sums are carried from place to place, nothing is combined across lanes. With and without a rest of
// rows; results that are rows, one number per row, truth values; numbers of 64 bits; parts of longer rows, and a column for all rows.
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-compile %s --target=sapphirerapids --emit=vector --cache-dir=off -o - | FileCheck %s
// CHECK-COUNT-9: scf.for {{.*}} iter_args({{.*}}) -> (vector
func.func @main(%a: tensor<37x5xf32>, %b: tensor<64x12xf32>, %c: tensor<1003x3xf32>, %scale: tensor<3xf32>, %d: tensor<41x6xf64>, %e: tensor<7x40x8xi32>, %f: tensor<50x9xf32>, %g: tensor<50x1xf32>) -> (tensor<37x5xf32>, tensor<64x12xf32>, tensor<1003x3xf32>, tensor<41xf64>, tensor<41x6xf64>, tensor<7x40x8xi1>, tensor<50x4xf32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a0 = stablehlo.reduce(%a init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<37x5xf32>, tensor<f32>) -> tensor<37xf32>
  %a1 = stablehlo.broadcast_in_dim %a0, dims = [0] : (tensor<37xf32>) -> tensor<37x5xf32>
  %a2 = stablehlo.subtract %a, %a1 : tensor<37x5xf32>
  %a3 = stablehlo.exponential %a2 : tensor<37x5xf32>
  %a4 = stablehlo.reduce(%a3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<37x5xf32>, tensor<f32>) -> tensor<37xf32>
  %a5 = stablehlo.broadcast_in_dim %a4, dims = [0] : (tensor<37xf32>) -> tensor<37x5xf32>
  %a6 = stablehlo.divide %a3, %a5 : tensor<37x5xf32>

  %b0 = stablehlo.reduce(%b init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x12xf32>, tensor<f32>) -> tensor<64xf32>
  %b1 = stablehlo.broadcast_in_dim %b0, dims = [0] : (tensor<64xf32>) -> tensor<64x12xf32>
  %b2 = stablehlo.subtract %b, %b1 : tensor<64x12xf32>

  %three = stablehlo.constant dense<3.0> : tensor<1003xf32>
  %c0 = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1003x3xf32>, tensor<f32>) -> tensor<1003xf32>
  %c1 = stablehlo.divide %c0, %three : tensor<1003xf32>
  %c2 = stablehlo.broadcast_in_dim %c1, dims = [0] : (tensor<1003xf32>) -> tensor<1003x3xf32>
  %c3 = stablehlo.subtract %c, %c2 : tensor<1003x3xf32>
  %c4 = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<3xf32>) -> tensor<1003x3xf32>
  %c5 = stablehlo.multiply %c3, %c4 : tensor<1003x3xf32>

  %zero64 = stablehlo.constant dense<0.0> : tensor<f64>
  %d0 = stablehlo.reduce(%d init: %zero64) applies stablehlo.add across dimensions = [1] : (tensor<41x6xf64>, tensor<f64>) -> tensor<41xf64>
  %d1 = stablehlo.broadcast_in_dim %d0, dims = [0] : (tensor<41xf64>) -> tensor<41x6xf64>
  %d2 = stablehlo.subtract %d, %d1 : tensor<41x6xf64>

  %least = stablehlo.constant dense<-2147483648> : tensor<i32>
  %e0 = stablehlo.reduce(%e init: %least) applies stablehlo.maximum across dimensions = [2] : (tensor<7x40x8xi32>, tensor<i32>) -> tensor<7x40xi32>
  %e1 = stablehlo.broadcast_in_dim %e0, dims = [0, 1] : (tensor<7x40xi32>) -> tensor<7x40x8xi32>
  %e2 = stablehlo.compare EQ, %e, %e1 : (tensor<7x40x8xi32>, tensor<7x40x8xi32>) -> tensor<7x40x8xi1>

  %f0 = stablehlo.slice %f [0:50, 3:7] : (tensor<50x9xf32>) -> tensor<50x4xf32>
  %f1 = stablehlo.broadcast_in_dim %g, dims = [0, 1] : (tensor<50x1xf32>) -> tensor<50x4xf32>
  %f2 = stablehlo.multiply %f0, %f1 : tensor<50x4xf32>
  %f3 = stablehlo.reduce(%f2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<50x4xf32>, tensor<f32>) -> tensor<50xf32>
  %f4 = stablehlo.broadcast_in_dim %f3, dims = [0] : (tensor<50xf32>) -> tensor<50x4xf32>
  %f5 = stablehlo.subtract %f2, %f4 : tensor<50x4xf32>
  return %a6, %b2, %c5, %d0, %d2, %e2, %f5 : tensor<37x5xf32>, tensor<64x12xf32>, tensor<1003x3xf32>, tensor<41xf64>, tensor<41x6xf64>, tensor<7x40x8xi1>, tensor<50x4xf32>
}
