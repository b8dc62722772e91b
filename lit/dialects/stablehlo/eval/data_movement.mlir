// RUN: xla-translate --interpret -split-input-file %s

func.func @iota() {
  %0 = stablehlo.iota dim = 1 : tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  %1 = stablehlo.iota dim = 0 : tensor<3xcomplex<f32>>
  check.expect_eq_const %1, dense<[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]> : tensor<3xcomplex<f32>>
  // bf16 has 8 significant bits: 257 rounds to 256.
  %2 = stablehlo.iota dim = 0 : tensor<258xbf16>
  %3 = stablehlo.slice %2 [257:258] : (tensor<258xbf16>) -> tensor<1xbf16>
  check.expect_eq_const %3, dense<256.0> : tensor<1xbf16>
  func.return
}

// -----

func.func @broadcast_in_dim() {
  %x = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 1] : (tensor<2x1xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %0, dense<[[[1, 2], [1, 2], [1, 2]], [[1, 2], [1, 2], [1, 2]]]> : tensor<2x3x2xi32>
  func.return
}

// -----

func.func @transpose_reverse_slice() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
  check.expect_eq_const %t, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi8>
  %r = stablehlo.reverse %x, dims = [1] : tensor<2x3xi8>
  check.expect_eq_const %r, dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi8>
  %s = stablehlo.slice %x [1:2, 0:3:2] : (tensor<2x3xi8>) -> tensor<1x2xi8>
  check.expect_eq_const %s, dense<[[4, 6]]> : tensor<1x2xi8>
  %e = stablehlo.slice %x [1:1, 0:3] : (tensor<2x3xi8>) -> tensor<0x3xi8>
  check.expect_eq_const %e, dense<> : tensor<0x3xi8>
  func.return
}

// -----

func.func @pad_negative_and_interior() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %p = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.pad %x, %p, low = [1], high = [2], interior = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<8xi32>
  check.expect_eq_const %0, dense<[9, 1, 9, 2, 9, 3, 9, 9]> : tensor<8xi32>
  %1 = stablehlo.pad %x, %p, low = [-1], high = [-1], interior = [2] : (tensor<3xi32>, tensor<i32>) -> tensor<5xi32>
  check.expect_eq_const %1, dense<[9, 9, 2, 9, 9]> : tensor<5xi32>
  func.return
}

// -----

func.func @concatenate() {
  %x = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %y = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi32>
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x1xi32>, tensor<2x2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xi32>
  func.return
}
