// RUN: xla-translate --interpret -split-input-file %s

func.func @dynamic_shapes() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<6xi32>, tensor<2xi64>) -> tensor<?x?xi32>
  // Elementwise operations take the run-time shape.
  %1 = stablehlo.add %0, %0 : tensor<?x?xi32>
  %t = stablehlo.transpose %1, dims = [1, 0] : (tensor<?x?xi32>) -> tensor<?x?xi32>
  %n = stablehlo.get_dimension_size %t, dim = 0 : (tensor<?x?xi32>) -> tensor<i32>
  check.expect_eq_const %n, dense<3> : tensor<i32>
  %six = stablehlo.constant dense<[6]> : tensor<1xi64>
  %flat = stablehlo.dynamic_reshape %t, %six : (tensor<?x?xi32>, tensor<1xi64>) -> tensor<6xi32>
  check.expect_eq_const %flat, dense<[2, 8, 4, 10, 6, 12]> : tensor<6xi32>
  func.return
}

// -----

func.func @dynamic_broadcast_iota_pad() {
  %s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %i = stablehlo.dynamic_iota %s, dim = 1 : (tensor<2xi64>) -> tensor<2x3xi32>
  check.expect_eq_const %i, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  %x = stablehlo.constant dense<[7, 8]> : tensor<2xi32>
  %b = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<2xi32>, tensor<2xi64>) -> tensor<2x3xi32>
  check.expect_eq_const %b, dense<[[7, 7, 7], [8, 8, 8]]> : tensor<2x3xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<[1]> : tensor<1xi64>
  %p = stablehlo.dynamic_pad %x, %z, %one, %one, %one : (tensor<2xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
  %five = stablehlo.constant dense<[5]> : tensor<1xi64>
  %q = stablehlo.dynamic_reshape %p, %five : (tensor<?xi32>, tensor<1xi64>) -> tensor<5xi32>
  check.expect_eq_const %q, dense<[0, 7, 0, 8, 0]> : tensor<5xi32>
  func.return
}

// -----

func.func @set_dimension_size_and_real_dynamic_slice() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<4>>
  %size = stablehlo.get_dimension_size %0, dim = 0 : (tensor<?xi32, #stablehlo.bounds<4>>) -> tensor<i32>
  check.expect_eq %size, %n : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %sum = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xi32, #stablehlo.bounds<4>>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %sum, dense<6> : tensor<i32>
  %a = stablehlo.constant dense<[1]> : tensor<1xi64>
  %b = stablehlo.constant dense<[4]> : tensor<1xi64>
  %c = stablehlo.constant dense<[2]> : tensor<1xi64>
  %1 = stablehlo.real_dynamic_slice %x, %a, %b, %c : (tensor<4xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
  %2 = stablehlo.dynamic_reshape %1, %c : (tensor<?xi32>, tensor<1xi64>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[2, 4]> : tensor<2xi32>
  func.return
}
