// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an operation, attribute or type of the portable format must have.
// RUN: xla-opt %s -split-input-file -verify-diagnostics

func.func @operands(%x: !vhlo.tensor_v1<!vhlo.f32_v1>) {
  // expected-error @+1 {{expects operands (lhs rhs), but got 1}}
  %0 = "vhlo.add_v1"(%x) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
  return
}
// -----
func.func @variadic_operands(%x: !vhlo.tensor_v1<!vhlo.f32_v1>) {
  // expected-error @+1 {{expects operands (inputs* scatter_indices updates*), but got 2}}
  "vhlo.scatter_v1"(%x, %x) ({}) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
  return
}
// -----
func.func @results() {
  // expected-error @+1 {{expects results (result), but got 0}}
  "vhlo.partition_id_v1"() : () -> ()
  return
}
// -----
func.func @regions(%x: !vhlo.tensor_v1<!vhlo.bool_v1>) {
  // expected-error @+1 {{expects regions (true_branch false_branch), but got 1}}
  "vhlo.if_v1"(%x) ({}) : (!vhlo.tensor_v1<!vhlo.bool_v1>) -> ()
  return
}
// -----
func.func @missing_attribute(%x: !vhlo.tensor_v1<!vhlo.f32_v1>) {
  // expected-error @+1 {{expects attribute 'permutation'}}
  %0 = "vhlo.transpose_v1"(%x) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
  return
}
// -----
func.func @foreign_attribute(%x: !vhlo.tensor_v1<!vhlo.f32_v1>) {
  // expected-error @+1 {{expects a vhlo attribute as 'permutation', but got array<i64>}}
  %0 = "vhlo.transpose_v1"(%x) <{permutation = array<i64>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
  return
}
// -----
func.func @foreign_type(%x: tensor<f32>) {
  // expected-error @+1 {{expects vhlo types, but got 'tensor<f32>'}}
  %0 = "vhlo.abs_v1"(%x) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// expected-error @+1 {{expects a vhlo type, but got 'f32'}}
func.func private @element(!vhlo.tensor_v1<2xf32>)
// -----
// expected-error @+1 {{unknown vhlo type: f33_v1}}
func.func private @unknown_type(!vhlo.f33_v1)
// -----
// expected-error @+1 {{'EQQ' is no value of comparison_direction_v1}}
func.func private @enum() attributes {x.y = #vhlo<comparison_direction_v1 EQQ>}
// -----
// expected-error @+1 {{unknown vhlo attribute: nothing_v1}}
func.func private @unknown_attribute() attributes {x.y = #vhlo.nothing_v1<3>}
// -----
// expected-error @+1 {{expects a value of the integer type, but the type is '!vhlo.bool_v1'}}
func.func private @boolean_integer() attributes {x.y = #vhlo.integer_v1<true>}
// -----
// expected-error @+1 {{expects a finite double as scale}}
func.func private @scale(!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0x7FF8000000000000:3, -128:127, 1>)
