// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation goes to the portable format, in the current and in an old version, and comes back as it was.
// RUN: xla-opt %s -mlir-print-op-generic > %t.0
// RUN: xla-opt %s -stablehlo-legalize-to-vhlo > %t.vhlo && FileCheck %s < %t.vhlo
// RUN: xla-opt %t.vhlo -stablehlo-deserialize -mlir-print-op-generic | diff %t.0 -
// RUN: xla-translate --serialize --target=current %s | xla-translate --deserialize | xla-opt -mlir-print-op-generic | diff %t.0 -
// RUN: xla-opt %t.vhlo -vhlo-to-version=target=1.19.0 | xla-opt -stablehlo-deserialize -mlir-print-op-generic | diff %t.0 -

// CHECK-LABEL: vhlo.func_v1 @unary
func.func @unary(%x: tensor<2xf32>, %i: tensor<2xi32>, %b: tensor<2xi1>, %c: tensor<2xcomplex<f32>>) {
  // CHECK: "vhlo.abs_v1"(%arg0)
  %0 = stablehlo.abs %x : tensor<2xf32>
  // CHECK: "vhlo.cbrt_v2"(%arg0)
  %1 = stablehlo.cbrt %x : tensor<2xf32>
  // CHECK: "vhlo.ceil_v1"(%arg0)
  %2 = stablehlo.ceil %x : tensor<2xf32>
  // CHECK: "vhlo.cosine_v2"(%arg0)
  %3 = stablehlo.cosine %x : tensor<2xf32>
  // CHECK: "vhlo.exponential_v2"(%arg0)
  %4 = stablehlo.exponential %x : tensor<2xf32>
  // CHECK: "vhlo.exponential_minus_one_v2"(%arg0)
  %5 = stablehlo.exponential_minus_one %x : tensor<2xf32>
  // CHECK: "vhlo.floor_v1"(%arg0)
  %6 = stablehlo.floor %x : tensor<2xf32>
  // CHECK: "vhlo.log_v2"(%arg0)
  %7 = stablehlo.log %x : tensor<2xf32>
  // CHECK: "vhlo.log_plus_one_v2"(%arg0)
  %8 = stablehlo.log_plus_one %x : tensor<2xf32>
  // CHECK: "vhlo.logistic_v2"(%arg0)
  %9 = stablehlo.logistic %x : tensor<2xf32>
  // CHECK: "vhlo.negate_v1"(%arg0)
  %10 = stablehlo.negate %x : tensor<2xf32>
  // CHECK: "vhlo.round_nearest_afz_v1"(%arg0)
  %11 = stablehlo.round_nearest_afz %x : tensor<2xf32>
  // CHECK: "vhlo.round_nearest_even_v1"(%arg0)
  %12 = stablehlo.round_nearest_even %x : tensor<2xf32>
  // CHECK: "vhlo.rsqrt_v2"(%arg0)
  %13 = stablehlo.rsqrt %x : tensor<2xf32>
  // CHECK: "vhlo.sign_v1"(%arg0)
  %14 = stablehlo.sign %x : tensor<2xf32>
  // CHECK: "vhlo.sine_v2"(%arg0)
  %15 = stablehlo.sine %x : tensor<2xf32>
  // CHECK: "vhlo.sqrt_v2"(%arg0)
  %16 = stablehlo.sqrt %x : tensor<2xf32>
  // CHECK: "vhlo.tan_v2"(%arg0)
  %17 = stablehlo.tan %x : tensor<2xf32>
  // CHECK: "vhlo.tanh_v2"(%arg0)
  %18 = stablehlo.tanh %x : tensor<2xf32>
  // CHECK: "vhlo.count_leading_zeros_v1"(%arg1)
  %19 = stablehlo.count_leading_zeros %i : tensor<2xi32>
  // CHECK: "vhlo.popcnt_v1"(%arg1)
  %20 = stablehlo.popcnt %i : tensor<2xi32>
  // CHECK: "vhlo.not_v1"(%arg1)
  %21 = stablehlo.not %i : tensor<2xi32>
  // CHECK: "vhlo.is_finite_v1"
  %22 = stablehlo.is_finite %x : (tensor<2xf32>) -> tensor<2xi1>
  // CHECK: "vhlo.real_v1"
  %23 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: "vhlo.imag_v1"
  %24 = stablehlo.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: "vhlo.convert_v1"
  %25 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xui4>
  // CHECK: "vhlo.bitcast_convert_v1"
  %26 = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
  // CHECK: "vhlo.reduce_precision_v1"(%arg0) <{exponent_bits = #vhlo.integer_v1<5 : i32>, mantissa_bits = #vhlo.integer_v1<10 : i32>}>
  %27 = stablehlo.reduce_precision %x, format = e5m10 : tensor<2xf32>
  return
}

// CHECK-LABEL: vhlo.func_v1 @binary
func.func @binary(%x: tensor<2xf32>, %i: tensor<2xi32>, %b: tensor<2xi1>) {
  // CHECK: "vhlo.add_v1"(%arg0, %arg0)
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  // CHECK: "vhlo.atan2_v1"(%arg0, %arg0)
  %1 = stablehlo.atan2 %x, %x : tensor<2xf32>
  // CHECK: "vhlo.divide_v1"(%arg0, %arg0)
  %2 = stablehlo.divide %x, %x : tensor<2xf32>
  // CHECK: "vhlo.maximum_v1"(%arg0, %arg0)
  %3 = stablehlo.maximum %x, %x : tensor<2xf32>
  // CHECK: "vhlo.minimum_v1"(%arg0, %arg0)
  %4 = stablehlo.minimum %x, %x : tensor<2xf32>
  // CHECK: "vhlo.multiply_v1"(%arg0, %arg0)
  %5 = stablehlo.multiply %x, %x : tensor<2xf32>
  // CHECK: "vhlo.power_v1"(%arg0, %arg0)
  %6 = stablehlo.power %x, %x : tensor<2xf32>
  // CHECK: "vhlo.remainder_v1"(%arg0, %arg0)
  %7 = stablehlo.remainder %x, %x : tensor<2xf32>
  // CHECK: "vhlo.subtract_v1"(%arg0, %arg0)
  %8 = stablehlo.subtract %x, %x : tensor<2xf32>
  // CHECK: "vhlo.and_v1"(%arg1, %arg1)
  %9 = stablehlo.and %i, %i : tensor<2xi32>
  // CHECK: "vhlo.or_v1"(%arg1, %arg1)
  %10 = stablehlo.or %i, %i : tensor<2xi32>
  // CHECK: "vhlo.xor_v1"(%arg1, %arg1)
  %11 = stablehlo.xor %i, %i : tensor<2xi32>
  // CHECK: "vhlo.shift_left_v1"(%arg1, %arg1)
  %12 = stablehlo.shift_left %i, %i : tensor<2xi32>
  // CHECK: "vhlo.shift_right_arithmetic_v1"(%arg1, %arg1)
  %13 = stablehlo.shift_right_arithmetic %i, %i : tensor<2xi32>
  // CHECK: "vhlo.shift_right_logical_v1"(%arg1, %arg1)
  %14 = stablehlo.shift_right_logical %i, %i : tensor<2xi32>
  // CHECK: "vhlo.complex_v1"
  %15 = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
  // CHECK: "vhlo.compare_v1"(%arg0, %arg0) <{compare_type = #vhlo<comparison_type_v1 TOTALORDER>, comparison_direction = #vhlo<comparison_direction_v1 GE>}>
  %16 = stablehlo.compare GE, %x, %x, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: "vhlo.select_v1"
  %17 = stablehlo.select %b, %x, %x : tensor<2xi1>, tensor<2xf32>
  // CHECK: "vhlo.clamp_v1"
  %18 = stablehlo.clamp %x, %x, %x : tensor<2xf32>
  return
}

// CHECK-LABEL: vhlo.func_v1 @quantized
func.func @quantized(%x: tensor<2xf32>) {
  // CHECK: "vhlo.uniform_quantize_v1"
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:4}>>
  // CHECK: "vhlo.uniform_dequantize_v1"
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32:0, {0.5:3, 0.25:4}>>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: vhlo.func_v1 @contractions
func.func @contractions(%x: tensor<4x4xf32>, %n: tensor<1x4x4x1xf32>, %p: tensor<2x2xi64>) {
  // CHECK: "vhlo.dot_v1"
  %0 = stablehlo.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.cholesky_v1"(%arg0) <{lower = #vhlo.bool_v1<true>}>
  %1 = stablehlo.cholesky %x, lower = true : tensor<4x4xf32>
  // CHECK: "vhlo.triangular_solve_v1"
  %2 = "stablehlo.triangular_solve"(%x, %x) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.einsum_v1"
  %3 = stablehlo.einsum %x, %x, config = "ab,bc->ac" : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.unary_einsum_v1"
  %4 = stablehlo.unary_einsum %x, config = "ab->a" : (tensor<4x4xf32>) -> tensor<4xf32>
  // CHECK: "vhlo.dynamic_conv_v2"
  %5 = "stablehlo.dynamic_conv"(%n, %n, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64, window_reversal = array<i1: true, false>, rhs_dilation = array<i64: 1, 2>}> : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>, tensor<2x2xi64>) -> tensor<1x?x?x1xf32>
  return
}

// CHECK-LABEL: vhlo.func_v1 @indexing
func.func @indexing(%x: tensor<4x4xf32>, %i: tensor<2x1xi32>, %s: tensor<2xi64>, %d: tensor<4xi32>) {
  // CHECK: "vhlo.broadcast_v1"
  %0 = stablehlo.broadcast %x, sizes = [2] : (tensor<4x4xf32>) -> tensor<2x4x4xf32>
  // CHECK: "vhlo.dynamic_gather_v2"
  %1 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<4x4xf32>, tensor<2x1xi32>, tensor<2xi64>) -> tensor<2x4xf32>
  // CHECK: "vhlo.torch_index_select_v1"
  %2 = "stablehlo.torch_index_select"(%x, %d) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<4x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>
  return
}

// CHECK-LABEL: vhlo.func_v1 @normalization
func.func @normalization(%x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // CHECK: "vhlo.batch_norm_inference_v1"{{.*}} <{epsilon = #vhlo.float_v1<1.000000e-03 : !vhlo.f32_v1>, feature_index = #vhlo.integer_v1<1 : i64>}>
  %0 = "stablehlo.batch_norm_inference"(%x, %v, %v, %v, %v) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: "vhlo.batch_norm_training_v1"
  %1:3 = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: "vhlo.batch_norm_grad_v1"
  %2:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x) <{epsilon = 0.001 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}

// CHECK-LABEL: vhlo.func_v1 @collectives
func.func @collectives(%x: tensor<4x4xf32>) {
  // CHECK: "vhlo.all_gather_v2"{{.*}} channel_id = #vhlo.integer_v1<7 : i64>{{.*}} use_global_device_ids = #vhlo.bool_v1<true>
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 7, type = 0>, use_global_device_ids}> : (tensor<4x4xf32>) -> tensor<8x4xf32>
  // CHECK: "vhlo.all_reduce_v2"
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.all_to_all_v2"
  %2 = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<2x8xf32>
  // CHECK: "vhlo.reduce_scatter_v1"
  %3 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x4xf32>) -> tensor<4x2xf32>
  // CHECK: "vhlo.collective_broadcast_v2"{{.*}} has_dynamic_root = #vhlo.bool_v1<false>
  %4 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.collective_permute_v1"
  %5 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.cross-replica-sum_v1"
  %6 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// CHECK-LABEL: vhlo.func_v1 @async
func.func @async(%x: tensor<4xf32>) {
  // CHECK: "vhlo.async_start_v1"(%arg0) ({
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<8xf32>
    stablehlo.return %2 : tensor<8xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
  // CHECK: "vhlo.async_done_v1"{{.*}} : (!vhlo.future_v1<!vhlo.tensor_v1<8x!vhlo.f32_v1>>)
  %1 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return
}

// CHECK-LABEL: vhlo.func_v1 @collective_reduce
func.func @collective_reduce(%x: tensor<4xf32>) {
  // CHECK: "vhlo.collective_reduce_v1"(%arg0) <{channel_id = #vhlo.integer_v1<0 : i64>, has_dynamic_root = #vhlo.bool_v1<false>, replica_groups
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
