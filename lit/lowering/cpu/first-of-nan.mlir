// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// argmax and argmin of rows in which several numbers are NaN name the first of them, in whatever lane it was.
// RUN: xla-run %s --quiet --cache-dir=off --verify
// RUN: xla-run %s --cache-dir=off | FileCheck %s
// CHECK: dense<[9, 9, 3, 5, 33]> : tensor<5xi32>
// CHECK: dense<[9, 9, 3, 5, 33]> : tensor<5xui32>
func.func @main() -> (tensor<5xi32>, tensor<5xui32>) {
  %one = stablehlo.constant dense<[[9], [16], [190], [5], [64]]> : tensor<5x1xi32>
  %other = stablehlo.constant dense<[[20], [9], [3], [150], [33]]> : tensor<5x1xi32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<5x200xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %high = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %zero_u = stablehlo.constant dense<0> : tensor<ui32>
  %places = stablehlo.iota dim = 1 : tensor<5x200xi32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [0, 1] : (tensor<5x1xi32>) -> tensor<5x200xi32>
  %others = stablehlo.broadcast_in_dim %other, dims = [0, 1] : (tensor<5x1xi32>) -> tensor<5x200xi32>
  %is_one = stablehlo.compare EQ, %places, %ones : (tensor<5x200xi32>, tensor<5x200xi32>) -> tensor<5x200xi1>
  %is_other = stablehlo.compare EQ, %places, %others : (tensor<5x200xi32>, tensor<5x200xi32>) -> tensor<5x200xi1>
  %is_nan = stablehlo.or %is_one, %is_other : tensor<5x200xi1>
  %usual = stablehlo.convert %places : (tensor<5x200xi32>) -> tensor<5x200xf32>
  %mixed = stablehlo.select %is_nan, %nan, %usual : tensor<5x200xi1>, tensor<5x200xf32>
  %x = stablehlo.optimization_barrier %mixed : tensor<5x200xf32>
  %most:2 = stablehlo.reduce(%x init: %low), (%places init: %zero) across dimensions = [1] : (tensor<5x200xf32>, tensor<5x200xi32>, tensor<f32>, tensor<i32>) -> (tensor<5xf32>, tensor<5xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%at: tensor<i32>, %to: tensor<i32>) {
      %greater = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %undefined = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %better = stablehlo.or %greater, %undefined : tensor<i1>
      %same = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %before = stablehlo.compare LT, %at, %to : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %first = stablehlo.and %same, %before : tensor<i1>
      %stays = stablehlo.or %better, %first : tensor<i1>
      %value = stablehlo.select %better, %a, %b : tensor<i1>, tensor<f32>
      %place = stablehlo.select %stays, %at, %to : tensor<i1>, tensor<i32>
      stablehlo.return %value, %place : tensor<f32>, tensor<i32>
    }
  %places_u = stablehlo.iota dim = 1 : tensor<5x200xui32>
  %least:2 = stablehlo.reduce(%x init: %high), (%places_u init: %zero_u) across dimensions = [1] : (tensor<5x200xf32>, tensor<5x200xui32>, tensor<f32>, tensor<ui32>) -> (tensor<5xf32>, tensor<5xui32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%at: tensor<ui32>, %to: tensor<ui32>) {
      %less = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %undefined = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %better = stablehlo.or %less, %undefined : tensor<i1>
      %same = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %before = stablehlo.compare LT, %at, %to : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      %first = stablehlo.and %same, %before : tensor<i1>
      %stays = stablehlo.or %better, %first : tensor<i1>
      %value = stablehlo.select %better, %a, %b : tensor<i1>, tensor<f32>
      %place = stablehlo.select %stays, %at, %to : tensor<i1>, tensor<ui32>
      stablehlo.return %value, %place : tensor<f32>, tensor<ui32>
    }
  return %most#1, %least#1 : tensor<5xi32>, tensor<5xui32>
}
