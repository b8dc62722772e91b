// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text and bytecode of the portable format give back what they were made from.
// RUN: xla-opt %s > %t.0 && FileCheck %s < %t.0
// RUN: xla-opt %t.0 | diff %t.0 -
// RUN: xla-opt %s -emit-bytecode | xla-opt | diff %t.0 -

// CHECK-LABEL: vhlo.func_v1 @types(
// CHECK-SAME: %arg0: !vhlo.tensor_v1<2x?x!vhlo.f32_v1, #vhlo.type_extensions_v1<bounds = [?, 4]>>
// CHECK-SAME: %arg1: !vhlo.buffer_v1<2x!vhlo.complex_v1<!vhlo.f64_v1>>
// CHECK-SAME: %arg2: !vhlo.tuple_v1<!vhlo.token_v1, !vhlo.tuple_v1<>>
// CHECK-SAME: %arg3: !vhlo.tensor_v1<2x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.000000e-01:3, -128:127, 1>>
// CHECK-SAME: !vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [5.000000e-01, 2.500000e-01], [3, 4], -128:127, 1>
// CHECK-SAME: %arg5: !vhlo.future_v1<!vhlo.tensor_v1<!vhlo.bool_v1>>
// CHECK-SAME: %arg6: !vhlo.unranked_tensor_v1<!vhlo.ui4_v1>
// CHECK-SAME: -> (!vhlo.witness_v1, !vhlo.tensor_v1<!vhlo.tf31_v1>)
vhlo.func_v1 @types(%a: !vhlo.tensor_v1<2x?x!vhlo.f32_v1, #vhlo.type_extensions_v1<bounds = [?, 4]>>,
    %b: !vhlo.buffer_v1<2x!vhlo.complex_v1<!vhlo.f64_v1>>, %c: !vhlo.tuple_v1<!vhlo.token_v1, !vhlo.tuple_v1<>>,
    %d: !vhlo.tensor_v1<2x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0.5:3, -128:127, 1>>,
    %e: !vhlo.tensor_v1<2x!vhlo.quant_per_axis_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0, [0.5, 0.25], [3, 4], -128:127, 1>>,
    %f: !vhlo.future_v1<!vhlo.tensor_v1<!vhlo.bool_v1>>, %g: !vhlo.unranked_tensor_v1<!vhlo.ui4_v1>,
    %h: !vhlo.witness_v1, %i: !vhlo.tensor_v1<!vhlo.tf31_v1>) -> (!vhlo.witness_v1, !vhlo.tensor_v1<!vhlo.tf31_v1>) {
  "vhlo.return_v1"(%h, %i) : (!vhlo.witness_v1, !vhlo.tensor_v1<!vhlo.tf31_v1>) -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}

// CHECK-LABEL: vhlo.func_v1 @attributes
// CHECK-SAME: -> () {
// CHECK: a0 = #vhlo.dict_v1<{#vhlo.string_v1<"k\22\0A"> = #vhlo.bool_v1<true>}>
// CHECK-SAME: a1 = #vhlo.float_v1<1.500000e+00 : !vhlo.f8E4M3FN_v1>
// CHECK-SAME: a2 = #vhlo.float_v1<0x7FC00000 : !vhlo.f32_v1>
// CHECK-SAME: a3 = #vhlo.integer_v1<5 : ui8>
// CHECK-SAME: a4 = #vhlo.integer_v1<-3 : index>
// CHECK-SAME: a5 = #vhlo.tensor_v1<dense<[true, false]> : tensor<2xi1>>
// CHECK-SAME: a6 = #vhlo.tensor_v1<dense<true> : tensor<i1>>
// CHECK-SAME: a7 = #vhlo.tensor_v1<dense<> : tensor<0xi64>>
// CHECK-SAME: a8 = #vhlo.type_v1<!vhlo.func_v1<(()) -> !vhlo.f32_v1, !vhlo.none_v1>>
// CHECK-SAME: a9 = #vhlo<transpose_v1 ADJOINT>
// CHECK-SAME: b0 = #vhlo.output_operand_alias_v1<outputTupleIndices = [], operandIndex = 0, operandTupleIndices = [1]>
// CHECK-SAME: b1 = #vhlo.result_accuracy_v1<atol = 1.000000e+00, rtol = 0.000000e+00, ulps = 2, mode = #vhlo<result_accuracy_mode_v1 TOLERANCE>>
// CHECK-SAME: b2 = #vhlo.replica_group_mesh_axes_v1<mesh = #vhlo.mesh_v1<axes = #vhlo.array_v1<[#vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">, size = 4>]>, device_ids = #vhlo.tensor_v1<dense<[3, 2, 1, 0]> : tensor<4xi64>>>, axes = #vhlo.array_v1<[#vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">, sub_axis_info = #vhlo.sub_axis_info_v1<pre_size = 1, size = 2>>]>>
vhlo.func_v1 @attributes() -> () {
  "vhlo.return_v1"() : () -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">,
   a0 = #vhlo.dict_v1<{#vhlo.string_v1<"k\22\0A"> = #vhlo.bool_v1<true>}>, a1 = #vhlo.float_v1<1.5 : !vhlo.f8E4M3FN_v1>,
   a2 = #vhlo.float_v1<0x7FC00000 : !vhlo.f32_v1>, a3 = #vhlo.integer_v1<5 : ui8>, a4 = #vhlo.integer_v1<-3 : index>,
   a5 = #vhlo.tensor_v1<dense<[true, false]> : tensor<2xi1>>, a6 = #vhlo.tensor_v1<dense<true> : tensor<i1>>,
   a7 = #vhlo.tensor_v1<dense<> : tensor<0xi64>>,
   a8 = #vhlo.type_v1<!vhlo.func_v1<(()) -> !vhlo.f32_v1, !vhlo.none_v1>>, a9 = #vhlo<transpose_v1 ADJOINT>,
   b0 = #vhlo.output_operand_alias_v1<outputTupleIndices = [], operandIndex = 0, operandTupleIndices = [1]>,
   b1 = #vhlo.result_accuracy_v1<atol = 1.0, rtol = 0.0, ulps = 2, mode = #vhlo<result_accuracy_mode_v1 TOLERANCE>>,
   b2 = #vhlo.replica_group_mesh_axes_v1<mesh = #vhlo.mesh_v1<axes = #vhlo.array_v1<[#vhlo.mesh_axis_v1<name = #vhlo.string_v1<"x">, size = 4>]>, device_ids = #vhlo.tensor_v1<dense<[3, 2, 1, 0]> : tensor<4xi64>>>, axes = #vhlo.array_v1<[#vhlo.axis_ref_v1<name = #vhlo.string_v1<"x">, sub_axis_info = #vhlo.sub_axis_info_v1<pre_size = 1, size = 2>>]>>}
