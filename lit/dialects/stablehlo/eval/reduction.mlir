// RUN: xla-translate --interpret -split-input-file %s

func.func @reduce_short_and_long() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %z = stablehlo.constant dense<10> : tensor<i32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[16, 25]> : tensor<2xi32>
  // In index order: ((10 - 1) - 4), ...
  %1 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3xi32>
    reducer(%a: tensor<i32>, %b: tensor<i32>) {
      %d = stablehlo.subtract %a, %b : tensor<i32>
      stablehlo.return %d : tensor<i32>
    }
  check.expect_eq_const %1, dense<[5, 3, 1]> : tensor<3xi32>
  func.return
}

// -----

// Value and index of the largest element; ties keep the first.
func.func @reduce_argmax() {
  %x = stablehlo.constant dense<[3, 7, 7, 1]> : tensor<4xi32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<-100> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %low), (%i init: %zero) across dimensions = [0] : (tensor<4xi32>, tensor<4xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    reducer(%a: tensor<i32>, %b: tensor<i32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %ge = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %v = stablehlo.select %ge, %a, %b : tensor<i1>, tensor<i32>
      %k = stablehlo.select %ge, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %v, %k : tensor<i32>, tensor<i32>
    }
  check.expect_eq_const %r#0, dense<7> : tensor<i32>
  check.expect_eq_const %r#1, dense<1> : tensor<i32>
  func.return
}

// -----

// bf16 sums round at every step: 256 + 1 = 256.
func.func @reduce_rounds_each_step() {
  %x = stablehlo.constant dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xbf16>, tensor<bf16>) -> tensor<bf16>
  check.expect_eq_const %0, dense<256.0> : tensor<bf16>
  func.return
}

// -----

func.func @reduce_window() {
  %x = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  // Windows of 2 with distance 2 (elements i and i + 2), stride 2, one zero in front.
  %0 = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, window_dilations = array<i64: 2>,
      padding = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<5xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[2, 6]> : tensor<2xi32>
  func.return
}

// -----

// As the specification says, padding takes part with the initial value, even if that is no neutral element.
func.func @reduce_window_pads_with_init() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %z = stablehlo.constant dense<10> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 2>, padding = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[21, 13]> : tensor<2xi32>
  func.return
}

// -----

func.func @select_and_scatter() {
  %x = stablehlo.constant dense<[[1, 5], [2, 5], [3, 6], [4, 4]]> : tensor<4x2xi64>
  %s = stablehlo.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  %z = stablehlo.constant dense<0> : tensor<i64>
  // The largest of each window of 2 x 1 gets the source; of equal ones the first.
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %c = stablehlo.compare GE, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %c = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %c : tensor<i64>
  }) {window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 2, 1>, padding = dense<0> : tensor<2x2xi64>}
  : (tensor<4x2xi64>, tensor<2x2xi64>, tensor<i64>) -> tensor<4x2xi64>
  check.expect_eq_const %0, dense<[[0, 6], [5, 0], [0, 8], [7, 0]]> : tensor<4x2xi64>
  func.return
}

// -----

// Stable: equal keys keep the order of their values.
func.func @sort_is_stable() {
  %k = stablehlo.constant dense<[3, 1, 2, 1, 3, 1]> : tensor<6xi32>
  %v = stablehlo.iota dim = 0 : tensor<6xi32>
  %r:2 = "stablehlo.sort"(%k, %v) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %lt = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %lt : tensor<i1>
  }) {dimension = 0 : i64, is_stable = true} : (tensor<6xi32>, tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>)
  check.expect_eq_const %r#0, dense<[1, 1, 1, 2, 3, 3]> : tensor<6xi32>
  check.expect_eq_const %r#1, dense<[1, 3, 5, 2, 0, 4]> : tensor<6xi32>
  func.return
}

// -----

func.func @map() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %0 = "stablehlo.map"(%x, %x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %m : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[1, 4, 9]> : tensor<3xi32>
  func.return
}

// -----

// Mean 2, variance 1 in both features; (x - mean) / sqrt(1 + 0) * scale + offset.
func.func @batch_norm() {
  %x = stablehlo.constant dense<[[1.0, 3.0], [3.0, 1.0]]> : tensor<2x2xf32>
  %scale = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %offset = stablehlo.constant dense<[0.0, 10.0]> : tensor<2xf32>
  %t:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) {epsilon = 0.0 : f32, feature_index = 1 : i64}
    : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %t#0, dense<[[-1.0, 12.0], [1.0, 8.0]]> : tensor<2x2xf32>
  check.expect_eq_const %t#1, dense<2.0> : tensor<2xf32>
  check.expect_eq_const %t#2, dense<1.0> : tensor<2xf32>
  %i = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %t#1, %t#2) {epsilon = 3.0 : f32, feature_index = 1 : i64}
    : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %i, dense<[[-0.5, 11.0], [0.5, 9.0]]> : tensor<2x2xf32>
  // A constant gradient shifts only the offset: the others are orthogonal to it.
  %g = stablehlo.constant dense<1.0> : tensor<2x2xf32>
  %d:3 = "stablehlo.batch_norm_grad"(%x, %scale, %t#1, %t#2, %g) {epsilon = 0.0 : f32, feature_index = 1 : i64}
    : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %d#0, dense<0.0> : tensor<2x2xf32>
  check.expect_eq_const %d#1, dense<0.0> : tensor<2xf32>
  check.expect_eq_const %d#2, dense<2.0> : tensor<2xf32>
  func.return
}
