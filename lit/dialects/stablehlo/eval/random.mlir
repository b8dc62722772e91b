// RUN: xla-translate --interpret -split-input-file %s
// Bits as jaxlib 0.10.2 gives them on its CPU backend for the same states.

func.func @philox_three_words() {
  %s = stablehlo.constant dense<[11150031900141442680, 18446744073709551615, 9]> : tensor<3xui64>
  %next, %bits = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<8xui32>)
  check.expect_eq_const %bits, dense<[2279277845, 3806894853, 3107523754, 2198983376, 2798572323, 2701097696, 3265430219, 1976387727]> : tensor<8xui32>
  // The counter is 128 bits wide: it carries into the third word.
  check.expect_eq_const %next, dense<[11150031900141442680, 1, 10]> : tensor<3xui64>
  func.return
}

// -----

// With two words, the key doubles as the upper half of the counter.
func.func @philox_two_words() {
  %s = stablehlo.constant dense<[11150031900141442680, 30064771077]> : tensor<2xui64>
  %next, %bits = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  check.expect_eq_const %bits, dense<[1231458198, 3828865970, 2203815655, 2809709212, 2594233682, 1237421068, 1350874906, 3033142799]> : tensor<8xui32>
  check.expect_eq_const %next, dense<[11150031900141442680, 30064771079]> : tensor<2xui64>
  func.return
}

// -----

// rng: uniform values lie in [a, b), a narrow integer range is met exactly.
func.func @rng() {
  %a = stablehlo.constant dense<3> : tensor<i32>
  %b = stablehlo.constant dense<4> : tensor<i32>
  %s = stablehlo.constant dense<[100]> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<100xi32>
  check.expect_eq_const %0, dense<3> : tensor<100xi32>
  %m = stablehlo.constant dense<5.0> : tensor<f32>
  %d = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.rng %m, %d, %s, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<100xf32>
  check.expect_eq_const %1, dense<5.0> : tensor<100xf32>
  func.return
}
