// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of the decompositions that are not functions of single elements.
// RUN: xla-opt %s -chlo-legalize-to-stablehlo -split-input-file | xla-translate --interpret -split-input-file

func.func @main() {
  %input = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %init = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  // The carry comes from the last slice: from the left, in reverse from the right.
  %0:2 = chlo.scan(%input) inits(%init) dimension=1 {
  ^bb0(%x: tensor<2xi32>, %carry: tensor<2xi32>):
    %1 = stablehlo.add %x, %carry : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[[11, 13, 16], [24, 29, 35]]> : tensor<2x3xi32>
  check.expect_eq_const %0#1, dense<[16, 35]> : tensor<2xi32>
  %2:2 = chlo.scan(%input) inits(%init) dimension=1 is_reverse=true {
  ^bb0(%x: tensor<2xi32>, %carry: tensor<2xi32>):
    %1 = stablehlo.add %x, %carry : tensor<2xi32>
    stablehlo.return %1, %1 : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  check.expect_eq_const %2#0, dense<[[16, 15, 13], [35, 31, 26]]> : tensor<2x3xi32>
  return
}

// -----

func.func @main() {
  %a = stablehlo.constant dense<[0x7FFFFFFFFFFFFFFF, -1, -9223372036854775808, 6]> : tensor<4xi64>
  %b = stablehlo.constant dense<[4, -1, 2, -7]> : tensor<4xi64>
  %0 = chlo.mulhi %a, %b : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  check.expect_eq_const %0, dense<[1, 0, -1, -1]> : tensor<4xi64>
  %c = stablehlo.constant dense<[0xFFFFFFFF, 65536]> : tensor<2xui32>
  %1 = chlo.mulhi %c, %c : tensor<2xui32>, tensor<2xui32> -> tensor<2xui32>
  check.expect_eq_const %1, dense<[4294967294, 1]> : tensor<2xui32>
  return
}

// -----

// Two groups of rows, each with its own right-hand side; the row behind them is 0.
func.func @main() {
  %lhs = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %rhs = stablehlo.constant dense<[[[1.0], [1.0]], [[10.0], [100.0]]]> : tensor<2x2x1xf32>
  %groups = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1],
      rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<4x2xf32>, tensor<2x2x1xf32>, tensor<2xi64>) -> tensor<4x1xf32>
  check.expect_eq_const %0, dense<[[3.0], [430.0], [650.0], [0.0]]> : tensor<4x1xf32>
  // The same cut along the contracting dimension: one result per group.
  %one = stablehlo.constant dense<1.0> : tensor<4x1xf32>
  %1 = "chlo.ragged_dot"(%lhs, %one, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0],
      rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>
  } : (tensor<4x2xf32>, tensor<4x1xf32>, tensor<2xi64>) -> tensor<2x2x1xf32>
  check.expect_eq_const %1, dense<[[[1.0], [2.0]], [[8.0], [10.0]]]> : tensor<2x2x1xf32>
  return
}

// -----

func.func @main() {
  %x = stablehlo.constant dense<[1.0, 0.0, -0.0, 1.0, 0xFF800000]> : tensor<5xf32>
  %y = stablehlo.constant dense<[2.0, 1.0, -1.0, 1.0, 0.0]> : tensor<5xf32>
  %0 = chlo.next_after %x, %y : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  check.expect_eq_const %0, dense<[0x3F800001, 0x00000001, 0x80000001, 1.0, 0xFF7FFFFF]> : tensor<5xf32>
  %z = stablehlo.constant dense<[3.0, 1.0, 3.0, 0x7FC00000]> : tensor<4xf32>
  %values, %indices = chlo.top_k(%z, k = 3) : tensor<4xf32> -> (tensor<3xf32>, tensor<3xi32>)
  check.expect_eq_const %indices, dense<[3, 0, 2]> : tensor<3xi32>
  return
}

// -----

func.func @main() {
  %a = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  // b runs along the first dimension.
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>} : (tensor<1x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[11, 12, 13], [21, 22, 23]]> : tensor<2x3xi32>
  return
}
