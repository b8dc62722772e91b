// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -verify-diagnostics -split-input-file

// add (C1)
func.func @add_shapes(%a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{requires}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

// add (C1): element types
func.func @add_elements(%a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error@+1 {{requires compatible types for all operands and results}}
  %0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  return
}

// -----

// abs (C2): the result of a complex operand is real
func.func @abs_complex(%a: tensor<2xcomplex<f32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<2xf32>' are incompatible with return type(s) of operation 'tensor<2xf64>'}}
  %0 = "stablehlo.abs"(%a) : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  return
}

// -----

func.func @cosine_of_integers(%a: tensor<2xi32>) {
  // expected-error@+1 {{operand #0 must be ranked tensor of}}
  %0 = "stablehlo.cosine"(%a) : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

// bitcast_convert (C2)
func.func @bitcast_complex(%a: tensor<2xcomplex<f32>>) {
  // expected-error@+1 {{cannot convert between real and complex types, but got: 'tensor<2xcomplex<f32>>' and 'tensor<2xi64>'}}
  %0 = stablehlo.bitcast_convert %a : (tensor<2xcomplex<f32>>) -> tensor<2xi64>
  return
}

// -----

// bitcast_convert (C1): the ratio of the widths
func.func @bitcast_ratio(%a: tensor<2xf64>) {
  // expected-error@+1 {{requires compatible bit}}
  %0 = stablehlo.bitcast_convert %a : (tensor<2xf64>) -> tensor<2x3xf16>
  return
}

// -----

// bitcast_convert (C1): the leading dimensions
func.func @bitcast_prefix(%a: tensor<2xf64>) {
  // expected-error@+1 {{operand and result shapes must match except for the innermost dimension}}
  %0 = stablehlo.bitcast_convert %a : (tensor<2xf64>) -> tensor<3x4xf16>
  return
}

// -----

// reduce_precision (C2)
func.func @no_exponent(%a: tensor<2xf32>) {
  // expected-error@+1 {{exponent_bits must be at least 1.}}
  %0 = stablehlo.reduce_precision %a, format = e0m10 : tensor<2xf32>
  return
}

// -----

// reduce_precision (C3)
func.func @negative_mantissa(%a: tensor<2xf32>) {
  // expected-error@+1 {{mantissa_bits must be at least 0.}}
  %0 = "stablehlo.reduce_precision"(%a) {exponent_bits = 5 : i32, mantissa_bits = -1 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @bad_format(%a: tensor<2xf32>) {
  // expected-error@+1 {{expected exponent mantissa in format e#m#, saw e5}}
  %0 = stablehlo.reduce_precision %a, format = e5 : tensor<2xf32>
  return
}

// -----

// compare (C1)
func.func @compare_elements(%a: tensor<2xf32>, %b: tensor<2xi32>) {
  // expected-error@+1 {{requires compatible element types for all operands}}
  %0 = "stablehlo.compare"(%a, %b) {comparison_direction = #stablehlo<comparison_direction LT>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xi1>
  return
}

// -----

// select (C1)
func.func @select_pred(%p: tensor<3xi1>, %a: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{requires the same shape for all operands}}
  %0 = stablehlo.select %p, %a, %a : tensor<3xi1>, tensor<2xf32>
  return
}

// -----

// select (C2)
func.func @select_branches(%p: tensor<2xi1>, %a: tensor<2xf32>, %b: tensor<3xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{requires compatible types for non-predicate operands}}
  %0 = "stablehlo.select"(%p, %a, %b) : (tensor<2xi1>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

// clamp (C1)
func.func @clamp_min(%m: tensor<3xf32>, %a: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{min shape [3] is not scalar and is not compatible to operand shape [2]}}
  %0 = "stablehlo.clamp"(%m, %a, %s) : (tensor<3xf32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

// clamp (C2)
func.func @clamp_max(%m: tensor<3xf32>, %a: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{max shape [3] is not scalar and is not compatible to operand shape [2]}}
  %0 = "stablehlo.clamp"(%s, %a, %m) : (tensor<f32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

// clamp (C3)
func.func @clamp_elements(%a: tensor<2xf32>, %s: tensor<f64>) {
  // expected-error@+1 {{requires compatible element types for all operands and results}}
  %0 = "stablehlo.clamp"(%s, %a, %s) : (tensor<f64>, tensor<2xf32>, tensor<f64>) -> tensor<2xf32>
  return
}

// -----

// uniform_quantize (C2)
func.func @quantize_expressed(%a: tensor<2xf64>) {
  // expected-error@+1 {{Expressed type of result expected to be 'f64', but got 'f32'}}
  %0 = stablehlo.uniform_quantize %a : (tensor<2xf64>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// A result accuracy other than TOLERANCE has no tolerances.
func.func @accuracy(%a: tensor<2xf32>) {
  // expected-error@+1 {{Invalid tolerances for ResultAccuracyAttr with mode HIGHEST, must be all zero.}}
  %0 = "stablehlo.exponential"(%a) {result_accuracy = #stablehlo.result_accuracy<ulps = 1, mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
