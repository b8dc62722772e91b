// RUN: xla-translate --interpret -split-input-file %s

// Truncation toward zero, saturation at the range, 0 for NaN.
func.func @float_to_int() {
  %x = stablehlo.constant dense<[1.9, -1.9, 300.0, -300.0, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<7xf32>
  %s = stablehlo.convert %x : (tensor<7xf32>) -> tensor<7xi8>
  check.expect_eq_const %s, dense<[1, -1, 127, -128, 0, 127, -128]> : tensor<7xi8>
  %u = stablehlo.convert %x : (tensor<7xf32>) -> tensor<7xui8>
  check.expect_eq_const %u, dense<[1, 0, 255, 0, 0, 255, 0]> : tensor<7xui8>
  %b = stablehlo.convert %x : (tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %b, dense<true> : tensor<7xi1>
  func.return
}

// -----

// 2^63 + 2^39 + 1 lies above the tie between two f32 values; going through f64 first would round to even, down.
func.func @int_to_float_rounds_once() {
  %x = stablehlo.constant dense<[9223372586610589697, 18446744073709551615]> : tensor<2xui64>
  %f = stablehlo.convert %x : (tensor<2xui64>) -> tensor<2xf32>
  %bits = stablehlo.bitcast_convert %f : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %bits, dense<[0x5F000001, 0x5F800000]> : tensor<2xi32>
  func.return
}

// -----

func.func @int_to_int() {
  %x = stablehlo.constant dense<[-1, 256, 130]> : tensor<3xi16>
  %s = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xi8>
  check.expect_eq_const %s, dense<[-1, 0, -126]> : tensor<3xi8>
  %u = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xui32>
  check.expect_eq_const %u, dense<[4294967295, 256, 130]> : tensor<3xui32>
  %b = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xi1>
  check.expect_eq_const %b, dense<true> : tensor<3xi1>
  %n = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xi4>
  check.expect_eq_const %n, dense<[-1, 0, 2]> : tensor<3xi4>
  func.return
}

// -----

func.func @to_narrow_floats() {
  %x = stablehlo.constant dense<[1.0, 5.0, 7.0, -0.25, 1000.0]> : tensor<5xf32>
  // f4E2M1FN: 0 0.5 1 1.5 2 3 4 6; ties to even; saturates, for it has neither infinity nor NaN.
  %f4 = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xf4E2M1FN>
  %f4_back = stablehlo.convert %f4 : (tensor<5xf4E2M1FN>) -> tensor<5xf32>
  check.expect_eq_const %f4_back, dense<[1.0, 4.0, 6.0, 0.0, 6.0]> : tensor<5xf32>
  %e5m2 = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xf8E5M2>
  %e5m2_back = stablehlo.convert %e5m2 : (tensor<5xf8E5M2>) -> tensor<5xf32>
  check.expect_eq_const %e5m2_back, dense<[1.0, 5.0, 7.0, -0.25, 1024.0]> : tensor<5xf32>
  %fnuz = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xf8E4M3FNUZ>
  %bits = stablehlo.bitcast_convert %fnuz : (tensor<5xf8E4M3FNUZ>) -> tensor<5xui8>
  check.expect_eq_const %bits, dense<[0x40, 0x52, 0x56, 0xB0, 0x80]> : tensor<5xui8>
  func.return
}

// -----

func.func @bitcast_changes_rank() {
  %x = stablehlo.constant dense<[0x3F800000, 0x40000000]> : tensor<2xi32>
  %bytes = stablehlo.bitcast_convert %x : (tensor<2xi32>) -> tensor<2x4xui8>
  check.expect_eq_const %bytes, dense<[[0, 0, 0x80, 0x3F], [0, 0, 0, 0x40]]> : tensor<2x4xui8>
  %back = stablehlo.bitcast_convert %bytes : (tensor<2x4xui8>) -> tensor<2xf32>
  check.expect_eq_const %back, dense<[1.0, 2.0]> : tensor<2xf32>
  %n = stablehlo.constant dense<[[1, -2], [7, -8]]> : tensor<2x2xi4>
  %packed = stablehlo.bitcast_convert %n : (tensor<2x2xi4>) -> tensor<2xui8>
  check.expect_eq_const %packed, dense<[0xE1, 0x87]> : tensor<2xui8>
  func.return
}

// -----

// As f16 (5 exponent bits, 10 mantissa bits): ties to even, overflow to infinity, subnormals to zero.
func.func @reduce_precision() {
  %x = stablehlo.constant dense<[1.00048828125, 1.0009765625, 65520.0, 65519.0, 1.0e-6, 0x7FC00001]> : tensor<6xf32>
  %r = stablehlo.reduce_precision %x, format = e5m10 : tensor<6xf32>
  %bits = stablehlo.bitcast_convert %r : (tensor<6xf32>) -> tensor<6xi32>
  check.expect_eq_const %bits, dense<[0x3F800000, 0x3F802000, 0x7F800000, 0x477FE000, 0, 0x7FC00001]> : tensor<6xi32>
  func.return
}

// -----

// Whatever is not zero is true: fractions, subnormal numbers, infinities and NaN.
func.func @float_to_bool() {
  %x = stablehlo.constant dense<[0.0, -0.0, 1.0, 0.5, -0.5, 1.0e-45, 0x7FC00000, 0x7F800000, 0xFF800000, 2.0]> : tensor<10xf32>
  %0 = stablehlo.convert %x : (tensor<10xf32>) -> tensor<10xi1>
  check.expect_eq_const %0, dense<[false, false, true, true, true, true, true, true, true, true]> : tensor<10xi1>
  func.return
}
