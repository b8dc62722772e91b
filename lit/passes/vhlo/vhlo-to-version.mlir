// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a version says differently is rewritten, down and up again; the rest stays.
// RUN: xla-opt %s -stablehlo-legalize-to-vhlo -vhlo-to-version=target=0.9.0 > %t.old && FileCheck %s < %t.old
// RUN: xla-opt %s -mlir-print-op-generic > %t.0
// RUN: xla-opt %t.old -stablehlo-deserialize -mlir-print-op-generic | diff %t.0 -
// RUN: xla-opt %t.old -vhlo-to-version=target=1.20.0 | FileCheck %s -check-prefix=NEW

// CHECK-LABEL: vhlo.func_v1 @f
// NEW-LABEL: vhlo.func_v1 @f
func.func @f(%x: tensor<4x4xf32>, %i: tensor<2x1xi32>, %u: tensor<2x4xf32>, %t: !stablehlo.token, %s: tensor<2xi64>, %p: tensor<2x2xi64>, %n: tensor<1x4x4x1xf32>) {
  // CHECK: "vhlo.exponential_v1"(%arg0) : (!vhlo
  // NEW: "vhlo.exponential_v2"(%arg0) <{result_accuracy = #vhlo.result_accuracy_v1<atol = 0.000000e+00, rtol = 0.000000e+00, ulps = 0, mode = #vhlo<result_accuracy_mode_v1 DEFAULT>>}>
  %0 = stablehlo.exponential %x : tensor<4x4xf32>
  // CHECK: "vhlo.gather_v1"(%{{.*}}) <{collapsed_slice_dims = {{.*}}, index_vector_dim = {{.*}}, indices_are_sorted = {{.*}}, offset_dims = {{.*}}, slice_sizes = {{.*}}, start_index_map = {{[^,]*}}}>
  // NEW: "vhlo.gather_v2"{{.*}} operand_batching_dims = #vhlo.tensor_v1<dense<> : tensor<0xi64>>
  %1 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<4x4xf32>, tensor<2x1xi32>) -> tensor<2x4xf32>
  // CHECK: "vhlo.dynamic_gather_v1"
  // NEW: "vhlo.dynamic_gather_v2"
  %2 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<4x4xf32>, tensor<2x1xi32>, tensor<2xi64>) -> tensor<2x4xf32>
  // CHECK: "vhlo.scatter_v1"
  // NEW: "vhlo.scatter_v2"
  %3 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK: "vhlo.sine_v1"
    // NEW: "vhlo.sine_v2"
    %c = stablehlo.sine %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.dot_general_v1"(%{{.*}}) <{lhs_batching_dimensions
  // NEW: "vhlo.dot_general_v2"{{.*}} num_primitive_operations = #vhlo.type_v1<!vhlo.none_v1>
  %4 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.dynamic_conv_v1"(%arg6, %arg6, %arg5) <{{.*}} padding = #vhlo.tensor_v1<dense<0> : tensor<2x2xi64>>
  // NEW: "vhlo.dynamic_conv_v2"(%arg6, %arg6, %arg5)
  // NEW-NOT: padding =
  %5 = "stablehlo.dynamic_conv"(%n, %n, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>, tensor<2x2xi64>) -> tensor<1x?x?x1xf32>
  // CHECK: "vhlo.custom_call_v1"
  // NEW: "vhlo.custom_call_v2"{{.*}} result_tilings = #vhlo.array_v1<[]>
  %6 = stablehlo.custom_call @a(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.all_gather_v1"
  // NEW: "vhlo.all_gather_v2"
  %7 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: "vhlo.send_v1"
  // NEW: "vhlo.send_v2"{{.*}} source_target_pairs = #vhlo.tensor_v1<dense<> : tensor<0xi64>>
  %8 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<4x4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK: "vhlo.abs_v1"
  // NEW: "vhlo.abs_v1"
  %9 = stablehlo.abs %x : tensor<4x4xf32>
  return
}
