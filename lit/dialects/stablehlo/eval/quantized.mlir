// RUN: xla-translate --interpret -split-input-file %s

// scale 0.5, zero point 1: storage = round_even(x / 0.5) + 1, clamped to i8.
func.func @quantize_dequantize() {
  %x = stablehlo.constant dense<[0.0, 0.25, 0.75, -1.0, 1000.0, -1000.0]> : tensor<6xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.5:1>>
  %s = stablehlo.bitcast_convert %q : (tensor<6x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<6xi8>
  check.expect_eq_const %s, dense<[1, 1, 3, -1, 127, -128]> : tensor<6xi8>
  %d = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<6xf32>
  check.expect_eq_const %d, dense<[0.0, 0.0, 1.0, -1.0, 63.0, -64.5]> : tensor<6xf32>
  func.return
}

// -----

// Dequantize, add, quantize: 3.5 + 3.0 = 6.5; 60 + 60 = 120 saturates at (127 - 0) * 0.5.
func.func @add_saturates() {
  %x = stablehlo.constant dense<[3.5, 60.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<[3.0, 60.0]> : tensor<2xf32>
  %a = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %b = stablehlo.uniform_quantize %y : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %c = stablehlo.add %a, %b : (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %d = stablehlo.uniform_dequantize %c : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  check.expect_eq_const %d, dense<[6.5, 63.5]> : tensor<2xf32>
  func.return
}

// -----

// Weights quantized per axis: column 0 by 1.0, column 1 by 0.25.
func.func @dot_per_axis() {
  %x = stablehlo.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = stablehlo.constant dense<[[3.0, 0.5], [4.0, 0.75]]> : tensor<2x2xf32>
  %a = stablehlo.uniform_quantize %x : (tensor<1x2xf32>) -> tensor<1x2x!quant.uniform<i8:f32, 1.0>>
  %b = stablehlo.uniform_quantize %w : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 0.25}>>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x2x!quant.uniform<i8:f32, 1.0>>, tensor<2x2x!quant.uniform<i8:f32:1, {1.0, 0.25}>>) -> tensor<1x2x!quant.uniform<i32:f32:1, {1.0, 0.25}>>
  %d = stablehlo.uniform_dequantize %0 : (tensor<1x2x!quant.uniform<i32:f32:1, {1.0, 0.25}>>) -> tensor<1x2xf32>
  check.expect_eq_const %d, dense<[[11.0, 2.0]]> : tensor<1x2xf32>
  func.return
}
