// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of i1 in hexadecimal: a byte each, as JAX prints them, or a bit each, as this MLIR does; in any form of any operation.
// RUN: xla-opt %s -split-input-file -verify-diagnostics | FileCheck %s
// RUN: not xla-translate --interpret %s -split-input-file 2>&1 | FileCheck %s -check-prefix=VALUE

// CHECK-LABEL: @bytes
// CHECK: dense<[true, false, false, true, true, false, true, false, false, true]> : tensor<10xi1>
// CHECK: dense<{{\[}}[true, true, false], [false, true, false]]> : tensor<2x3xi1>
// CHECK: {a = dense<[false, true]> : vector<2xi1>}
// VALUE: tensor<10xi1> {
// VALUE-NEXT: [true, false, false, true, true, false, true, false, false, true]
func.func @bytes() -> (tensor<10xi1>, tensor<2x3xi1>) {
  %0 = "stablehlo.constant"() <{value = dense<"0x01000001010001000001"> : tensor<10xi1>}> : () -> tensor<10xi1>
  %1 = stablehlo.constant dense<"0x010100000100">:tensor< 2x3xi1 >
  %2 = stablehlo.constant {a = dense<"0x0001"> : vector<2xi1>} dense<true> : tensor<i1>
  return %0, %1 : tensor<10xi1>, tensor<2x3xi1>
}

// -----

// CHECK-LABEL: @bits
// CHECK: dense<[true, false, false, true, true, false, true, false, false, true]> : tensor<10xi1>
// CHECK: dense<[1, 0]> : tensor<2xi8>
// VALUE: tensor<10xi1> {
// VALUE-NEXT: [true, false, false, true, true, false, true, false, false, true]
func.func @bits() -> (tensor<10xi1>, tensor<2xi8>) {
  %0 = stablehlo.constant dense<"0x5902"> : tensor<10xi1>
  %1 = stablehlo.constant dense<"0x0100"> : tensor<2xi8>
  return %0, %1 : tensor<10xi1>, tensor<2xi8>
}

// -----

func.func @other_bytes() -> tensor<3xi1> {
  // expected-error@+1 {{elements hex data size is invalid for provided type: 'tensor<3xi1>'}}
  %0 = stablehlo.constant dense<"0x010002"> : tensor<3xi1>
  return %0 : tensor<3xi1>
}

// -----

func.func @number_of_bytes() -> tensor<3xi1> {
  // expected-error@+1 {{elements hex data size is invalid for provided type: 'tensor<3xi1>'}}
  %0 = stablehlo.constant dense<"0x01000100"> : tensor<3xi1>
  return %0 : tensor<3xi1>
}

// -----

// What follows is where it was.
func.func @place() {
  %0 = stablehlo.constant dense<"0x0100000101000100"> : tensor<8xi1> loc(unknown) %1 = stablehlo.unknown // expected-error {{custom op 'stablehlo.unknown' is unknown}}
  return
}
