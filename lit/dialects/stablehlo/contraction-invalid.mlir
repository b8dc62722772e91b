// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -verify-diagnostics -split-input-file

// dot_general (C1)
func.func @dot_c1(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{lhs and rhs should have the same number of batching dimensions}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C2)
func.func @dot_c2(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{lhs and rhs should have the same number of contracting dimensions}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C3)
func.func @dot_c3(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{has duplicated dimension from lhs_batching_dimensions and lhs_contracting_dimensions: 0}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [0] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C4)
func.func @dot_c4(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{has duplicated dimension from rhs_batching_dimensions and rhs_contracting_dimensions: 0}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [0] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C5)
func.func @dot_c5(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{lhs_batching_dimensions value: 3 is out of range: [0, 3)}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [3] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C6)
func.func @dot_c6(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{lhs_contracting_dimensions value: -1 is out of range: [0, 3)}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [-1] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C7)
func.func @dot_c7(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{rhs_batching_dimensions value: 3 is out of range: [0, 3)}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [3], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C8)
func.func @dot_c8(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{rhs_contracting_dimensions value: 3 is out of range: [0, 3)}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [3] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C9)
func.func @dot_c9(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{batching dimension sizes must match for lhs/rhs}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C10)
func.func @dot_c10(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{contracting dimension sizes must match for lhs/rhs}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C11)
func.func @dot_c11(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{expects precision config to be empty or have <= 2 elements, got 3}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C12)
func.func @dot_c12(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{inferred shape '[2, 3, 5]' is incompatible with return type of operation 'tensor<2x3x6xf32>'}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

// dot_general (C22)
func.func @dot_c22(%l: tensor<2x3x4xf32>, %r: tensor<2x4x5xf32>) {
  // expected-error@+1 {{dot algorithm not known to be supported on any hardware}}
  %0 = stablehlo.dot_general %l, %r, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 9, allow_imprecise_accumulation = false> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return
}

// -----

// dot_general (C15)
func.func @dot_c15(%l: tensor<2x3x!quant.uniform<i8:f32, 1.0:17>>, %r: tensor<3x4xf32>) {
  // expected-error@+1 {{rhs should be quantized for quantized operations}}
  %0 = stablehlo.dot_general %l, %r, contracting_dims = [1] x [0] : (tensor<2x3x!quant.uniform<i8:f32, 1.0:17>>, tensor<3x4xf32>) -> tensor<2x4x!quant.uniform<i32:f32, 1.0:0>>
  return
}

// -----

// convolution (C1)
func.func @conv_c1(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x6xf32>) {
  // expected-error@+1 {{expects convolution arguments to have same number of dimensions.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C2)
func.func @conv_c2(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects window-strides to have same dimension-size as size of window dimensions (2), but got: 1.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C3)
func.func @conv_c3(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects window to have positive stride for 1-th window dimension, but got 0.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 0]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C4)
func.func @conv_c4(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects padding-entries to have same dimension-size as size of window dimensions (2), but got: 1.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C6)
func.func @conv_c6(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects window to have positive base dilation factor for 0-th window dimension, but got 0.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C8)
func.func @conv_c8(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects window to have positive window dilation factor for 0-th window dimension, but got 0.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {rhs_dilate = [0, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C9)
func.func @conv_c9(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects window-reversal to have same dimension-size as size of window dimensions (2), but got: 1.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C10)
func.func @conv_c10(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects input batch dimension (2) to be divisible by batch_group_count. Got batch_group_count = 3.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 3 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C11)
func.func @conv_c11(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects input feature dimension (2) to be a multiple of feature_group_count. Got feature_group_count = 3.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 3 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C14)
func.func @conv_c14(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects input feature dimension (2) / feature_group_count = kernel input feature dimension (2). Got feature_group_count = 2.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C21)
func.func @conv_c21(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects feature_group_count to be a positive number, got 0.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 0 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C22)
func.func @conv_c22(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects batch_group_count to be a positive number, got 0.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 0 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C23)
func.func @conv_c23(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{expects batch_group_count and feature_group_count not to be both greater than 1. Got 2 and 2 resp.}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 2 : i64, feature_group_count = 2 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// convolution (C25)
func.func @conv_c25(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{inferred shape '[2, 3, 3, 6]' is incompatible with return type of operation 'tensor<2x4x3x6xf32>'}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x4x3x6xf32>
  return
}

// -----

// Text of convolution
func.func @conv_text(%l: tensor<2x4x4x2xf32>, %r: tensor<2x2x2x6xf32>) {
  // expected-error@+1 {{Unexpected keyword strid}}
  %0 = stablehlo.convolution(%l, %r) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {strid = [1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x4x2xf32>, tensor<2x2x2x6xf32>) -> tensor<2x3x3x6xf32>
  return
}

// -----

// cholesky (C2)
func.func @cholesky_c2(%a: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{argument 'a' must have rank >= 2, got shape 2.}}
  %0 = stablehlo.cholesky %a : tensor<2xf32>
  return
}

// -----

// cholesky (C3)
func.func @cholesky_c3(%a: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{minor dimensions of 'a' must have equal size, got shape 2, 3.}}
  %0 = stablehlo.cholesky %a : tensor<2x3xf32>
  return
}

// -----

// triangular_solve (C2)
func.func @triangular_rank(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operand 'a' must have rank >= 2, but got 'tensor<4xf32>'}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// triangular_solve (C3)
func.func @triangular_square(%a: tensor<4x3xf32>, %b: tensor<4x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{two minor dimensions of operand 'a' must be compatible, but got}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// triangular_solve (C2)
func.func @triangular_ranks(%a: tensor<4x4xf32>, %b: tensor<1x4x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operands must have equal rank, but got}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<4x4xf32>, tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  return
}

// -----

// triangular_solve (C3)
func.func @triangular_shared(%a: tensor<4x4xf32>, %b: tensor<3x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{shared dimension of operands 'a' and 'b' must be compatible, but got}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// triangular_solve (C3)
func.func @triangular_batch(%a: tensor<2x4x4xf32>, %b: tensor<3x4x4xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{batch dimensions of the operands must be compatible, but got}}
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x4x4xf32>, tensor<3x4x4xf32>) -> tensor<3x4x4xf32>
  return
}

// -----

// dot
func.func @dot_ranks(%a: tensor<2x2x2xf32>) {
  // expected-error@+1 {{expected both lhs/rhs ranks to be either 1 or 2}}
  %0 = stablehlo.dot %a, %a : (tensor<2x2x2xf32>, tensor<2x2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// (C28) lhs quantized as the result, and rhs with them
func.func @convolution_c28_result(%x: tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, %k: tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) {
  // expected-error@+1 {{rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) should hold}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) -> tensor<1x3x3x2xf32>
  return
}

// -----

// (C28) rhs is quantized if lhs is
func.func @convolution_c28_rhs(%x: tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, %k: tensor<2x2x3x2xf32>) {
  // expected-error@+1 {{rhs should be quantized for quantized operations and is_quantized(lhs)=is_quantized(result) should hold}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, tensor<2x2x3x2xf32>) -> tensor<1x3x3x2x!quant.uniform<i8:f32, 2.0>>
  return
}

// -----

// (C29) rhs is quantized along its output features
func.func @convolution_c29(%x: tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, %k: tensor<3x2x3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>) {
  // expected-error@+1 {{quantization dimension of rhs should be same with kernel_output_feature_dimension}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, tensor<3x2x3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>) -> tensor<1x2x3x2x!quant.uniform<i8:f32, 2.0>>
  return
}

// -----

// (C30) the result is quantized along its features
func.func @convolution_c30(%x: tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, %k: tensor<2x2x3x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>) {
  // expected-error@+1 {{quantization dimension of result should be same with output_feature_dimension}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, tensor<2x2x3x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>) -> tensor<1x3x3x2x!quant.uniform<i8:f32:0, {1.0}>>
  return
}

// -----

// (C31) lhs and rhs have one storage type
func.func @convolution_c31(%x: tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, %k: tensor<2x2x3x2x!quant.uniform<i16:f32, 2.0>>) {
  // expected-error@+1 {{mismatched lhs and rhs quantization storage types}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, tensor<2x2x3x2x!quant.uniform<i16:f32, 2.0>>) -> tensor<1x3x3x2x!quant.uniform<i8:f32, 2.0>>
  return
}

// -----

// (C32) lhs and rhs have one expressed type
func.func @convolution_c32_rhs(%x: tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, %k: tensor<2x2x3x2x!quant.uniform<i8:f64, 2.0>>) {
  // expected-error@+1 {{mismatched lhs, rhs and result quantization expressed types}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, tensor<2x2x3x2x!quant.uniform<i8:f64, 2.0>>) -> tensor<1x3x3x2x!quant.uniform<i8:f32, 2.0>>
  return
}

// -----

// (C32) lhs and the result have one expressed type
func.func @convolution_c32_result(%x: tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, %k: tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) {
  // expected-error@+1 {{mismatched lhs, rhs and result quantization expressed types}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) -> tensor<1x3x3x2x!quant.uniform<i8:f64, 2.0>>
  return
}

// -----

// (C33) rhs per tensor gives a result per tensor
func.func @convolution_c33(%x: tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, %k: tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) {
  // expected-error@+1 {{mismatched rhs and result quantization granularity}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3x!quant.uniform<i8:f32, 2.0>>, tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) -> tensor<1x3x3x2x!quant.uniform<i8:f32:3, {1.0, 2.0}>>
  return
}

// -----

// (C34) floats have the type that rhs stands for
func.func @convolution_c34_lhs(%x: tensor<1x4x4x3xf64>, %k: tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) {
  // expected-error@+1 {{mismatched rhs quantization expressed type and lhs and result element type}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3xf64>, tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) -> tensor<1x3x3x2xf64>
  return
}

// -----

// (C34) floats have the type that rhs stands for
func.func @convolution_c34_result(%x: tensor<1x4x4x3xf32>, %k: tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) {
  // expected-error@+1 {{mismatched rhs quantization expressed type and lhs and result element type}}
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x3xf32>, tensor<2x2x3x2x!quant.uniform<i8:f32, 2.0>>) -> tensor<1x3x3x2xf64>
  return
}
