// RUN: xla-translate --interpret -split-input-file %s
// numpy.fft of the same input.

func.func @fft_kinds() {
  %x = stablehlo.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf64>
  %r = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf64>) -> tensor<3xcomplex<f64>>
  check.expect_eq_const %r, dense<[(15.0, 0.0), (-3.0, 6.0), (-5.0, 0.0)]> : tensor<3xcomplex<f64>>
  %back = stablehlo.fft %r, type = IRFFT, length = [4] : (tensor<3xcomplex<f64>>) -> tensor<4xf64>
  check.expect_eq %back, %x : tensor<4xf64>
  %c = stablehlo.constant dense<[(1.0, 1.0), (2.0, 0.0), (3.0, -1.0)]> : tensor<3xcomplex<f64>>
  %f = stablehlo.fft %c, type = FFT, length = [3] : (tensor<3xcomplex<f64>>) -> tensor<3xcomplex<f64>>
  check.expect_almost_eq_const %f, dense<[(6.0, 0.0), (-0.6339745962155614, 2.3660254037844386), (-2.3660254037844386, 0.6339745962155614)]> : tensor<3xcomplex<f64>>, tolerance = 1.0e-14
  func.return
}
