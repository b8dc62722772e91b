// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of complex matrices by real ones (xla-split-complex-dots), whichever operand is repeated and wherever its dimensions stand.
// RUN: xla-run %s --verify --quiet --cache-dir=off
func.func @main(%pa: tensor<96x128xcomplex<f32>>, %pb: tensor<128x96xcomplex<f32>>, %ta: tensor<128x96xcomplex<f64>>, %tb: tensor<90x128xcomplex<f64>>, %la: tensor<24x128xcomplex<f64>>, %lb: tensor<128x400xcomplex<f64>>, %ma: tensor<128x24xcomplex<f32>>, %mb: tensor<400x128xcomplex<f32>>, %ba: tensor<4x64x64xcomplex<f32>>, %bb: tensor<64x4x64xcomplex<f32>>, %da: tensor<8x16x100xcomplex<f32>>, %db: tensor<16x100x8xcomplex<f32>>) -> (tensor<96x96xcomplex<f32>>, tensor<96x90xcomplex<f64>>, tensor<24x400xcomplex<f64>>, tensor<24x400xcomplex<f32>>, tensor<4x64x64xcomplex<f32>>, tensor<100x100xcomplex<f32>>) {
  %p = stablehlo.dot_general %pa, %pb, contracting_dims = [1] x [0] : (tensor<96x128xcomplex<f32>>, tensor<128x96xcomplex<f32>>) -> tensor<96x96xcomplex<f32>>
  %t = stablehlo.dot_general %ta, %tb, contracting_dims = [0] x [1] : (tensor<128x96xcomplex<f64>>, tensor<90x128xcomplex<f64>>) -> tensor<96x90xcomplex<f64>>
  %l = stablehlo.dot_general %la, %lb, contracting_dims = [1] x [0] : (tensor<24x128xcomplex<f64>>, tensor<128x400xcomplex<f64>>) -> tensor<24x400xcomplex<f64>>
  %m = stablehlo.dot_general %ma, %mb, contracting_dims = [0] x [1] : (tensor<128x24xcomplex<f32>>, tensor<400x128xcomplex<f32>>) -> tensor<24x400xcomplex<f32>>
  %b = stablehlo.dot_general %ba, %bb, batching_dims = [0] x [1], contracting_dims = [1] x [2] : (tensor<4x64x64xcomplex<f32>>, tensor<64x4x64xcomplex<f32>>) -> tensor<4x64x64xcomplex<f32>>
  %d = stablehlo.dot_general %da, %db, contracting_dims = [1, 0] x [0, 2] : (tensor<8x16x100xcomplex<f32>>, tensor<16x100x8xcomplex<f32>>) -> tensor<100x100xcomplex<f32>>
  return %p, %t, %l, %m, %b, %d : tensor<96x96xcomplex<f32>>, tensor<96x90xcomplex<f64>>, tensor<24x400xcomplex<f64>>, tensor<24x400xcomplex<f32>>, tensor<4x64x64xcomplex<f32>>, tensor<100x100xcomplex<f32>>
}
