// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each constraint on per-axis quantization has a program that breaks it.
// RUN: xla-opt %s -split-input-file -verify-diagnostics

// MLIR's type does not know the rank of the tensor around it; a tensor of StableHLO does.
func.func @broadcast_in_dim_axis(%x: tensor<2x3x!quant.uniform<i8:f32:7, {0.5:1, 2.0}>>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3x!quant.uniform<i8:f32:7, {0.5:1, 2.0}>>) -> tensor<2x3x!quant.uniform<i8:f32:7, {0.5:1, 2.0}>>
  return
}

// -----
func.func @reshape_axis(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:1, 2.0}>>) {
  // expected-error@+1 {{result #0 must be statically shaped or single bounded dimension tensor of}}
  %0 = stablehlo.reshape %x : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5:1, 2.0}>>) -> tensor<2x3x!quant.uniform<i8:f32:7, {0.5:1, 2.0}>>
  return
}

// -----
func.func @dynamic_reshape_axis(%x: tensor<2x3x!quant.uniform<i8:f32:7, {0.5:1, 2.0}>>, %s: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = stablehlo.dynamic_reshape %x, %s : (tensor<2x3x!quant.uniform<i8:f32:7, {0.5:1, 2.0}>>, tensor<2xi32>) -> tensor<2x3x!quant.uniform<i8:f32:7, {0.5:1, 2.0}>>
  return
}

// -----
// (C3) of reshape: the axis keeps its size
func.func @reshape_c3_size(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>) {
  // expected-error@+1 {{expect quantization dimension size of operand and result to be same but got 2 and 3}}
  %0 = stablehlo.reshape %x : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 2.0, 4.0}>>
  return
}

// -----
// (C3) of reshape: and as many elements before it
func.func @reshape_c3_before(%x: tensor<2x2x3x!quant.uniform<i8:f32:1, {0.5, 2.0}>>) {
  // expected-error@+1 {{product of dimensions before quantization dimension must match between operand and result but got 2 and 1}}
  %0 = stablehlo.reshape %x : (tensor<2x2x3x!quant.uniform<i8:f32:1, {0.5, 2.0}>>) -> tensor<2x6x!quant.uniform<i8:f32:0, {0.5, 2.0}>>
  return
}

// -----
// (C6) of broadcast_in_dim: the axis goes where its dimension goes
func.func @broadcast_in_dim_c6(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>) {
  // expected-error@+1 {{result quantization_dimension 0 not same as broadcast_dimensions[operand quantization_dimension] (1)}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>) -> tensor<2x2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>
  return
}

// -----
// (C6) of broadcast_in_dim: a dimension of size 1 repeats its scale
func.func @broadcast_in_dim_c6_scales(%x: tensor<1x3x!quant.uniform<i8:f32:0, {0.5}>>) {
  // expected-error@+1 {{mismatch result scale or zero_point with the only one of the operand}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x3x!quant.uniform<i8:f32:0, {0.5}>>) -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>
  return
}

// -----
// (C5) of add: per axis gives per axis
func.func @add_c5(%x: tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>) {
  // expected-error@+1 {{requires compatible types for all operands and results}}
  %0 = "stablehlo.add"(%x, %x) : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>, tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 2.0}>>) -> tensor<2x3x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----
// (C6) of add: lhs along the axis of the result
func.func @add_c6(%x: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 2.0}>>, %y: tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 2.0}>>) {
  // expected-error@+1 {{quantization_dimension of lhs and result are not same}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 2.0}>>
  return
}

// -----
// (C7) of add: rhs along the axis of the result
func.func @add_c7(%x: tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 2.0}>>, %y: tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 2.0}>>) {
  // expected-error@+1 {{quantization_dimension of rhs and result are not same}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 2.0}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 2.0}>>) -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 2.0}>>
  return
}
