// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exponentials that are subnormal, as those that fall along a row, beside normal ones and zeros: made normal, so that every digit counts.
// RUN: xla-run %s --verify --quiet --cache-dir=off
func.func @main(%x: tensor<8x200xf32>, %w: tensor<8x200xf64>) -> (tensor<8x200xf32>, tensor<8x200xf64>) {
  %column = stablehlo.iota dim = 1 : tensor<8x200xf32>
  %fall = stablehlo.constant dense<-0.6> : tensor<8x200xf32>
  %bias = stablehlo.multiply %column, %fall : tensor<8x200xf32>
  %low = stablehlo.add %x, %bias : tensor<8x200xf32>
  %exp = stablehlo.exponential %low : tensor<8x200xf32>
  %scale = stablehlo.constant dense<0x7E000000> : tensor<8x200xf32>
  %visible = stablehlo.multiply %exp, %scale : tensor<8x200xf32>
  %wcolumn = stablehlo.iota dim = 1 : tensor<8x200xf64>
  %wfall = stablehlo.constant dense<-4.0> : tensor<8x200xf64>
  %wbias = stablehlo.multiply %wcolumn, %wfall : tensor<8x200xf64>
  %wlow = stablehlo.add %w, %wbias : tensor<8x200xf64>
  %wexp = stablehlo.exponential %wlow : tensor<8x200xf64>
  %wscale = stablehlo.constant dense<0x7F00000000000000> : tensor<8x200xf64>
  %wvisible = stablehlo.multiply %wexp, %wscale : tensor<8x200xf64>
  return %visible, %wvisible : tensor<8x200xf32>, tensor<8x200xf64>
}
