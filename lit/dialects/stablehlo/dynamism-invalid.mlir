// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each constraint of dynamic operations has a program that breaks it.
// RUN: xla-opt %s -split-input-file -verify-diagnostics

// (C1) element types agree
func.func @dynamic_broadcast_in_dim_c1(%x: tensor<1x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{expects operand and result to have compatible element type. Got: 'tensor<1x3xf32>' and 'tensor<2x3xi32>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xi32>
  return
}

// -----

// (C2) one entry per operand dimension
func.func @dynamic_broadcast_in_dim_c2(%x: tensor<1x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{broadcast_dimensions size (1) does not match operand rank (2)}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0] : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// (C3) entries are in range
func.func @dynamic_broadcast_in_dim_c3(%x: tensor<1x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{broadcast_dimensions contains invalid value 2 for result with rank 2}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 2] : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// the rank does not shrink
func.func @dynamic_broadcast_in_dim_rank(%x: tensor<1x3xf32>, %s: tensor<1xi64>) {
  // expected-error@+1 {{result rank (1) is less than operand rank (2)}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  return
}

// -----

// (C4) entries are unique
func.func @dynamic_broadcast_in_dim_c4(%x: tensor<1x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{broadcast_dimensions should not have duplicates}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 0] : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// (C5) sizes agree
func.func @dynamic_broadcast_in_dim_c5(%x: tensor<1x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{size of operand dimension 1 (3) is not compatible with size of result dimension 1 (4)}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x4xf32>
  return
}

// -----

// (C7) one size per result dimension
func.func @dynamic_broadcast_in_dim_c7(%x: tensor<1x3xf32>, %s: tensor<3xi64>) {
  // expected-error@+1 {{result should have a rank equal to the number of elements in output_dimensions}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  return
}

// -----

// (C8) hints are unique
func.func @dynamic_broadcast_in_dim_c8(%x: tensor<1x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{duplicate expansion hint for at least one operand dimension}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>} : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// (C9) hints are in range
func.func @dynamic_broadcast_in_dim_c9(%x: tensor<1x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{hint for expanding dimension 2 does not refer to a valid operand dimension}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] {known_expanding_dimensions = array<i64: 2>} : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// (C10) hints are in range
func.func @dynamic_broadcast_in_dim_c10(%x: tensor<1x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{hint for expanding dimension -1 does not refer to a valid operand dimension}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] {known_nonexpanding_dimensions = array<i64: -1>} : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// (C6) the quantized dimension moves along
func.func @dynamic_broadcast_in_dim_c6(%x: tensor<1x3x!quant.uniform<i8:f32:0, {1.0}>>, %s: tensor<2xi64>) {
  // expected-error@+1 {{result quantization_dimension 1 not same as broadcast_dimensions[0] = 0}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3x!quant.uniform<i8:f32:0, {1.0}>>, tensor<2xi64>) -> tensor<2x3x!quant.uniform<i8:f32:1, {1.0, 1.0, 1.0}>>
  return
}

// -----

// (C6) a repeated scale stays the same
func.func @dynamic_broadcast_in_dim_c6_scale(%x: tensor<1x3x!quant.uniform<i8:f32:0, {1.0}>>, %s: tensor<2xi64>) {
  // expected-error@+1 {{mismatch result scale 1 (2.000000e+00) and operand scale 0 (1.000000e+00)}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3x!quant.uniform<i8:f32:0, {1.0}>>, tensor<2xi64>) -> tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>
  return
}

// -----

// (C7) a constant shape agrees with the result
func.func @dynamic_broadcast_in_dim_c7_constant(%x: tensor<1x3xf32>) {
  %s = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@+1 {{output shape [2, 4] is incompatible with return type of operation 'tensor<2x3xf32>'}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  return
}

// -----

// (C5) a constant shape agrees with the operand
func.func @dynamic_broadcast_in_dim_c5_constant(%x: tensor<1x3xf32>) {
  %s = stablehlo.constant dense<[2, 4]> : tensor<2xi64>
  // expected-error@+1 {{size of operand dimension 1 (3) is not equal to 1 or value of shape at index 1 (4)}}
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [0, 1] : (tensor<1x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

// (C1) the dimension exists
func.func @dynamic_iota_c1(%s: tensor<2xi64>) {
  // expected-error@+1 {{iota dimension cannot go beyond the output rank.}}
  %0 = stablehlo.dynamic_iota %s, dim = 2 : (tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

// (C2) one size per result dimension
func.func @dynamic_iota_c2(%s: tensor<3xi64>) {
  // expected-error@+1 {{result should have a rank equal to the number of elements in output_shape}}
  %0 = stablehlo.dynamic_iota %s, dim = 1 : (tensor<3xi64>) -> tensor<?x?xf32>
  return
}

// -----

// (C1) element types agree
func.func @dynamic_pad_c1(%x: tensor<4xf32>, %z: tensor<i32>, %l: tensor<1xi64>) {
  // expected-error@+1 {{failed to verify that all of {operand, padding_value, result} have same element type}}
  %0 = stablehlo.dynamic_pad %x, %z, %l, %l, %l : (tensor<4xf32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

// (C2) one amount per dimension
func.func @dynamic_pad_c2(%x: tensor<4xf32>, %z: tensor<f32>, %l: tensor<2xi64>) {
  // expected-error@+1 {{padding operands size (2) must match operand rank (1)}}
  %0 = stablehlo.dynamic_pad %x, %z, %l, %l, %l : (tensor<4xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?xf32>
  return
}

// -----

// (C3) interior padding is not negative
func.func @dynamic_pad_c3(%x: tensor<4xf32>, %z: tensor<f32>) {
  %l = stablehlo.constant dense<0> : tensor<1xi64>
  %h = stablehlo.constant dense<0> : tensor<1xi64>
  %i = stablehlo.constant dense<-1> : tensor<1xi64>
  // expected-error@+1 {{interior_padding must be non-negative, but got -1}}
  %0 = stablehlo.dynamic_pad %x, %z, %l, %h, %i : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return
}

// -----

// (C4) the result has the padded size
func.func @dynamic_pad_c4(%x: tensor<4xf32>, %z: tensor<f32>) {
  %l = stablehlo.constant dense<1> : tensor<1xi64>
  %h = stablehlo.constant dense<2> : tensor<1xi64>
  %i = stablehlo.constant dense<1> : tensor<1xi64>
  // expected-error@+1 {{expected output dimension at index 0 to equal 10, but got 9}}
  %0 = stablehlo.dynamic_pad %x, %z, %l, %h, %i : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<9xf32>
  return
}

// -----

// (C1) element types agree
func.func @dynamic_reshape_c1(%x: tensor<2x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{expects operand and result to have compatible element type.}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xi32>
  return
}

// -----

// (C2) the number of elements stays
func.func @dynamic_reshape_c2(%x: tensor<2x3xf32>, %s: tensor<2xi64>) {
  // expected-error@+1 {{number of output elements (8) doesn't match expected number of elements (6)}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return
}

// -----

// (C2) a constant shape keeps the number of elements
func.func @dynamic_reshape_c2_constant(%x: tensor<2x3xf32>) {
  %s = stablehlo.constant dense<[4, 2]> : tensor<2xi64>
  // expected-error@+1 {{output_shape is incompatible with input type of operation: input has 6 elements, but output_shape has 8}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return
}

// -----

// (C3) scales stay
func.func @dynamic_reshape_c3_scales(%x: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %s: tensor<2xi64>) {
  // expected-error@+1 {{expect same quantization scales and zero_points but got}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2xi64>) -> tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 3.0}>>
  return
}

// -----

// (C3) the quantized dimension keeps its place
func.func @dynamic_reshape_c3(%x: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, %s: tensor<2xi64>) {
  // expected-error@+1 {{product of dimensions before quantization dimension must match between operand and result for 1 and 3}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>, tensor<2xi64>) -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0, 2.0}>>
  return
}

// -----

// (C4) one size per result dimension
func.func @dynamic_reshape_c4(%x: tensor<2x3xf32>, %s: tensor<3xi64>) {
  // expected-error@+1 {{result should have a rank equal to the number of elements in output_shape}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  return
}

// -----

// (C4) a constant shape agrees with the result
func.func @dynamic_reshape_c4_constant(%x: tensor<2x3xf32>) {
  %s = stablehlo.constant dense<[6, 1]> : tensor<2xi64>
  // expected-error@+1 {{output shape [6, 1] is incompatible with return type of operation 'tensor<3x2xf32>'}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  return
}

// -----

// (C1) the dimension exists
func.func @get_dimension_size_c1(%x: tensor<2x3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{requires dimension attribute in range [0, 2); found (2)}}
  %0 = stablehlo.get_dimension_size %x, dim = 2 : (tensor<2x3xf32>) -> tensor<i32>
  return
}

// -----

// the dimension exists
func.func @set_dimension_size_dim(%x: tensor<2x3xf32>, %n: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{requires dimension attribute in range [0, 2); found (2)}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 2 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

// the size becomes the bound
func.func @set_dimension_size_bound(%x: tensor<2x3xf32>, %n: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{are incompatible with return type(s) of operation}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x4xf32>
  return
}

// -----

// one bound per dimension
func.func @real_dynamic_slice_size(%x: tensor<2x3xf32>, %s: tensor<3xi64>) {
  // expected-error@+1 {{has mismatched number of operand rank (2) and start_indices size (3)}}
  %0 = stablehlo.real_dynamic_slice %x, %s, %s, %s : (tensor<2x3xf32>, tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> tensor<?x?xf32>
  return
}
