// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts as another name for a complex number that other results are or come from: the name is returned first, is returned twice, is made in
// small branches, which are one kernel, is of a number that is updated in place.
// RUN: xla-run %s --verify --quiet --cache-dir=off
func.func @main(%a: tensor<5xcomplex<f32>>, %p: tensor<i1>) -> (tensor<5x2xf32>, tensor<5x2xf32>, tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>, tensor<5x2xf32>, tensor<5xcomplex<f32>>, tensor<5x2xf32>) {
  %e = stablehlo.exponential %a : tensor<5xcomplex<f32>>
  %re0 = stablehlo.real %e : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  %im0 = stablehlo.imag %e : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  %first0 = stablehlo.reshape %re0 : (tensor<5xf32>) -> tensor<5x1xf32>
  %second0 = stablehlo.reshape %im0 : (tensor<5xf32>) -> tensor<5x1xf32>
  %parts0 = stablehlo.concatenate %first0, %second0, dim = 1 : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x2xf32>
  %t = stablehlo.fft %e, type = FFT, length = [5] : (tensor<5xcomplex<f32>>) -> tensor<5xcomplex<f32>>
  %b:2 = "stablehlo.if"(%p) ({
    %re1 = stablehlo.real %a : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %im1 = stablehlo.imag %a : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %first1 = stablehlo.reshape %re1 : (tensor<5xf32>) -> tensor<5x1xf32>
    %second1 = stablehlo.reshape %im1 : (tensor<5xf32>) -> tensor<5x1xf32>
    %parts1 = stablehlo.concatenate %first1, %second1, dim = 1 : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x2xf32>
    stablehlo.return %parts1, %a : tensor<5x2xf32>, tensor<5xcomplex<f32>>
  }, {
    %n = stablehlo.negate %a : tensor<5xcomplex<f32>>
    %re2 = stablehlo.real %n : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %im2 = stablehlo.imag %n : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
    %first2 = stablehlo.reshape %re2 : (tensor<5xf32>) -> tensor<5x1xf32>
    %second2 = stablehlo.reshape %im2 : (tensor<5xf32>) -> tensor<5x1xf32>
    %parts2 = stablehlo.concatenate %first2, %second2, dim = 1 : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x2xf32>
    stablehlo.return %parts2, %n : tensor<5x2xf32>, tensor<5xcomplex<f32>>
  }) : (tensor<i1>) -> (tensor<5x2xf32>, tensor<5xcomplex<f32>>)
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %some = stablehlo.slice %t [1:3] : (tensor<5xcomplex<f32>>) -> tensor<2xcomplex<f32>>
  %u = stablehlo.dynamic_update_slice %a, %some, %zero : (tensor<5xcomplex<f32>>, tensor<2xcomplex<f32>>, tensor<i32>) -> tensor<5xcomplex<f32>>
  %re3 = stablehlo.real %u : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  %im3 = stablehlo.imag %u : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  %first3 = stablehlo.reshape %re3 : (tensor<5xf32>) -> tensor<5x1xf32>
  %second3 = stablehlo.reshape %im3 : (tensor<5xf32>) -> tensor<5x1xf32>
  %parts3 = stablehlo.concatenate %first3, %second3, dim = 1 : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x2xf32>
  return %parts0, %parts0, %e, %t, %b#0, %b#1, %parts3 : tensor<5x2xf32>, tensor<5x2xf32>, tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>, tensor<5x2xf32>, tensor<5xcomplex<f32>>, tensor<5x2xf32>
}
