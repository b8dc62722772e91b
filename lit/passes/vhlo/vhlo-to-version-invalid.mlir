// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A version that cannot say what the program says is an error that names the operation and the reason.
// RUN: xla-opt %s -stablehlo-legalize-to-vhlo -vhlo-to-version=target=0.9.0 -split-input-file -verify-diagnostics
// RUN: not xla-opt %s -vhlo-to-version=target=0.8.0 2>&1 | FileCheck %s -check-prefix=OLD
// RUN: not xla-opt %s -vhlo-to-version=target=1.21.0 2>&1 | FileCheck %s -check-prefix=NEW
// RUN: not xla-opt %s -vhlo-to-version=target=1.x.0 2>&1 | FileCheck %s -check-prefix=BAD
// RUN: not xla-opt %s -vhlo-to-version 2>&1 | FileCheck %s -check-prefix=NONE
// OLD: error: target version 0.8.0 is less than minimum supported 0.9.0
// NEW: error: target version 1.21.0 is greater than current version 1.20.0
// BAD: error: Invalid target version argument '1.x.0'
// NONE: error: No target version specified.

// expected-error @+1 {{failed to convert VHLO to v0.9.0}}
module {
func.func @operation(%x: tensor<f32>) {
  // expected-error @+1 {{failed to legalize operation 'vhlo.tan_v2' that was explicitly marked illegal: version 0.9.0 has no such operation}}
  %0 = stablehlo.tan %x : tensor<f32>
  return
}
}
// -----
// expected-error @+1 {{failed to convert VHLO to v0.9.0}}
module {
func.func @attribute(%x: tensor<f32>) {
  // expected-error @+1 {{failed to legalize operation 'vhlo.exponential_v2' that was explicitly marked illegal: 'result_accuracy' says something that the older version cannot}}
  %0 = "stablehlo.exponential"(%x) <{result_accuracy = #stablehlo.result_accuracy<atol = 0.0, rtol = 0.0, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<f32>) -> tensor<f32>
  return
}
}
// -----
// expected-error @+1 {{failed to convert VHLO to v0.9.0}}
module {
func.func @operands(%x: tensor<4xf32>) {
  // expected-error @+1 {{failed to legalize operation 'vhlo.all_to_all_v2' that was explicitly marked illegal: the older version takes one operand}}
  %0:2 = "stablehlo.all_to_all"(%x, %x) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
}
// -----
// expected-error @+1 {{failed to convert VHLO to v0.9.0}}
module {
func.func @type(%x: tensor<f32>) {
  // expected-error @+1 {{failed to legalize operation 'vhlo.convert_v1' that was explicitly marked illegal: version 0.9.0 has no !vhlo.f8E4M3_v1}}
  %0 = stablehlo.convert %x : (tensor<f32>) -> tensor<f8E4M3>
  return
}
}
// -----
// expected-error @+1 {{failed to convert VHLO to v0.9.0}}
module {
// expected-error @+1 {{failed to legalize operation 'vhlo.func_v1' that was explicitly marked illegal: version 0.9.0 has no !vhlo.buffer_v1<2x!vhlo.f32_v1>}}
func.func private @argument(memref<2xf32>)
}
// -----
// expected-error @+1 {{failed to convert VHLO to v0.9.0}}
module {
func.func @config() {
  // expected-error @+1 {{failed to legalize operation 'vhlo.custom_call_v2' that was explicitly marked illegal: version 0.9.0 has no dictionary as backend_config}}
  stablehlo.custom_call @a() {api_version = 4 : i32} : () -> ()
  return
}
}
// -----
// expected-error @+1 {{failed to convert VHLO to v0.9.0}}
module {
func.func @promotion(%x: tensor<4xf32>, %z: tensor<f64>) {
  // expected-error @+1 {{failed to legalize operation 'vhlo.reduce_v1' that was explicitly marked illegal: version 0.9.0 cannot promote in a reduction}}
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<f64>) -> tensor<f64>
    reducer(%a: tensor<f64>, %b: tensor<f64>) {
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }
  return
}
}
