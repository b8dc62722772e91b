// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpTable.cpp - The operations of the portable format ----------------===//
// Source: the VHLO dialect of StableHLO 1.20 (names, versions and attribute names are the interface).
#include "dialects/vhlo/OpTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace millrace::vhlo {
namespace {

constexpr Version current = currentVersion;

constexpr OpDef table[] = {
    // name, first and last version, operands, attributes, regions, results
    {"abs_v1", {0, 9}, current, "operand", "", "", "result"},
    {"add_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"after_all_v1", {0, 9}, current, "inputs*", "", "", "result"},
    {"all_gather_v1", {0, 9}, {1, 4}, "operand",
     "all_gather_dim channel_id replica_groups use_global_device_ids", "", "result"},
    {"all_gather_v2", {1, 5}, current, "operands*",
     "all_gather_dim channel_id replica_groups use_global_device_ids", "", "results*"},
    {"all_reduce_v1", {0, 9}, {1, 4}, "operand",
     "channel_id replica_groups use_global_device_ids", "computation", "result"},
    {"all_reduce_v2", {1, 5}, current, "operands*",
     "channel_id replica_groups use_global_device_ids", "computation", "results*"},
    {"all_to_all_v1", {0, 9}, {1, 4}, "operand",
     "channel_id concat_dimension replica_groups split_count split_dimension", "", "result"},
    {"all_to_all_v2", {1, 5}, current, "operands*",
     "channel_id concat_dimension replica_groups split_count split_dimension", "", "results*"},
    {"and_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"async_done_v1", {1, 15}, current, "operand", "", "", "results*"},
    {"async_start_v1", {1, 15}, current, "operands*", "", "collective", "result"},
    {"atan2_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"batch_norm_grad_v1", {0, 9}, current, "operand scale mean variance grad_output",
     "epsilon feature_index", "", "grad_operand grad_scale grad_offset"},
    {"batch_norm_inference_v1", {0, 9}, current, "operand scale offset mean variance",
     "epsilon feature_index", "", "result"},
    {"batch_norm_training_v1", {0, 9}, current, "operand scale offset",
     "epsilon feature_index", "", "output batch_mean batch_var"},
    {"bitcast_convert_v1", {0, 9}, current, "operand", "", "", "result"},
    {"broadcast_in_dim_v1", {0, 9}, current, "operand", "broadcast_dimensions", "", "result"},
    {"broadcast_v1", {0, 9}, current, "operand", "broadcast_sizes", "", "result"},
    {"call_v1", {0, 9}, current, "operands*", "callee", "", "results*"},
    {"case_v1", {0, 9}, current, "index", "", "branches*", "results*"},
    {"cbrt_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"cbrt_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"ceil_v1", {0, 9}, current, "operand", "", "", "result"},
    {"cholesky_v1", {0, 9}, current, "a", "lower", "", "result"},
    {"clamp_v1", {0, 9}, current, "min operand max", "", "", "result"},
    {"collective_broadcast_v1", {0, 16}, {1, 19}, "operand", "channel_id replica_groups", "", "result"},
    {"collective_broadcast_v2", {1, 20}, current, "operands*",
     "channel_id has_dynamic_root replica_groups", "", "results*"},
    {"collective_permute_v1", {0, 9}, current, "operand", "channel_id source_target_pairs", "", "result"},
    {"collective_reduce_v1", {1, 19}, current, "operands*",
     "channel_id has_dynamic_root replica_groups use_global_device_ids", "computation", "results*"},
    {"compare_v1", {0, 9}, current, "lhs rhs", "compare_type comparison_direction", "", "result"},
    {"complex_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"composite_v1", {0, 19}, {1, 13}, "inputs*", "composite_attributes decomposition name version", "", "results*"},
    {"composite_v2", {1, 14}, current, "inputs*",
     "composite_attributes decomposition name version", "composite_regions*", "results*"},
    {"concatenate_v1", {0, 9}, current, "inputs*", "dimension", "", "result"},
    {"constant_v1", {0, 9}, current, "", "value", "", "result"},
    {"convert_v1", {0, 9}, current, "operand", "", "", "result"},
    {"convolution_v1", {0, 9}, current, "lhs rhs",
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides", "", "result"},
    {"cosine_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"cosine_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"count_leading_zeros_v1", {0, 9}, current, "operand", "", "", "result"},
    {"create_token_v1", {0, 9}, current, "", "", "", "result"},
    {"cross-replica-sum_v1", {0, 9}, current, "operand", "replica_groups", "", "result"},
    {"custom_call_v1", {0, 9}, {1, 17}, "inputs*",
     "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
     "output_operand_aliases result_layouts", "", "results*"},
    {"custom_call_v2", {1, 18}, current, "inputs*",
     "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
     "output_operand_aliases result_layouts result_tilings", "", "results*"},
    {"divide_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"dot_general_v1", {0, 9}, {1, 5}, "lhs rhs",
     "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions "
     "rhs_contracting_dimensions", "", "result"},
    {"dot_general_v2", {1, 6}, current, "lhs rhs",
     "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count "
     "lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config "
     "rhs_batching_dimensions rhs_component_count rhs_contracting_dimensions rhs_precision_type", "", "result"},
    {"dot_v1", {0, 9}, current, "lhs rhs", "precision_config", "", "result"},
    {"dynamic_broadcast_in_dim_v1", {0, 9}, current, "operand output_dimensions",
     "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions", "", "result"},
    {"dynamic_conv_v1", {0, 9}, {0, 19}, "lhs rhs d_padding",
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides", "", "result"},
    {"dynamic_conv_v2", {0, 20}, current, "lhs rhs padding",
     "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
     "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
     "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
     "output_spatial_dimensions precision_config rhs_dilation window_reversal window_strides", "", "result"},
    {"dynamic_gather_v1", {0, 9}, {1, 0}, "operand start_indices slice_sizes",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map", "", "result"},
    {"dynamic_gather_v2", {1, 1}, current, "operand start_indices slice_sizes",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims "
     "start_index_map start_indices_batching_dims", "", "result"},
    {"dynamic_iota_v1", {0, 9}, current, "output_shape", "iota_dimension", "", "result"},
    {"dynamic_pad_v1", {0, 9}, current, "operand padding_value edge_padding_low edge_padding_high interior_padding",
     "", "", "result"},
    {"dynamic_reshape_v1", {0, 9}, current, "operand output_shape", "", "", "result"},
    {"dynamic_slice_v1", {0, 9}, current, "operand start_indices*", "slice_sizes", "", "result"},
    {"dynamic_update_slice_v1", {0, 9}, current, "operand update start_indices*", "", "", "result"},
    {"einsum_v1", {0, 9}, current, "lhs rhs", "einsum_config", "", "result"},
    {"exponential_minus_one_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"exponential_minus_one_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"exponential_v1", {0, 9}, {1, 8}, "operand", "", "", "result"},
    {"exponential_v2", {1, 9}, current, "operand", "result_accuracy", "", "result"},
    {"fft_v1", {0, 9}, current, "operand", "fft_length fft_type", "", "result"},
    {"floor_v1", {0, 9}, current, "operand", "", "", "result"},
    {"func_v1", {0, 9}, current, "", "arg_attrs function_type res_attrs sym_name sym_visibility", "body", ""},
    {"gather_v1", {0, 9}, {1, 0}, "operand start_indices",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map", "", "result"},
    {"gather_v2", {1, 1}, current, "operand start_indices",
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes "
     "start_index_map start_indices_batching_dims", "", "result"},
    {"get_dimension_size_v1", {0, 9}, current, "operand", "dimension", "", "result"},
    {"get_tuple_element_v1", {0, 9}, current, "operand", "index", "", "result"},
    {"if_v1", {0, 9}, current, "pred", "", "true_branch false_branch", "results*"},
    {"imag_v1", {0, 9}, current, "operand", "", "", "result"},
    {"infeed_v1", {0, 9}, current, "token", "infeed_config layout", "", "results*"},
    {"iota_v1", {0, 9}, current, "", "iota_dimension", "", "result"},
    {"is_finite_v1", {0, 9}, current, "x", "", "", "result"},
    {"log_plus_one_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"log_plus_one_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"log_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"log_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"logistic_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"logistic_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"map_v1", {0, 9}, current, "inputs*", "dimensions", "computation", "result"},
    {"maximum_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"minimum_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"multiply_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"negate_v1", {0, 9}, current, "operand", "", "", "result"},
    {"not_v1", {0, 9}, current, "operand", "", "", "result"},
    {"optimization_barrier_v1", {0, 9}, current, "operand*", "", "", "results*"},
    {"or_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"outfeed_v1", {0, 9}, current, "inputs* token", "outfeed_config", "", "result"},
    {"pad_v1", {0, 9}, current, "operand padding_value",
     "edge_padding_high edge_padding_low interior_padding", "", "result"},
    {"partition_id_v1", {0, 9}, current, "", "", "", "result"},
    {"popcnt_v1", {0, 9}, current, "operand", "", "", "result"},
    {"power_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"real_dynamic_slice_v1", {0, 9}, current, "operand start_indices limit_indices strides", "", "", "result"},
    {"real_v1", {0, 9}, current, "operand", "", "", "result"},
    {"recv_v1", {0, 9}, {1, 11}, "token", "channel_id channel_type is_host_transfer", "", "results*"},
    {"recv_v2", {1, 12}, current, "token",
     "channel_id channel_type is_host_transfer source_target_pairs", "", "results*"},
    {"reduce_precision_v1", {0, 9}, current, "operand", "exponent_bits mantissa_bits", "", "result"},
    {"reduce_scatter_v1", {0, 9}, current, "operand",
     "channel_id replica_groups scatter_dimension use_global_device_ids", "computation", "result"},
    {"reduce_v1", {0, 9}, current, "inputs* init_values*", "dimensions", "body", "results*"},
    {"reduce_window_v1", {0, 9}, current, "inputs* init_values*",
     "base_dilations padding window_dilations window_dimensions window_strides", "body", "results*"},
    {"remainder_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"replica_id_v1", {0, 9}, current, "", "", "", "result"},
    {"reshape_v1", {0, 9}, current, "operand", "", "", "result"},
    {"return_v1", {0, 9}, current, "results*", "", "", ""},
    {"reverse_v1", {0, 9}, current, "operand", "dimensions", "", "result"},
    {"rng_bit_generator_v1", {0, 9}, current, "initial_state", "rng_algorithm", "", "output_state output"},
    {"rng_v1", {0, 9}, current, "a b shape", "rng_distribution", "", "result"},
    {"round_nearest_afz_v1", {0, 9}, current, "operand", "", "", "result"},
    {"round_nearest_even_v1", {0, 9}, current, "operand", "", "", "result"},
    {"rsqrt_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"rsqrt_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"scatter_v1", {0, 9}, {1, 0}, "inputs* scatter_indices updates*",
     "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices "
     "update_window_dims", "update_computation", "results*"},
    {"scatter_v2", {1, 1}, current, "inputs* scatter_indices updates*",
     "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims scatter_dims_to_operand_dims "
     "scatter_indices_batching_dims unique_indices update_window_dims", "update_computation", "results*"},
    {"select_and_scatter_v1", {0, 9}, current, "operand source init_value",
     "padding window_dimensions window_strides", "select scatter", "result"},
    {"select_v1", {0, 9}, current, "pred on_true on_false", "", "", "result"},
    {"send_v1", {0, 9}, {1, 11}, "inputs* token", "channel_id channel_type is_host_transfer", "", "result"},
    {"send_v2", {1, 12}, current, "inputs* token",
     "channel_id channel_type is_host_transfer source_target_pairs", "", "result"},
    {"set_dimension_size_v1", {0, 9}, current, "operand size", "dimension", "", "result"},
    {"shift_left_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"shift_right_arithmetic_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"shift_right_logical_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"sign_v1", {0, 9}, current, "operand", "", "", "result"},
    {"sine_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"sine_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"slice_v1", {0, 9}, current, "operand", "limit_indices start_indices strides", "", "result"},
    {"sort_v1", {0, 9}, current, "inputs*", "dimension is_stable", "comparator", "results*"},
    {"sqrt_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"sqrt_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"subtract_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
    {"tan_v1", {1, 4}, {1, 9}, "operand", "", "", "result"},
    {"tan_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"tanh_v1", {0, 9}, {1, 9}, "operand", "", "", "result"},
    {"tanh_v2", {1, 10}, current, "operand", "result_accuracy", "", "result"},
    {"torch_index_select_v1", {0, 9}, current, "operand index", "batch_dims dim", "", "result"},
    {"transpose_v1", {0, 9}, current, "operand", "permutation", "", "result"},
    {"triangular_solve_v1", {0, 9}, current, "a b", "left_side lower transpose_a unit_diagonal", "", "result"},
    {"tuple_v1", {0, 9}, current, "val*", "", "", "result"},
    {"unary_einsum_v1", {0, 9}, current, "operand", "einsum_config", "", "result"},
    {"uniform_dequantize_v1", {0, 9}, current, "operand", "", "", "result"},
    {"uniform_quantize_v1", {0, 9}, current, "operand", "", "", "result"},
    {"while_v1", {0, 9}, current, "operand*", "", "cond body", "results*"},
    {"xor_v1", {0, 9}, current, "lhs rhs", "", "", "result"},
};

const llvm::StringMap<const OpDef *> &index() {
  static const auto *map = [] {
    auto *names = new llvm::StringMap<const OpDef *>;
    for (const OpDef &def : table)
      names->try_emplace(def.name, &def);
    return names;
  }();
  return *map;
}

} // namespace

llvm::SmallVector<llvm::StringRef> OpDef::attributeNames() const {
  llvm::SmallVector<llvm::StringRef> names;
  attributes.split(names, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return names;
}

llvm::ArrayRef<OpDef> opTable() { return table; }

const OpDef *lookupOp(llvm::StringRef name) {
  name.consume_front("vhlo.");
  return index().lookup(name);
}

const OpDef *lookupOp(llvm::StringRef stem, int number) {
  return index().lookup((stem + "_v" + llvm::Twine(number)).str());
}

const OpDef *currentOp(llvm::StringRef stem) {
  for (int number = 1; const OpDef *def = lookupOp(stem, number); ++number)
    if (def->existsIn(current))
      return def;
  return nullptr;
}

} // namespace millrace::vhlo
