// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textual form of while, case, if, barriers, composites, custom calls and tuples, pretty and generic.
// RUN: xla-opt %s | FileCheck %s
// RUN: xla-opt %s | xla-opt | FileCheck %s
// RUN: xla-opt %s --mlir-print-op-generic | xla-opt | FileCheck %s
// RUN: xla-opt %s --emit-bytecode | xla-opt | FileCheck %s

// CHECK-LABEL: @while
// CHECK: %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg1) : tensor<i32>, tensor<i1> attributes {mhlo.foo = 1 : i32}
// CHECK-NEXT: {{^     cond \{$}}
// CHECK-NEXT:   stablehlo.return %iterArg_0 : tensor<i1>
// CHECK-NEXT: } do {
// CHECK-NEXT:   stablehlo.return %iterArg, %arg1 : tensor<i32>, tensor<i1>
func.func @while(%x: tensor<i32>, %p: tensor<i1>) -> (tensor<i32>, tensor<i1>) {
  %0:2 = stablehlo.while(%iterArg = %x, %iterArg_1 = %p) : tensor<i32>, tensor<i1> attributes {mhlo.foo = 1 : i32}
  cond { stablehlo.return %iterArg_1 : tensor<i1> } do { stablehlo.return %iterArg, %p : tensor<i32>, tensor<i1> }
  return %0#0, %0#1 : tensor<i32>, tensor<i1>
}

// CHECK-LABEL: @while_without_values
// CHECK: stablehlo.while()
func.func @while_without_values(%p: tensor<i1>) {
  stablehlo.while() cond { stablehlo.return %p : tensor<i1> } do { stablehlo.return }
  return
}

// CHECK-LABEL: @branches
// CHECK: "stablehlo.if"(%arg0) ({
// CHECK: "stablehlo.case"(%arg1) ({
func.func @branches(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<?xf32>, %y: tensor<2xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    stablehlo.return %y : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %y : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<?xf32>
  }) : (tensor<i32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// CHECK-LABEL: @tuples
// CHECK: %0 = stablehlo.tuple %arg0, %arg1 {xx = 1 : i32} : tuple<tensor<f32>, tensor<i32>>
// CHECK: stablehlo.get_tuple_element %0[0] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
func.func @tuples(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
  %0 = stablehlo.tuple %x, %i {xx = 1 : i32} : tuple<tensor<f32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<f32>, tensor<i32>>) -> tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: @barriers
// CHECK: stablehlo.optimization_barrier %arg0, %arg1 : tensor<f32>, tensor<i32>
// CHECK: stablehlo.optimization_barrier()
func.func @barriers(%x: tensor<f32>, %i: tensor<i32>) {
  %0:2 = stablehlo.optimization_barrier %x, %i : tensor<f32>, tensor<i32>
  stablehlo.optimization_barrier ()
  return
}

// CHECK-LABEL: @custom_call
// CHECK: stablehlo.custom_call @foo(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i32}, has_side_effect = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: stablehlo.custom_call @"needs quotes"() : () -> ()
// CHECK: stablehlo.custom_call @b(%arg0) {backend_config = "x", called_computations = [@dec], mhlo.sharding = "{replicated}", operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]}
func.func @custom_call(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32, backend_config = {a = 1 : i32}, has_side_effect = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  stablehlo.custom_call @"needs quotes"() : () -> ()
  %1 = stablehlo.custom_call @b(%x) {backend_config = "x", called_computations = [@dec], mhlo.sharding = "{replicated}", operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @composite
// CHECK: stablehlo.composite "foo.bar" %arg0 {composite_attributes = {a = 1 : i32}, decomposition = @dec, version = 1 : i32} : (tensor<f32>) -> tensor<f32>
func.func @composite(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.composite "foo.bar" %x {decomposition = @dec, composite_attributes = {a = 1 : i32}, version = 1 : i32} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @dec(tensor<f32>) -> tensor<f32>
