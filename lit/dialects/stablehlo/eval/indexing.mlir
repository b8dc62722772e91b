// RUN: xla-translate --interpret -split-input-file %s

// Start indices are clamped so that the slice fits.
func.func @dynamic_slice_clamps() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<5> : tensor<i64>
  %j = stablehlo.constant dense<-4> : tensor<i64>
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<1x2xi32>
  check.expect_eq_const %0, dense<[[4, 5]]> : tensor<1x2xi32>
  %u = stablehlo.constant dense<[[7, 8]]> : tensor<1x2xi32>
  %1 = stablehlo.dynamic_update_slice %x, %u, %j, %i : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i64>, tensor<i64>) -> tensor<2x3xi32>
  check.expect_eq_const %1, dense<[[1, 7, 8], [4, 5, 6]]> : tensor<2x3xi32>
  func.return
}

// -----

// result[b, o] = operand[indices[b], o]; the last index is clamped to 2.
func.func @gather_rows() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[[2], [0], [9]]> : tensor<3x1xi32>
  %0 = "stablehlo.gather"(%x, %i) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 2>, indices_are_sorted = false
  } : (tensor<3x2xi32>, tensor<3x1xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[5, 6], [1, 2], [5, 6]]> : tensor<3x2xi32>
  func.return
}

// -----

// Batching dimensions: result[b] = operand[b, indices[b]].
func.func @gather_batched() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[[2], [1]]> : tensor<2x1xi64>
  %0 = "stablehlo.gather"(%x, %i) {
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 1>, indices_are_sorted = false
  } : (tensor<2x3xi32>, tensor<2x1xi64>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[3, 5]> : tensor<2xi32>
  func.return
}

// -----

// Updates that do not fit are left out; the others are combined in order.
func.func @scatter_add() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[1], [1], [-1], [4]]> : tensor<4x1xi32>
  %u = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    indices_are_sorted = false, unique_indices = false
  } : (tensor<4xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<4xi32>
  check.expect_eq_const %0, dense<[1, 32, 3, 4]> : tensor<4xi32>
  func.return
}

// -----

// A computation that is not a single operation: 2 * old + new, in update order.
func.func @scatter_general_body() {
  %x = stablehlo.constant dense<[1, 1]> : tensor<2xi32>
  %i = stablehlo.constant dense<[[0], [0], [1]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[5, 7, 9]> : tensor<3xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %d = stablehlo.add %a, %a : tensor<i32>
    %s = stablehlo.add %d, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    indices_are_sorted = false, unique_indices = false
  } : (tensor<2xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[21, 11]> : tensor<2xi32>
  func.return
}

// -----

func.func @torch_index_select() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) {dim = 0 : i64, batch_dims = 0 : i64} : (tensor<3x2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[5, 6], [1, 2]]> : tensor<2x2xi32>
  func.return
}
