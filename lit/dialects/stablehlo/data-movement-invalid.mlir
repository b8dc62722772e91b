// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -verify-diagnostics -split-input-file

// iota (C1)
func.func @iota_dimension() {
  // expected-error@+1 {{iota dimension cannot go beyond the output rank.}}
  %0 = stablehlo.iota dim = 2 : tensor<4x5xi32>
  return
}

// -----

func.func @iota_scalar() {
  // expected-error@+1 {{does not support scalars.}}
  %0 = stablehlo.iota dim = 0 : tensor<i32>
  return
}

// -----

// broadcast_in_dim (C2)
func.func @broadcast_count(%a: tensor<2xi32>) {
  // expected-error@+1 {{broadcast_dimensions size (2) does not match operand rank (1)}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<2xi32>) -> tensor<2x3xi32>
  return
}

// -----

// broadcast_in_dim (C3)
func.func @broadcast_range(%a: tensor<2xi32>) {
  // expected-error@+1 {{broadcast_dimensions contains invalid value 2 for result with rank 2}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [2] : (tensor<2xi32>) -> tensor<2x3xi32>
  return
}

// -----

// broadcast_in_dim (C4)
func.func @broadcast_unique(%a: tensor<1x1xi32>) {
  // expected-error@+1 {{broadcast_dimensions should not have duplicates}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 0] : (tensor<1x1xi32>) -> tensor<2x3xi32>
  return
}

// -----

// broadcast_in_dim (C5)
func.func @broadcast_size(%a: tensor<2xi32>) {
  // expected-error@+1 {{size of operand dimension 0 (2) is not equal to 1 or size of result dimension 1 (3)}}
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xi32>) -> tensor<2x3xi32>
  return
}

// -----

// reshape (C2)
func.func @reshape_count(%a: tensor<2x3xi32>) {
  // expected-error@+1 {{number of output elements (7) doesn't match expected number of elements (6)}}
  %0 = stablehlo.reshape %a : (tensor<2x3xi32>) -> tensor<7xi32>
  return
}

// -----

// transpose (C2)
func.func @transpose_permutation(%a: tensor<2x3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{attribute permutation must be a permutation of [0, 1] but got 0, 0}}
  %0 = stablehlo.transpose %a, dims = [0, 0] : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @transpose_rank(%a: tensor<2x3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{TransposeOp operand rank 2 does not match permutation size 1}}
  %0 = stablehlo.transpose %a, dims = [0] : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

// transpose (C3)
func.func @transpose_shape(%a: tensor<2x3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<3x2xi32>' are incompatible with return type(s) of operation 'tensor<2x3xi32>'}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

// slice (C2)
func.func @slice_count(%a: tensor<2x3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{the number of elements in start_indices (1) does not match the rank of the operand (2)}}
  %0 = stablehlo.slice %a [0:1] : (tensor<2x3xi32>) -> tensor<1xi32>
  return
}

// -----

// slice (C3)
func.func @slice_negative(%a: tensor<3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{negative start index -1 in dimension 0}}
  %0 = stablehlo.slice %a [-1:1] : (tensor<3xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @slice_limit(%a: tensor<3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{limit index 4 is larger than dimension size 3 in dimension 0}}
  %0 = stablehlo.slice %a [0:4] : (tensor<3xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @slice_order(%a: tensor<3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{start index 2 is larger than limit index 1 in dimension 0}}
  %0 = stablehlo.slice %a [2:1] : (tensor<3xi32>) -> tensor<0xi32>
  return
}

// -----

// slice (C4)
func.func @slice_stride(%a: tensor<3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{stride must be positive but got 0 in dimension 0}}
  %0 = stablehlo.slice %a [0:1:0] : (tensor<3xi32>) -> tensor<1xi32>
  return
}

// -----

// pad (C2)
func.func @pad_length(%a: tensor<3xi32>, %z: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{edge_padding_low length (2) must match operand rank (1)}}
  %0 = stablehlo.pad %a, %z, low = [0, 0], high = [0], interior = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  return
}

// -----

// pad (C3)
func.func @pad_interior(%a: tensor<3xi32>, %z: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Interior padding cannot be negative: -1}}
  %0 = stablehlo.pad %a, %z, low = [0], high = [0], interior = [-1] : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>
  return
}

// -----

// pad (C4)
func.func @pad_negative(%a: tensor<3xi32>, %z: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{Padding result in negative size for dimension 0}}
  %0 = stablehlo.pad %a, %z, low = [-4], high = [0], interior = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<0xi32>
  return
}

// -----

func.func @pad_value(%a: tensor<3xi32>, %z: tensor<1xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{padding value type should be a rank-0 tensor, is rank 1}}
  %0 = stablehlo.pad %a, %z, low = [0], high = [0], interior = [0] : (tensor<3xi32>, tensor<1xi32>) -> tensor<3xi32>
  return
}

// -----

// concatenate (C2)
func.func @concatenate_rank(%a: tensor<2x3xi32>, %b: tensor<3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operands (0) and (1) do not match rank}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<3x3xi32>
  return
}

// -----

func.func @concatenate_size(%a: tensor<2x3xi32>, %b: tensor<2x4xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{shapes of operand (0) and (1) are not compatible at non-concat index 1: (2, 3) != (2, 4)}}
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<2x3xi32>, tensor<2x4xi32>) -> tensor<4x3xi32>
  return
}

// -----

// concatenate (C4)
func.func @concatenate_dimension(%a: tensor<2x3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{dimension 2 is out-of-bounds for input rank 2}}
  %0 = stablehlo.concatenate %a, %a, dim = 2 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<4x3xi32>
  return
}

// -----

// concatenate (C6)
func.func @concatenate_sum(%a: tensor<2x3xi32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<4x3xi32>' are incompatible with return type(s) of operation 'tensor<5x3xi32>'}}
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<5x3xi32>
  return
}

// -----

// reverse (C2)
func.func @reverse_unique(%a: tensor<2x3xi32>) {
  // expected-error@+1 {{dimensions should be unique. Got: 0, 0}}
  %0 = stablehlo.reverse %a, dims = [0, 0] : tensor<2x3xi32>
  return
}

// -----

// reverse (C3)
func.func @reverse_range(%a: tensor<2x3xi32>) {
  // expected-error@+1 {{all dimensions should be between [0, 2). Got dimension: 2.}}
  %0 = stablehlo.reverse %a, dims = [2] : tensor<2x3xi32>
  return
}

// -----

// expected-error@+1 {{Bounds length is 1, expected to be equal to rank(2) of the tensor}}
func.func private @bounds_count(tensor<?x2xf32, #stablehlo.bounds<3>>)

// -----

// expected-error@+1 {{Static dimension 1 cannot have a bound, use ShapedType::kDynamic to indicate a missing bound in tensor}}
func.func private @bounds_static(tensor<?x2xf32, #stablehlo.bounds<3, 3>>)

// -----

// transpose C4: the quantized axis moves with its dimension.
func.func @transpose_c4(%x: tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>> {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{inferred type(s) 'tensor<3x2x!quant.uniform<i8:f32:1, {1.000000e+00,2.000000e+00}>>' are incompatible with return type(s)}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>
  return %0 : tensor<3x2x!quant.uniform<i8:f32:0, {1.0, 2.0, 3.0}>>
}
