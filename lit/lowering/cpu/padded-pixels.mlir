// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few channels and the columns of an image are one loop index in a kernel that pads the columns, whatever else the kernel computes: a vector holds
// several pixels. Borders that cut, borders of rows, colours of 8 bits; many channels are vectors of their own.
// RUN: xla-run %s --verify --seed=5 --quiet --cache-dir=off
// RUN: xla-compile %s --target=sapphirerapids --emit=vector --cache-dir=off -o - | FileCheck %s
// CHECK-COUNT-7: vector.maskedload
func.func @main(%x: tensor<8x99x101x3xui8>, %y: tensor<20x33x3xf32>, %z: tensor<5x7x32xf32>) -> (tensor<8x104x105x3xui8>, tensor<20x40x3xf32>, tensor<5x9x32xf32>) {
  %none = stablehlo.constant dense<7> : tensor<ui8>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %none, low = [0, 2, -1, 0], high = [0, 3, 5, 0], interior = [0, 0, 0, 0] : (tensor<8x99x101x3xui8>, tensor<ui8>) -> tensor<8x104x105x3xui8>
  %1 = stablehlo.pad %y, %zero, low = [0, 3, 0], high = [0, 4, 0], interior = [0, 0, 0] : (tensor<20x33x3xf32>, tensor<f32>) -> tensor<20x40x3xf32>
  %2 = stablehlo.tanh %1 : tensor<20x40x3xf32>
  %3 = stablehlo.pad %z, %zero, low = [0, 1, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<5x7x32xf32>, tensor<f32>) -> tensor<5x9x32xf32>
  return %0, %2, %3 : tensor<8x104x105x3xui8>, tensor<20x40x3xf32>, tensor<5x9x32xf32>
}
