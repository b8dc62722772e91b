// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact's program of an old version becomes StableHLO; what stands for a default disappears.
// RUN: xla-opt %s -stablehlo-deserialize | FileCheck %s

// CHECK-LABEL: func.func private @declared(tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>)
"vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<2x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 0.5:3, -128:127, 1>>) -> ()>>, res_attrs = #vhlo.array_v1<[]>, sym_name = #vhlo.string_v1<"declared">, sym_visibility = #vhlo.string_v1<"private">}> ({}) : () -> ()

// CHECK-LABEL: func.func @main(%arg0: tensor<2x3xf32> {mhlo.sharding = "{replicated}"}) -> tensor<2xf32>
// CHECK-SAME: attributes {a.note = 1 : i32}
vhlo.func_v1 @main(%x: !vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<2x!vhlo.f32_v1>) {
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %z = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.0> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
  // CHECK: %[[EXP:.*]] = stablehlo.exponential %arg0 : tensor<2x3xf32>
  %0 = "vhlo.exponential_v1"(%x) : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x3x!vhlo.f32_v1>
  // CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[EXP]] init: %[[ZERO]]) applies stablehlo.add across dimensions = [1]
  %1 = "vhlo.reduce_v1"(%0, %z) <{dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> ({
  ^bb0(%a: !vhlo.tensor_v1<!vhlo.f32_v1>, %b: !vhlo.tensor_v1<!vhlo.f32_v1>):
    %2 = "vhlo.add_v1"(%a, %b) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    "vhlo.return_v1"(%2) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
  }) : (!vhlo.tensor_v1<2x3x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
  // CHECK: stablehlo.custom_call @foo(%[[SUM]]) {has_side_effect = true} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "vhlo.custom_call_v1"(%1) <{api_version = #vhlo<api_version_v1 API_VERSION_ORIGINAL>, backend_config = #vhlo.string_v1<"">, call_target_name = #vhlo.string_v1<"foo">, called_computations = #vhlo.array_v1<[]>, has_side_effect = #vhlo.bool_v1<true>, operand_layouts = #vhlo.array_v1<[]>, output_operand_aliases = #vhlo.array_v1<[]>, result_layouts = #vhlo.array_v1<[]>}> : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
  "vhlo.return_v1"(%3) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> ()
} {a.note = #vhlo.integer_v1<1 : i32>, arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"mhlo.sharding"> = #vhlo.string_v1<"{replicated}">}>]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
