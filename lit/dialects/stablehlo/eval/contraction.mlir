// RUN: xla-translate --interpret -split-input-file %s

func.func @dot_general_batched() {
  %a = stablehlo.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi64>
  %b = stablehlo.constant dense<[[[1, 0], [0, 1]], [[2, 1], [1, 2]]]> : tensor<2x2x2xi64>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x2x2xi64>, tensor<2x2x2xi64>) -> tensor<2x2x2xi64>
  check.expect_eq_const %0, dense<[[[1, 2], [3, 4]], [[16, 17], [22, 23]]]> : tensor<2x2x2xi64>
  func.return
}

// -----

// Products and sums count in the result's type: 200 * 200 does not wrap at 8 bits.
func.func @dot_general_widens() {
  %a = stablehlo.constant dense<[200, 100]> : tensor<2xui8>
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<2xui8>, tensor<2xui8>) -> tensor<ui32>
  check.expect_eq_const %0, dense<50000> : tensor<ui32>
  %1 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<2xui8>, tensor<2xui8>) -> tensor<ui8>
  check.expect_eq_const %1, dense<80> : tensor<ui8>
  func.return
}

// -----

// bf16 inputs lose the low bits that f32 would keep: 1.001 becomes 1.
func.func @dot_general_algorithm() {
  %a = stablehlo.constant dense<[1.001, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %0 = "stablehlo.dot_general"(%a, %b) {
    dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>,
    algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32,
      lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>
  } : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %0, dense<3.0> : tensor<f32>
  %1 = "stablehlo.dot_general"(%a, %b) {
    dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>,
    algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32,
      lhs_component_count = 3, rhs_component_count = 3, num_primitive_operations = 6, allow_imprecise_accumulation = false>
  } : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %1, dense<3.001> : tensor<f32>
  func.return
}

// -----

func.func @dot_and_einsum() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = stablehlo.constant dense<[1, 0, -1]> : tensor<3xi32>
  %0 = stablehlo.dot %a, %b : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<-2> : tensor<2xi32>
  %1 = "stablehlo.einsum"(%a, %a) {einsum_config = "ij,kj->ik"} : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[14, 32], [32, 77]]> : tensor<2x2xi32>
  %2 = "stablehlo.unary_einsum"(%a) {einsum_config = "ij->j"} : (tensor<2x3xi32>) -> tensor<3xi32>
  check.expect_eq_const %2, dense<[5, 7, 9]> : tensor<3xi32>
  func.return
}

// -----

// 1-d, padding 1 on both sides, stride 2: [0 1 2], [2 3 4], each dot [1 10 100].
func.func @convolution_1d() {
  %x = stablehlo.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi32>
  %k = stablehlo.constant dense<[[[1]], [[10]], [[100]]]> : tensor<3x1x1xi32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<3x1x1xi32>) -> tensor<1x2x1xi32>
  check.expect_eq_const %0, dense<[[[210], [432]]]> : tensor<1x2x1xi32>
  // Reversed kernel: [100 10 1].
  %1 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]], reverse = [true]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<3x1x1xi32>) -> tensor<1x2x1xi32>
  check.expect_eq_const %1, dense<[[[12], [234]]]> : tensor<1x2x1xi32>
  // Input 1 0 2 0 3 0 4.
  %2 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<3x1x1xi32>) -> tensor<1x5x1xi32>
  check.expect_eq_const %2, dense<[[[201], [20], [302], [30], [403]]]> : tensor<1x5x1xi32>
  func.return
}

// -----

// Two feature groups: each output feature sees one input feature.
func.func @convolution_groups() {
  %x = stablehlo.constant dense<[[[1, 10], [2, 20]]]> : tensor<1x2x2xi32>
  %k = stablehlo.constant dense<[[[3, 5]]]> : tensor<1x1x2xi32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x2x2xi32>, tensor<1x1x2xi32>) -> tensor<1x2x2xi32>
  check.expect_eq_const %0, dense<[[[3, 50], [6, 100]]]> : tensor<1x2x2xi32>
  // Two batch groups: output feature 0 from sample 0, feature 1 from sample 1.
  %y = stablehlo.constant dense<[[[1], [2]], [[10], [20]]]> : tensor<2x2x1xi32>
  %1 = stablehlo.convolution(%y, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x2x1xi32>, tensor<1x1x2xi32>) -> tensor<1x2x2xi32>
  check.expect_eq_const %1, dense<[[[3, 50], [6, 100]]]> : tensor<1x2x2xi32>
  func.return
}

// -----

// L L^T = A for L = [[2, 0], [1, 3]].
func.func @cholesky() {
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 10.0]]> : tensor<2x2xf32>
  %l = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
  check.expect_eq_const %l, dense<[[2.0, 0.0], [1.0, 3.0]]> : tensor<2x2xf32>
  %u = stablehlo.cholesky %a, lower = false : tensor<2x2xf32>
  check.expect_eq_const %u, dense<[[2.0, 1.0], [0.0, 3.0]]> : tensor<2x2xf32>
  func.return
}

// -----

func.func @triangular_solve() {
  %a = stablehlo.constant dense<[[2.0, 7.0], [1.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[2.0, 4.0], [9.0, 6.0]]> : tensor<2x2xf32>
  // [[2, 0], [1, 4]] x = b
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %0, dense<[[1.0, 2.0], [2.0, 1.0]]> : tensor<2x2xf32>
  // [[1, 1], [0, 1]] x = b: the transposed lower part with a unit diagonal.
  %1 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %1, dense<[[-7.0, -2.0], [9.0, 6.0]]> : tensor<2x2xf32>
  // x [[2, 7], [0, 4]] = b
  %2 = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %2, dense<[[1.0, -0.75], [4.5, -6.375]]> : tensor<2x2xf32>
  func.return
}
