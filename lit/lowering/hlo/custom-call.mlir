// Custom calls and checks.
// RUN: xla-translate %s --stablehlo-to-hlo-text -split-input-file | FileCheck %s
func.func @main(%x: tensor<2x3xf32>, %t: !stablehlo.token) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, !stablehlo.token, tensor<2x3xf32>, tensor<2x3xf32>) {
  // A layout of the call's own ends behind it.
  // CHECK: custom-call.1 = (f32[2,3]{0,1}, f32[2,3]{1,0}) custom-call(Arg_0.1), custom_call_target="needs quotes", operand_layout_constraints={f32[2,3]{0,1}}, api_version=API_VERSION_STATUS_RETURNING, backend_config="a\"b\n"
  // CHECK: get-tuple-element.1 = f32[2,3]{0,1} get-tuple-element(custom-call.1), index=0
  // CHECK: copy.1 = f32[2,3]{1,0} copy(get-tuple-element.1)
  %0:2 = stablehlo.custom_call @"needs quotes"(%x) {api_version = 2 : i32, backend_config = "a\22b\0A", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  // CHECK: custom-call.2 = f32[2,3]{1,0} custom-call(Arg_0.1), custom_call_target="foo", output_to_operand_aliasing={{[{][{]}}}: (0, {})}, api_version=API_VERSION_STATUS_RETURNING_UNIFIED, metadata
  %1 = stablehlo.custom_call @foo(%x) {api_version = 3 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: custom-call.3 = token[] custom-call(Arg_1.1), custom_call_target="foo", custom_call_has_side_effect=true
  %2 = stablehlo.custom_call @foo(%t) {has_side_effect = true} : (!stablehlo.token) -> !stablehlo.token
  // CHECK: custom-call.4 = f32[2,3]{1,0} custom-call(Arg_0.1), custom_call_target="foo", api_version=API_VERSION_TYPED_FFI, frontend_attributes={a="b",c="d\"e",f={g}}, backend_config={a = 1 : i64, b = dense<[1, 2]> : tensor<2xi32>, g = {h}}
  %3 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32, backend_config = {a = 1 : i64, b = dense<[1, 2]> : tensor<2xi32>, g = {h}}, mhlo.frontend_attributes = {a = "b", c = "d\22e", f = "{g}"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: custom-call.5 = {{.*}}, output_to_operand_aliasing={{[{][{]}}1}: (0, {})}
  %4:2 = stablehlo.custom_call @bar(%x) {api_version = 4 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [1], operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#0, %0#1, %1, %2, %3, %4#1 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, !stablehlo.token, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----
// CHECK: g.1 {
// CHECK: custom-call.1 = () custom-call(Arg_0.1), custom_call_target="foo", called_computations={g.1}
// CHECK: ROOT custom-call.2 = b(f32[4]{0}) custom-call(Arg_1.1), custom_call_target="bar"
func.func @main(%x: tensor<4xf32>, %b: memref<4xf32>) -> memref<4xf32> {
  stablehlo.custom_call @foo(%x) {called_computations = [@g]} : (tensor<4xf32>) -> ()
  %0 = stablehlo.custom_call @bar(%b) : (memref<4xf32>) -> memref<4xf32>
  return %0 : memref<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----
func.func @main(%x: tensor<2xf32>) {
  // CHECK: custom-call.1 = () custom-call(Arg_0.1, Arg_0.1), custom_call_target="check.expect_eq", custom_call_has_side_effect=true, metadata
  check.expect_eq %x, %x : tensor<2xf32>
  // CHECK: constant.1 = f32[2]{0} constant({1, 2})
  // CHECK: custom-call.2 = () custom-call(Arg_0.1, constant.1), custom_call_target="check.expect_eq"
  check.expect_eq_const %x, dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: custom_call_target="check.expect_almost_eq", custom_call_has_side_effect=true, api_version=API_VERSION_TYPED_FFI, backend_config={tolerance = 1.000000e-03 : f64}
  check.expect_almost_eq %x, %x, tolerance = 1.0e-3 : tensor<2xf32>
  // CHECK: custom_call_target="check.expect_almost_eq", {{.*}}backend_config={tolerance = 1.000000e-04 : f64}
  check.expect_almost_eq_const %x, dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: custom_call_target="check.expect_close", {{.*}}backend_config={max_ulp_difference = 3 : i64, min_ulp_difference = 0 : i64}
  check.expect_close %x, %x, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  // CHECK: ROOT tuple.1 = () tuple()
  return
}
