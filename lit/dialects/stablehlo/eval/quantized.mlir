// RUN: xla-translate --interpret -split-input-file %s

// scale 0.5, zero point 1: storage = round_even(x / 0.5 + 1), clamped to i8.
func.func @quantize_dequantize() {
  %x = stablehlo.constant dense<[0.0, 0.25, 0.75, -1.0, 1000.0, -1000.0]> : tensor<6xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.5:1>>
  %s = stablehlo.bitcast_convert %q : (tensor<6x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<6xi8>
  check.expect_eq_const %s, dense<[1, 2, 2, -1, 127, -128]> : tensor<6xi8>
  %d = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<6xf32>
  check.expect_eq_const %d, dense<[0.0, 0.5, 0.5, -1.0, 63.0, -64.5]> : tensor<6xf32>
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

// -----

// NaN becomes the integer 0, whatever the zero point; where storage has no 0, the nearest that it has.
func.func @nan() {
  %x = stablehlo.constant dense<[0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<3xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5:17>>
  %s = stablehlo.bitcast_convert %q : (tensor<3x!quant.uniform<i8:f32, 0.5:17>>) -> tensor<3xi8>
  check.expect_eq_const %s, dense<[0, 127, -128]> : tensor<3xi8>
  %p = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<u8<5:200>:f32, 0.5:17>>
  %t = stablehlo.bitcast_convert %p : (tensor<3x!quant.uniform<u8<5:200>:f32, 0.5:17>>) -> tensor<3xui8>
  check.expect_eq_const %t, dense<[5, 200, 5]> : tensor<3xui8>
  func.return
}

// -----

// The storage of 0 / 0 is 0, that of 1 / 0 the largest.
func.func @divide_by_zero() {
  %x = stablehlo.constant dense<[0.0, 1.0, -1.0]> : tensor<3xf32>
  %y = stablehlo.constant dense<0.0> : tensor<3xf32>
  %a = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %b = stablehlo.uniform_quantize %y : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %c = stablehlo.divide %a, %b : (tensor<3x!quant.uniform<i8:f32, 0.5>>, tensor<3x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x!quant.uniform<i8:f32, 0.25:-128>>
  %s = stablehlo.bitcast_convert %c : (tensor<3x!quant.uniform<i8:f32, 0.25:-128>>) -> tensor<3xi8>
  check.expect_eq_const %s, dense<[0, 127, -128]> : tensor<3xi8>
  func.return
}

// -----

// One type stands for operand and result; every step rounds to bf16: 257 / 1 is 256, and 256 + 1 is 256.
func.func @in_the_expressed_type() {
  %x = stablehlo.constant dense<257.0> : tensor<1xbf16>
  %q = stablehlo.uniform_quantize %x : (tensor<1xbf16>) -> tensor<1x!quant.uniform<i16:bf16, 1.0:1>>
  %r = stablehlo.uniform_quantize %q : tensor<1x!quant.uniform<i16:bf16, 1.0:1>>
  %s = stablehlo.bitcast_convert %r : (tensor<1x!quant.uniform<i16:bf16, 1.0:1>>) -> tensor<1xi16>
  check.expect_eq_const %s, dense<256> : tensor<1xi16>
  func.return
}
