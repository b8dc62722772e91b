// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textual form of reduce (short and long), reduce_window, select_and_scatter, sort, map, batch_norm_*.
// RUN: xla-opt %s | FileCheck %s
// RUN: xla-opt %s | xla-opt | FileCheck %s
// RUN: xla-opt %s --mlir-print-debuginfo | xla-opt --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: xla-opt %s --emit-bytecode | xla-opt | FileCheck %s

// CHECK-LABEL: @short_form
// CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0, 1] {foo = 1 : i32} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
// GENERIC-LABEL: sym_name = "short_form"
// GENERIC: "stablehlo.reduce"(%arg{{.*}}) <{dimensions = array<i64: 0, 1>}> ({
// GENERIC-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// GENERIC-NEXT: %[[C:.*]] = "stablehlo.add"(%[[A]], %[[B]])
// GENERIC-NEXT: "stablehlo.return"(%[[C]])
func.func @short_form(%x: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] {foo = 1 : i32} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Wherever the body's operations were written.
// CHECK-LABEL: @short_form_of_other_places
// CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
func.func @short_form_of_other_places(%x: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32> loc("argument"), %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32> loc("body")
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32> loc("reduction")
  return %0 : tensor<2xf32>
}

// Two inputs have no short form; the pairs are (element, accumulator).
// CHECK-LABEL: @long_form
// CHECK: %0:2 = stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
// CHECK-NEXT: {{^     reducer\(}}%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<i32>, %arg7: tensor<i32>)  {
// CHECK-NEXT: stablehlo.return %arg4, %arg7 : tensor<f32>, tensor<i32>
func.func @long_form(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.reduce(%x init: %a), (%y init: %b) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
   reducer(%c: tensor<f32>, %d: tensor<f32>) (%e: tensor<i32>, %f: tensor<i32>) {
    stablehlo.return %c, %f : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// A subtraction does not commute, swapped operands are not the short form, and neither are other element types.
// CHECK-LABEL: @not_short
// CHECK-COUNT-3: reducer
func.func @not_short(%x: tensor<2xf32>, %z: tensor<f32>, %d: tensor<f64>) -> (tensor<f32>, tensor<f32>, tensor<f64>) {
  %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) { %1 = stablehlo.subtract %a, %b : tensor<f32> stablehlo.return %1 : tensor<f32> }
  %2 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) { %1 = stablehlo.add %b, %a : tensor<f32> stablehlo.return %1 : tensor<f32> }
  %3 = stablehlo.reduce(%x init: %d) across dimensions = [0] : (tensor<2xf32>, tensor<f64>) -> tensor<f64>
   reducer(%a: tensor<f64>, %b: tensor<f64>) { %1 = stablehlo.add %a, %b : tensor<f64> stablehlo.return %1 : tensor<f64> }
  return %0, %2, %3 : tensor<f32>, tensor<f32>, tensor<f64>
}

// CHECK-LABEL: @bounded
// CHECK: -> tensor<?xf32, #stablehlo.bounds<4>>
func.func @bounded(%x: tensor<?x3xf32, #stablehlo.bounds<4, ?>>, %z: tensor<f32>) -> tensor<?xf32, #stablehlo.bounds<4>> {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<?x3xf32, #stablehlo.bounds<4, ?>>, tensor<f32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return %0 : tensor<?xf32, #stablehlo.bounds<4>>
}

// CHECK-LABEL: @others
// CHECK: "stablehlo.reduce_window"(%arg0, %arg1) <{padding = dense<{{\[\[}}2, 1], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>}> ({
// CHECK: "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
// CHECK: "stablehlo.map"(%arg0) <{dimensions = array<i64: 0, 1>}> ({
func.func @others(%x: tensor<4x2xf32>, %z: tensor<f32>, %p: tensor<i1>) {
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %1 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    %c = stablehlo.negate %a : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}
