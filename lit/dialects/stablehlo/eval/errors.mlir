// RUN: xla-translate --interpret -split-input-file -verify-diagnostics %s
// Whatever cannot be evaluated is a diagnostic at its operation, never an abort or a hang.

func.func @nan_is_not_equal_to_itself() {
  %x = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  // expected-error@+1 {{check.expect_eq: 1 of 1 elements differ; at [] got tensor<f32> {nan}, expected tensor<f32> {nan}}}
  check.expect_eq %x, %x : tensor<f32>
  func.return
}

// -----

func.func @three_ulp_and_no_more() {
  %x = stablehlo.constant dense<[0x3F800000, 0x7FC00000, 0x7F800000]> : tensor<3xf32>
  %y = stablehlo.constant dense<[0x3F800003, 0x7FC00001, 0x7F800000]> : tensor<3xf32>
  stablehlo.custom_call @check.expect_close(%x, %y) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  %z = stablehlo.constant dense<[0x3F800004, 0x7FC00001, 0x7F800000]> : tensor<3xf32>
  // expected-error@+1 {{@check.expect_close: 1 of 3 elements differ; at [0]}}
  stablehlo.custom_call @check.expect_close(%x, %z) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  func.return
}

// -----

func.func @largest_float_is_one_ulp_from_infinity_but_not_close() {
  %x = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %y = stablehlo.constant dense<0x7F7FFFFF> : tensor<f32>
  // expected-error@+1 {{@check.expect_close: 1 of 1 elements differ}}
  stablehlo.custom_call @check.expect_close(%x, %y) {has_side_effect = true} : (tensor<f32>, tensor<f32>) -> ()
  func.return
}

// -----

func.func @almost_eq_tolerance() {
  %x = stablehlo.constant dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  %y = stablehlo.constant dense<[1.0009, 0x7FC00000]> : tensor<2xf32>
  stablehlo.custom_call @check.expect_almost_eq(%x, %y) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  %z = stablehlo.constant dense<[1.0011, 0x7FC00000]> : tensor<2xf32>
  // expected-error@+1 {{@check.expect_almost_eq: 1 of 2 elements differ}}
  stablehlo.custom_call @check.expect_almost_eq(%x, %z) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}

// -----

func.func @unknown_custom_call() {
  // expected-error@+1 {{the evaluator does not know the custom call target @nobody.knows}}
  stablehlo.custom_call @nobody.knows() : () -> ()
  func.return
}

// -----

module {
  func.func @main() -> tensor<i32> {
    // expected-error@+1 {{calls and regions are nested deeper than 400}}
    %0 = func.call @main() : () -> tensor<i32>
    func.return %0 : tensor<i32>
  }
}

// -----

func.func @dynamic_broadcast_that_does_not_fit() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %c = stablehlo.constant dense<[3, 3]> : tensor<2xi64>
  %s = stablehlo.add %c, %c : tensor<2xi64>
  // expected-error@+1 {{cannot broadcast dimension 0}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<2xi32>, tensor<2xi64>) -> tensor<?x?xi32>
  func.return
}

// -----

func.func @more_sources_than_windows() {
  %x = stablehlo.constant dense<[[1, 5], [2, 5], [3, 6], [4, 4]]> : tensor<4x2xi64>
  %sizes = stablehlo.constant dense<[3, 2]> : tensor<2xi64>
  %s = stablehlo.dynamic_iota %sizes, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi64>
  %z = stablehlo.constant dense<0> : tensor<i64>
  // expected-error@+1 {{expects a source of type tensor<2x2xi64>, one element for each window, but got tensor<3x2xi64>}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %c = stablehlo.compare GE, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %c = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %c : tensor<i64>
  }) {window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>, padding = dense<0> : tensor<2x2xi64>}
  : (tensor<4x2xi64>, tensor<?x?xi64>, tensor<i64>) -> tensor<4x2xi64>
  func.return
}

// -----

// The product of the sizes is 0, although that of the first two is larger than any number.
func.func @zero_elements() {
  %s = stablehlo.constant dense<[1099511627776, 1099511627776, 0]> : tensor<3xi64>
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<3xi64>) -> tensor<?x?x?xi32>
  %1 = stablehlo.constant dense<> : tensor<1099511627776x1099511627776x0xi32>
  %2 = stablehlo.negate %1 : tensor<1099511627776x1099511627776x0xi32>
  check.expect_eq %2, %1 : tensor<1099511627776x1099511627776x0xi32>
  func.return
}

// -----

func.func @too_large() {
  %s = stablehlo.constant dense<[1000000000000, 1000000000000]> : tensor<2xi64>
  // expected-error@+1 {{the result is larger than the limit}}
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<?x?xi32>
  func.return
}

// -----

// One device waits for a partner that has ended: the others are told who waits for what.
module {
  func.func @waits(%x: tensor<i64>) -> tensor<i64> {
    // expected-error@+1 {{no device can go on: device 0 waits in stablehlo.all_reduce for devices 0, 1}}
    %0 = "stablehlo.all_reduce"(%x) ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = stablehlo.add %a, %b : tensor<i64>
      stablehlo.return %s : tensor<i64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<i64>) -> tensor<i64>
    func.return %0 : tensor<i64>
  }
  func.func @leaves(%x: tensor<i64>) -> tensor<i64> {
    func.return %x : tensor<i64>
  }
  func.func @main() {
    %a = stablehlo.constant dense<1> : tensor<i64>
    %0:2 = "interpreter.run_parallel"(%a, %a) {programs = [[@waits], [@leaves]]} : (tensor<i64>, tensor<i64>) -> (tensor<i64>, tensor<i64>)
    func.return
  }
}

// -----

func.func @nothing_to_receive() {
  %t = stablehlo.create_token : !stablehlo.token
  // expected-error@+1 {{no device can go on: device 0 waits in stablehlo.recv for channel 1}}
  %0:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false} : (!stablehlo.token) -> (tensor<2xi64>, !stablehlo.token)
  func.return
}
