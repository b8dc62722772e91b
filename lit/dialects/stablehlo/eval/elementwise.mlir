// RUN: xla-translate --interpret -split-input-file %s
// Expected values follow from the specification; transcendental ones are correctly rounded decimal constants.

func.func @int_arithmetic_wraps() {
  %a = stablehlo.constant dense<[127, -128, 100, -7, 7, -128, 5]> : tensor<7xi8>
  %b = stablehlo.constant dense<[1, -1, 100, 2, 0, -1, 0]> : tensor<7xi8>
  %add = stablehlo.add %a, %b : tensor<7xi8>
  check.expect_eq_const %add, dense<[-128, 127, -56, -5, 7, 127, 5]> : tensor<7xi8>
  %sub = stablehlo.subtract %a, %b : tensor<7xi8>
  check.expect_eq_const %sub, dense<[126, -127, 0, -9, 7, -127, 5]> : tensor<7xi8>
  %mul = stablehlo.multiply %a, %b : tensor<7xi8>
  check.expect_eq_const %mul, dense<[127, -128, 16, -14, 0, -128, 0]> : tensor<7xi8>
  // x / 0 = -1, INT_MIN / -1 = INT_MIN; x % 0 = x.
  %div = stablehlo.divide %a, %b : tensor<7xi8>
  check.expect_eq_const %div, dense<[127, -128, 1, -3, -1, -128, -1]> : tensor<7xi8>
  %rem = stablehlo.remainder %a, %b : tensor<7xi8>
  check.expect_eq_const %rem, dense<[0, 0, 0, -1, 7, 0, 5]> : tensor<7xi8>
  func.return
}

// -----

func.func @unsigned_and_narrow() {
  %a = stablehlo.constant dense<[255, 0, 200]> : tensor<3xui8>
  %b = stablehlo.constant dense<[2, 1, 100]> : tensor<3xui8>
  %add = stablehlo.add %a, %b : tensor<3xui8>
  check.expect_eq_const %add, dense<[1, 1, 44]> : tensor<3xui8>
  %sub = stablehlo.subtract %b, %a : tensor<3xui8>
  check.expect_eq_const %sub, dense<[3, 1, 156]> : tensor<3xui8>
  %max = stablehlo.maximum %a, %b : tensor<3xui8>
  check.expect_eq_const %max, dense<[255, 1, 200]> : tensor<3xui8>
  %c = stablehlo.constant dense<[7, -8, 3]> : tensor<3xi4>
  %d = stablehlo.constant dense<[1, -1, -4]> : tensor<3xi4>
  %sum = stablehlo.add %c, %d : tensor<3xi4>
  check.expect_eq_const %sum, dense<[-8, 7, -1]> : tensor<3xi4>
  %e = stablehlo.constant dense<[1, -2]> : tensor<2xi2>
  %two = stablehlo.add %e, %e : tensor<2xi2>
  check.expect_eq_const %two, dense<[-2, 0]> : tensor<2xi2>
  func.return
}

// -----

func.func @booleans() {
  %a = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %b = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %add = stablehlo.add %a, %b : tensor<4xi1>
  check.expect_eq_const %add, dense<[false, true, true, true]> : tensor<4xi1>
  %mul = stablehlo.multiply %a, %b : tensor<4xi1>
  check.expect_eq_const %mul, dense<[false, false, false, true]> : tensor<4xi1>
  %max = stablehlo.maximum %a, %b : tensor<4xi1>
  check.expect_eq_const %max, dense<[false, true, true, true]> : tensor<4xi1>
  %xor = stablehlo.xor %a, %b : tensor<4xi1>
  check.expect_eq_const %xor, dense<[false, true, true, false]> : tensor<4xi1>
  %not = stablehlo.not %a : tensor<4xi1>
  check.expect_eq_const %not, dense<[true, true, false, false]> : tensor<4xi1>
  func.return
}

// -----

func.func @shifts_beyond_the_width() {
  %a = stablehlo.constant dense<[-128, -128, 1, 127, -1]> : tensor<5xi8>
  %n = stablehlo.constant dense<[1, 8, 7, 100, -1]> : tensor<5xi8>
  %shl = stablehlo.shift_left %a, %n : tensor<5xi8>
  check.expect_eq_const %shl, dense<[0, 0, -128, 0, 0]> : tensor<5xi8>
  %sar = stablehlo.shift_right_arithmetic %a, %n : tensor<5xi8>
  check.expect_eq_const %sar, dense<[-64, -1, 0, 0, -1]> : tensor<5xi8>
  %shr = stablehlo.shift_right_logical %a, %n : tensor<5xi8>
  check.expect_eq_const %shr, dense<[64, 0, 0, 0, 0]> : tensor<5xi8>
  func.return
}

// -----

func.func @bits() {
  %a = stablehlo.constant dense<[0, 1, -1, 64]> : tensor<4xi16>
  %clz = stablehlo.count_leading_zeros %a : tensor<4xi16>
  check.expect_eq_const %clz, dense<[16, 15, 0, 9]> : tensor<4xi16>
  %pop = stablehlo.popcnt %a : tensor<4xi16>
  check.expect_eq_const %pop, dense<[0, 1, 16, 1]> : tensor<4xi16>
  %abs = stablehlo.abs %a : tensor<4xi16>
  check.expect_eq_const %abs, dense<[0, 1, 1, 64]> : tensor<4xi16>
  %sign = stablehlo.sign %a : tensor<4xi16>
  check.expect_eq_const %sign, dense<[0, 1, -1, 1]> : tensor<4xi16>
  func.return
}

// -----

func.func @int_power() {
  %a = stablehlo.constant dense<[2, -2, 3, 1, -1, -1, 0, 7]> : tensor<8xi32>
  %n = stablehlo.constant dense<[10, 3, 40, -5, -5, -4, 0, -1]> : tensor<8xi32>
  %p = stablehlo.power %a, %n : tensor<8xi32>
  // pow(3, 40, 2**32) = 689956897. A negative power is 1 / base^n, truncated.
  check.expect_eq_const %p, dense<[1024, -8, 689956897, 1, -1, 1, 1, 0]> : tensor<8xi32>
  func.return
}

// -----

func.func @float_special_values() {
  %a = stablehlo.constant dense<[0x7FC00000, 0x7F800000, -0.0, 0.0, 1.0]> : tensor<5xf32>
  %b = stablehlo.constant dense<[1.0, 1.0, 0.0, -0.0, 0x7FC00000]> : tensor<5xf32>
  %max = stablehlo.maximum %a, %b : tensor<5xf32>
  %max_bits = stablehlo.bitcast_convert %max : (tensor<5xf32>) -> tensor<5xi32>
  check.expect_eq_const %max_bits, dense<[0x7FC00000, 0x7F800000, 0, 0, 0x7FC00000]> : tensor<5xi32>
  %min = stablehlo.minimum %a, %b : tensor<5xf32>
  %min_bits = stablehlo.bitcast_convert %min : (tensor<5xf32>) -> tensor<5xi32>
  check.expect_eq_const %min_bits, dense<[0x7FC00000, 0x3F800000, 0x80000000, 0x80000000, 0x7FC00000]> : tensor<5xi32>
  %finite = stablehlo.is_finite %a : (tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %finite, dense<[false, false, true, true, true]> : tensor<5xi1>
  %sign = stablehlo.sign %a : tensor<5xf32>
  %sign_bits = stablehlo.bitcast_convert %sign : (tensor<5xf32>) -> tensor<5xi32>
  check.expect_eq_const %sign_bits, dense<[0x7FC00000, 0x3F800000, 0x80000000, 0, 0x3F800000]> : tensor<5xi32>
  func.return
}

// -----

func.func @rounding() {
  %a = stablehlo.constant dense<[-2.5, -1.5, -0.4, 0.5, 1.5, 2.5]> : tensor<6xf32>
  %even = stablehlo.round_nearest_even %a : tensor<6xf32>
  check.expect_eq_const %even, dense<[-2.0, -2.0, 0.0, 0.0, 2.0, 2.0]> : tensor<6xf32>
  %away = stablehlo.round_nearest_afz %a : tensor<6xf32>
  check.expect_eq_const %away, dense<[-3.0, -2.0, 0.0, 1.0, 2.0, 3.0]> : tensor<6xf32>
  %ceil = stablehlo.ceil %a : tensor<6xf32>
  check.expect_eq_const %ceil, dense<[-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]> : tensor<6xf32>
  %floor = stablehlo.floor %a : tensor<6xf32>
  check.expect_eq_const %floor, dense<[-3.0, -2.0, -1.0, 0.0, 1.0, 2.0]> : tensor<6xf32>
  func.return
}

// -----

func.func @transcendental() {
  %x = stablehlo.constant dense<[0.5, 1.0, 2.0]> : tensor<3xf64>
  %exp = stablehlo.exponential %x : tensor<3xf64>
  check.expect_eq_const %exp, dense<[1.6487212707001282, 2.718281828459045, 7.38905609893065]> : tensor<3xf64>
  %log = stablehlo.log %x : tensor<3xf64>
  check.expect_eq_const %log, dense<[-0.6931471805599453, 0.0, 0.6931471805599453]> : tensor<3xf64>
  %log1p = stablehlo.log_plus_one %x : tensor<3xf64>
  check.expect_eq_const %log1p, dense<[0.4054651081081644, 0.6931471805599453, 1.0986122886681098]> : tensor<3xf64>
  %expm1 = stablehlo.exponential_minus_one %x : tensor<3xf64>
  check.expect_eq_const %expm1, dense<[0.6487212707001282, 1.7182818284590453, 6.38905609893065]> : tensor<3xf64>
  %tanh = stablehlo.tanh %x : tensor<3xf64>
  check.expect_eq_const %tanh, dense<[0.46211715726000973, 0.7615941559557649, 0.9640275800758169]> : tensor<3xf64>
  %logistic = stablehlo.logistic %x : tensor<3xf64>
  check.expect_eq_const %logistic, dense<[0.6224593312018546, 0.7310585786300049, 0.8807970779778824]> : tensor<3xf64>
  %sqrt = stablehlo.sqrt %x : tensor<3xf64>
  check.expect_eq_const %sqrt, dense<[0.7071067811865476, 1.0, 1.4142135623730951]> : tensor<3xf64>
  %rsqrt = stablehlo.rsqrt %x : tensor<3xf64>
  check.expect_eq_const %rsqrt, dense<[1.4142135623730951, 1.0, 0.7071067811865476]> : tensor<3xf64>
  %cbrt = stablehlo.cbrt %x : tensor<3xf64>
  check.expect_eq_const %cbrt, dense<[0.7937005259840998, 1.0, 1.2599210498948732]> : tensor<3xf64>
  %sin = stablehlo.sine %x : tensor<3xf64>
  check.expect_eq_const %sin, dense<[0.479425538604203, 0.8414709848078965, 0.9092974268256817]> : tensor<3xf64>
  %cos = stablehlo.cosine %x : tensor<3xf64>
  check.expect_eq_const %cos, dense<[0.8775825618903728, 0.5403023058681398, -0.4161468365471424]> : tensor<3xf64>
  %tan = stablehlo.tan %x : tensor<3xf64>
  check.expect_eq_const %tan, dense<[0.5463024898437905, 1.5574077246549023, -2.185039863261519]> : tensor<3xf64>
  %atan2 = stablehlo.atan2 %x, %exp : tensor<3xf64>
  check.expect_almost_eq_const %atan2, dense<[0.294450, 0.352513, 0.264337]> : tensor<3xf64>, tolerance = 0.000001
  func.return
}

// -----

func.func @complex_functions() {
  %a = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f64>>
  %b = stablehlo.constant dense<[(0.5, -1.0), (0.0, 2.0)]> : tensor<2xcomplex<f64>>
  %mul = stablehlo.multiply %a, %b : tensor<2xcomplex<f64>>
  check.expect_eq_const %mul, dense<[(2.5, 0.0), (8.0, 6.0)]> : tensor<2xcomplex<f64>>
  %div = stablehlo.divide %a, %b : tensor<2xcomplex<f64>>
  check.expect_eq_const %div, dense<[(-1.2, 1.6), (-2.0, -1.5)]> : tensor<2xcomplex<f64>>
  %abs = stablehlo.abs %a : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  check.expect_eq_const %abs, dense<[2.23606797749979, 5.0]> : tensor<2xf64>
  %sqrt = stablehlo.sqrt %a : tensor<2xcomplex<f64>>
  check.expect_eq_const %sqrt, dense<[(1.272019649514069, 0.7861513777574233), (2.0, -1.0)]> : tensor<2xcomplex<f64>>
  %real = stablehlo.real %a : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  %imag = stablehlo.imag %a : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  %back = stablehlo.complex %real, %imag : tensor<2xcomplex<f64>>
  check.expect_eq %back, %a : tensor<2xcomplex<f64>>
  func.return
}

// -----

// NaNs of either sign are one number after all others, and so are the zeros.
func.func @compare_weak_order() {
  %a = stablehlo.constant dense<[0xFFC00000, 0x7F800000, 0x7FC00001, 0x80000000, 0x00000000, 1.0, 0xFF800000]> : tensor<7xf32>
  %b = stablehlo.constant dense<[0x7FC00000, 0xFFC00000, 0x7F800000, 0x00000000, 0x80000000, 2.0, 0xFFC00000]> : tensor<7xf32>
  %eq = stablehlo.compare EQ, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %eq, dense<[true, false, false, true, true, false, false]> : tensor<7xi1>
  %ne = stablehlo.compare NE, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %ne, dense<[false, true, true, false, false, true, true]> : tensor<7xi1>
  %lt = stablehlo.compare LT, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %lt, dense<[false, true, false, false, false, true, true]> : tensor<7xi1>
  %le = stablehlo.compare LE, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %le, dense<[true, true, false, true, true, true, true]> : tensor<7xi1>
  %gt = stablehlo.compare GT, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %gt, dense<[false, false, true, false, false, false, false]> : tensor<7xi1>
  %ge = stablehlo.compare GE, %a, %b, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %ge, dense<[true, false, true, true, true, false, false]> : tensor<7xi1>
  func.return
}

// -----

func.func @compare_total_order() {
  // -NaN < -inf < -0 < +0 < inf < NaN
  %a = stablehlo.constant dense<[0xFFC00000, 0xFF800000, 0x80000000, 0x00000000, 0x7F800000, 1.0]> : tensor<6xf32>
  %b = stablehlo.constant dense<[0xFF800000, 0x80000000, 0x00000000, 0x7F800000, 0x7FC00000, 1.0]> : tensor<6xf32>
  %total = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  check.expect_eq_const %total, dense<[true, true, true, true, true, false]> : tensor<6xi1>
  %ieee = stablehlo.compare LT, %a, %b, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  check.expect_eq_const %ieee, dense<[false, true, false, true, false, false]> : tensor<6xi1>
  %ne = stablehlo.compare NE, %a, %b, FLOAT : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  check.expect_eq_const %ne, dense<[true, true, false, true, true, false]> : tensor<6xi1>
  func.return
}

// -----

func.func @compare_unsigned_is_not_signed() {
  %a = stablehlo.constant dense<[1, 18446744073709551615]> : tensor<2xui64>
  %b = stablehlo.constant dense<[18446744073709551615, 1]> : tensor<2xui64>
  %lt = stablehlo.compare LT, %a, %b, UNSIGNED : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xi1>
  check.expect_eq_const %lt, dense<[true, false]> : tensor<2xi1>
  func.return
}

// -----

func.func @select_and_clamp() {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %a = stablehlo.constant dense<[1, 5, 9]> : tensor<3xi32>
  %b = stablehlo.constant dense<[2, 4, 6]> : tensor<3xi32>
  %scalar = stablehlo.select %p, %a, %b : tensor<i1>, tensor<3xi32>
  check.expect_eq %scalar, %a : tensor<3xi32>
  %mask = stablehlo.constant dense<[false, true, false]> : tensor<3xi1>
  %each = stablehlo.select %mask, %a, %b : tensor<3xi1>, tensor<3xi32>
  check.expect_eq_const %each, dense<[2, 5, 6]> : tensor<3xi32>
  %low = stablehlo.constant dense<3> : tensor<i32>
  %high = stablehlo.constant dense<7> : tensor<i32>
  %clamp = stablehlo.clamp %low, %a, %high : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %clamp, dense<[3, 5, 7]> : tensor<3xi32>
  func.return
}

// -----

// Every narrow float rounds each result to its own format.
func.func @narrow_floats_round() {
  %a = stablehlo.constant dense<[1.0, 448.0, 0.5]> : tensor<3xf8E4M3FN>
  %b = stablehlo.constant dense<[0.0625, 448.0, 0.5]> : tensor<3xf8E4M3FN>
  %sum = stablehlo.add %a, %b : tensor<3xf8E4M3FN>
  // 1.0625 is a tie between 1 and 1.125: even. 896 overflows; the type has no infinity, so NaN (0x7F).
  %bits = stablehlo.bitcast_convert %sum : (tensor<3xf8E4M3FN>) -> tensor<3xi8>
  check.expect_eq_const %bits, dense<[0x38, 0x7F, 0x38]> : tensor<3xi8>
  %c = stablehlo.constant dense<[1.0, 3.0]> : tensor<2xbf16>
  %d = stablehlo.constant dense<[0.00390625, 0.015625]> : tensor<2xbf16>
  %e = stablehlo.add %c, %d : tensor<2xbf16>
  check.expect_eq_const %e, dense<[1.0, 3.015625]> : tensor<2xbf16>
  func.return
}
