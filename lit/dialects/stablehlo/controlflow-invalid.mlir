// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each constraint of while, case, if, optimization_barrier, composite, custom_call and tuples has a program that breaks it.
// RUN: xla-opt %s -split-input-file -verify-diagnostics

// (C1) the predicate is a scalar
func.func @if_c0(%p: tensor<2xi1>, %x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{operand should be rank 0 tensor but got rank 1}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<2xi1>) -> tensor<f32>
  return
}

// -----

// (C1) branches take no arguments
func.func @if_c1_arguments(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{branch 1 must have 0 arguments, but found 1}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

// (C1) branches return the same types
func.func @if_c1_types(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{branch 0 and branch 1 have mismatched return types: 'tensor<f32>' vs 'tensor<i32>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<i32>
  }) : (tensor<i1>) -> tensor<f32>
  return
}

// -----

// (C2) results have the types of the branches
func.func @if_c2(%p: tensor<i1>, %x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<f32>' are incompatible with return type(s) of operation 'tensor<f64>'}}
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f64>
  return
}

// -----

// (C1) at least one branch
func.func @case_c1(%i: tensor<i32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{expect at least one branch}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

// (C2) branches take no arguments
func.func @case_c2(%i: tensor<i32>, %x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{branch 0 must have 0 arguments, but found 1}}
  %0 = "stablehlo.case"(%i) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

// (C3) branches return the same types
func.func @case_c3(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{branch 0 and branch 1 have mismatched return types: 'tensor<f32>' vs 'tensor<2xf32>'}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }, {
    stablehlo.return %y : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

// (C4) results have the types of the branches
func.func @case_c4(%i: tensor<i32>, %x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<f32>' are incompatible with return type(s) of operation 'tensor<i32>'}}
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// (C1) the condition takes the operands
func.func @while_c1_arguments(%x: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expect operands to be compatible with condition block arguments but got 'tensor<i32>' vs 'tensor<f32>'}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// (C1) the condition returns one value
func.func @while_c1_results(%x: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expect condition body returns a single value but got 2}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<i32>):
    stablehlo.return %p, %p : tensor<i1>, tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// (C1) the condition returns a predicate
func.func @while_c1_type(%x: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expect condition block return a zero-ranked tensor of i1 but got 'tensor<i32>'}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<i32>):
    stablehlo.return %a : tensor<i32>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// (C2) the body takes the operands
func.func @while_c2_arguments(%x: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expect operands to be compatible with body block arguments but got 'tensor<i32>' vs 'tensor<f32>'}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<i32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>):
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// (C2) the body returns the operands' types
func.func @while_c2_results(%x: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+1 {{expect operands to be compatible with body block return types but got 'tensor<i32>' vs 'tensor<i1>'}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<i32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %p : tensor<i1>
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

// (C3) results have the types of the operands
func.func @while_c3(%x: tensor<i32>, %p: tensor<i1>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<i32>' are incompatible with return type(s) of operation 'tensor<f32>'}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<i32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>):
    stablehlo.return %x : tensor<i32>
  }) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

// (C1) results have the types of the operands
func.func @optimization_barrier_c1(%x: tensor<i32>) {
  // expected-error@+1 {{requires the same type for operand and result at index 0}}
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<i32>) -> tensor<f32>
  return
}

// -----

// (C1) the index is in range
func.func @get_tuple_element_c1(%t: tuple<tensor<f32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{index 1 is out of bounds of operand with size 1}}
  %0 = "stablehlo.get_tuple_element"(%t) <{index = 1 : i32}> : (tuple<tensor<f32>>) -> tensor<f32>
  return
}

// -----

// (C2) the result has the type of the element
func.func @get_tuple_element_c2(%t: tuple<tensor<f32>>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{inferred type(s) 'tensor<f32>' are incompatible with return type(s) of operation 'tensor<i32>'}}
  %0 = "stablehlo.get_tuple_element"(%t) <{index = 0 : i32}> : (tuple<tensor<f32>>) -> tensor<i32>
  return
}

// -----

// (C1) the tuple has the types of the values
func.func @tuple_c1(%x: tensor<f32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{are incompatible with return type(s) of operation}}
  %0 = "stablehlo.tuple"(%x) : (tensor<f32>) -> tuple<tensor<i32>>
  return
}

// -----

// (C1) the name is namespaced
func.func @composite_c1(%x: tensor<f32>) {
  // expected-error@+1 {{name must be a valid namespaced op name}}
  %0 = stablehlo.composite "foo" %x {decomposition = @dec} : (tensor<f32>) -> tensor<f32>
  return
}
func.func private @dec(tensor<f32>) -> tensor<f32>

// -----

// (C2) the decomposition exists
func.func @composite_c2(%x: tensor<f32>) {
  // expected-error@+1 {{'nope' does not reference a valid function}}
  %0 = stablehlo.composite "foo.bar" %x {decomposition = @nope} : (tensor<f32>) -> tensor<f32>
  return
}
func.func private @dec(tensor<f32>) -> tensor<f32>

// -----

// (C3) as many operands as the decomposition
func.func @composite_c3_count(%x: tensor<f32>) {
  // expected-error@+1 {{has 2 operand(s), but decomposition has 1}}
  %0 = stablehlo.composite "foo.bar" %x, %x {decomposition = @dec} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}
func.func private @dec(tensor<f32>) -> tensor<f32>

// -----

// (C3) operands have the types of the decomposition
func.func @composite_c3_type(%x: tensor<i32>) {
  // expected-error@+1 {{operand at index 0 has type 'tensor<i32>', but decomposition has type 'tensor<f32>'}}
  %0 = stablehlo.composite "foo.bar" %x {decomposition = @dec} : (tensor<i32>) -> tensor<f32>
  return
}
func.func private @dec(tensor<f32>) -> tensor<f32>

// -----

// (C4) as many results as the decomposition
func.func @composite_c4_count(%x: tensor<f32>) {
  // expected-error@+1 {{has 2 result(s), but decomposition has 1}}
  %0:2 = stablehlo.composite "foo.bar" %x {decomposition = @dec} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return
}
func.func private @dec(tensor<f32>) -> tensor<f32>

// -----

// (C4) results have the types of the decomposition
func.func @composite_c4_type(%x: tensor<f32>) {
  // expected-error@+1 {{result at index 0 has type 'tensor<i32>', but decomposition has type 'tensor<f32>'}}
  %0 = stablehlo.composite "foo.bar" %x {decomposition = @dec} : (tensor<f32>) -> tensor<i32>
  return
}
func.func private @dec(tensor<f32>) -> tensor<f32>

// -----

// layouts of operands need those of results
func.func @custom_call_layouts_both(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Layout attributes should be specified for either both operands and results or none.}}
  %0 = stablehlo.custom_call @foo(%x) {operand_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// one layout per operand
func.func @custom_call_layouts_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{Number of operands must match the number of operand layouts, 1 != 0}}
  %0 = stablehlo.custom_call @foo(%x) {operand_layouts = [], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// a layout permutes the dimensions
func.func @custom_call_layouts_permutation(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{layout must be a permutation of [0, 2)}}
  %0 = stablehlo.custom_call @foo(%x) {operand_layouts = [dense<[1, 1]> : tensor<2xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// a layout has one entry per dimension
func.func @custom_call_layouts_rank(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{layout must be a permutation of [0, 2)}}
  %0 = stablehlo.custom_call @foo(%x) {operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// the aliased operand exists
func.func @custom_call_alias_operand(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expects operandIndex in the output_operand_alias attribute to be in range [0, 1); got: 1.}}
  %0 = stablehlo.custom_call @foo(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 1, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// the aliased element exists
func.func @custom_call_alias_element(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{operand_tuple_indices in the output_operand_alias attribute out of bounds}}
  %0 = stablehlo.custom_call @foo(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [0]>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// the aliased output exists
func.func @custom_call_alias_output(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{output_tuple_indices in the output_operand_alias attribute out of bounds}}
  %0 = stablehlo.custom_call @foo(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// aliased parts have one type
func.func @custom_call_alias_types(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{shapes mismatch in the output_operand_alias attribute: operand part has type 'tensor<2x3xf32>' and output part has type 'tensor<3xf32>'}}
  %0 = stablehlo.custom_call @foo(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

// typed FFI takes a dictionary
func.func @custom_call_config_dictionary(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{backend_config for api_version API_VERSION_TYPED_FFI must be a dictionary attribute.}}
  %0 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32, backend_config = "x"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// the older versions take a string
func.func @custom_call_config_string(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{backend_config for api_version API_VERSION_STATUS_RETURNING must be a string attribute.}}
  %0 = stablehlo.custom_call @foo(%x) {api_version = 2 : i32, backend_config = {a = 1 : i32}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
