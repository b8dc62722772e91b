// Slices, gather and scatter at run-time positions.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
// CHECK: dynamic-slice.1 = f32[1,2]{1,0} dynamic-slice(Arg_0.1, Arg_2.1, Arg_2.1), dynamic_slice_sizes={1,2}
// CHECK: dynamic-update-slice.1 = f32[4,3]{1,0} dynamic-update-slice(Arg_0.1, Arg_1.1, Arg_2.1, Arg_2.1)
func.func @main(%a: tensor<4x3xf32>, %u: tensor<1x2xf32>, %i: tensor<i32>) -> (tensor<1x2xf32>, tensor<4x3xf32>) {
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %1 = stablehlo.dynamic_update_slice %a, %u, %i, %i : (tensor<4x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  return %0, %1 : tensor<1x2xf32>, tensor<4x3xf32>
}

// -----
// CHECK: [[ADD:region.1]] {
// CHECK: ROOT add.1 = s64[] add(
// CHECK: gather(Arg_0.1, Arg_1.1), offset_dims={3,4}, collapsed_slice_dims={1}, start_index_map={2,1}, operand_batching_dims={0}, start_indices_batching_dims={1}, index_vector_dim=3, slice_sizes={1,1,2,2}, indices_are_sorted=true
// CHECK: scatter(Arg_0.1, Arg_1.1, Arg_2.1), update_window_dims={3,4}, inserted_window_dims={1}, scatter_dims_to_operand_dims={2,1}, input_batching_dims={0}, scatter_indices_batching_dims={1}, index_vector_dim=3, unique_indices=true, to_apply=[[ADD]]
func.func @main(%o: tensor<2x3x4x2xi64>, %i: tensor<2x2x3x2xi64>, %u: tensor<2x2x3x2x2xi64>) -> (tensor<2x2x3x2x2xi64>, tensor<2x3x4x2xi64>) {
  %0 = "stablehlo.gather"(%o, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 2, 2>, indices_are_sorted = true} : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi64>
  %1 = "stablehlo.scatter"(%o, %i, %u) ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %2 = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %2 : tensor<i64>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>, unique_indices = true} : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64>
  return %0, %1 : tensor<2x2x3x2x2xi64>, tensor<2x3x4x2xi64>
}

// -----
// The computation works on f64, so the operands are converted before.
// CHECK: convert.1 = f64[4]{0} convert(Arg_0.1)
// CHECK: convert.2 = f64[2]{0} convert(Arg_2.1)
// CHECK: ROOT scatter.1 = f64[4]{0} scatter(convert.1, Arg_1.1, convert.2)
func.func @main(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %y: tensor<2xf32>) -> tensor<4xf64> {
  %0 = "stablehlo.scatter"(%x, %i, %y) ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    stablehlo.return %b : tensor<f64>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
