// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Defaults are spelled out and structured attributes taken apart; the way back leaves nothing of it.
// RUN: xla-opt %s -stablehlo-legalize-to-vhlo | FileCheck %s
// RUN: xla-opt %s -mlir-print-op-generic > %t.0
// RUN: xla-opt %s -stablehlo-legalize-to-vhlo -vhlo-legalize-to-stablehlo -mlir-print-op-generic | diff %t.0 -

// CHECK-LABEL: vhlo.func_v1 @contractions(
// CHECK-SAME: %arg2: !vhlo.tensor_v1<2x?x!vhlo.f32_v1, #vhlo.type_extensions_v1<bounds = [?, 4]>>
func.func @contractions(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x8xf32>, %b: tensor<2x?xf32, #stablehlo.bounds<?, 4>>, %a: tensor<2x3x4xf32>) {
  // CHECK: "vhlo.convolution_v1"(%arg0, %arg1) <{batch_group_count = #vhlo.integer_v1<1 : i64>, feature_group_count = #vhlo.integer_v1<1 : i64>, input_batch_dimension = #vhlo.integer_v1<0 : i64>, input_feature_dimension = #vhlo.integer_v1<3 : i64>, input_spatial_dimensions = #vhlo.tensor_v1<dense<[1, 2]> : tensor<2xi64>>
  // CHECK-SAME: padding = #vhlo.tensor_v1<dense<0> : tensor<2x2xi64>>, precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>, rhs_dilation = #vhlo.tensor_v1<dense<1> : tensor<2xi64>>, window_reversal = #vhlo.tensor_v1<dense<false> : tensor<2xi1>>, window_strides = #vhlo.tensor_v1<dense<2> : tensor<2xi64>>}>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x3x3x8xf32>
  // CHECK: "vhlo.dot_general_v2"(%arg3, %arg3) <{accumulation_type = #vhlo.type_v1<!vhlo.none_v1>, allow_imprecise_accumulation = #vhlo.type_v1<!vhlo.none_v1>
  // CHECK-SAME: lhs_contracting_dimensions = #vhlo.tensor_v1<dense<[1, 2]> : tensor<2xi64>>
  %1 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2] : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2xf32>
  // CHECK: accumulation_type = #vhlo.type_v1<!vhlo.f32_v1>, allow_imprecise_accumulation = #vhlo.bool_v1<false>
  // CHECK-SAME: lhs_precision_type = #vhlo.type_v1<!vhlo.tf31_v1>
  %2 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2], precision = [HIGH, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: vhlo.func_v1 @regions
func.func @regions(%x: tensor<4x4xf32>, %z: tensor<f32>, %i: tensor<2x1xi32>, %u: tensor<2x4xf32>) {
  // CHECK: "vhlo.reduce_window_v1"(%arg0, %arg1) <{base_dilations = #vhlo.tensor_v1<dense<1> : tensor<2xi64>>, padding = #vhlo.tensor_v1<dense<0> : tensor<2x2xi64>>, window_dilations = #vhlo.tensor_v1<dense<1> : tensor<2xi64>>, window_dimensions = #vhlo.tensor_v1<dense<2> : tensor<2xi64>>, window_strides = #vhlo.tensor_v1<dense<1> : tensor<2xi64>>}>
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    // CHECK: "vhlo.return_v1"
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<f32>) -> tensor<3x3xf32>
  // CHECK: "vhlo.scatter_v2"(%arg0, %arg2, %arg3) <{index_vector_dim = #vhlo.integer_v1<1 : i64>, indices_are_sorted = #vhlo.bool_v1<false>, input_batching_dims = #vhlo.tensor_v1<dense<> : tensor<0xi64>>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x4xf32>, tensor<2x1xi32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.sort_v1"(%arg0) <{dimension = #vhlo.integer_v1<-1 : i64>, is_stable = #vhlo.bool_v1<false>}>
  %2 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: "vhlo.all_reduce_v2"(%arg0) <{channel_id = #vhlo.integer_v1<0 : i64>, replica_groups = #vhlo.tensor_v1<dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>>, use_global_device_ids = #vhlo.bool_v1<false>}>
  %3 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// CHECK-LABEL: "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.token_v1) -> !vhlo.token_v1>>
// CHECK-SAME: sym_visibility = #vhlo.string_v1<"private">
func.func private @token(!stablehlo.token) -> !stablehlo.token

// CHECK-LABEL: vhlo.func_v1 @calls
func.func @calls(%x: tensor<2x2xf32>, %t: !stablehlo.token) {
  // CHECK: "vhlo.call_v1"(%arg1) <{callee = #vhlo.string_v1<"token">}>
  %0 = call @token(%t) : (!stablehlo.token) -> !stablehlo.token
  // CHECK: "vhlo.custom_call_v2"(%arg0) <{api_version = #vhlo<api_version_v1 API_VERSION_TYPED_FFI>, backend_config = #vhlo.dict_v1<{}>, call_target_name = #vhlo.string_v1<"a">, called_computations = #vhlo.array_v1<[#vhlo.string_v1<"token">]>
  // CHECK-SAME: output_operand_aliases = #vhlo.array_v1<[#vhlo.output_operand_alias_v1<outputTupleIndices = [], operandIndex = 0, operandTupleIndices = []>]>
  %1 = stablehlo.custom_call @a(%x) {api_version = 4 : i32, called_computations = [@token], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // Layouts come in pairs: the empty one of no operands stays.
  // CHECK: operand_layouts = #vhlo.array_v1<[]>
  // CHECK-SAME: result_layouts = #vhlo.array_v1<[#vhlo.tensor_v1<dense<[0, 1]> : tensor<2xindex>>]>
  %2 = stablehlo.custom_call @b() {operand_layouts = [], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : () -> tensor<2x2xf32>
  return
}
