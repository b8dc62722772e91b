// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text of elementwise ops, short where types agree, and their cheap folds.
// RUN: xla-opt %s | xla-opt | FileCheck %s
// RUN: xla-opt %s -mlir-print-op-generic | xla-opt | FileCheck %s
// RUN: xla-opt %s -canonicalize | FileCheck %s --check-prefix=FOLD

// CHECK-LABEL: @text
func.func @text(%a: tensor<2xf32>, %c: tensor<2xcomplex<f32>>, %d: tensor<?xf32>, %p: tensor<2xi1>, %i: tensor<2xi32>) -> tensor<2xf32> {
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<2xf32>
  %0 = "stablehlo.add"(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.add %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  %1 = "stablehlo.add"(%0, %d) : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.abs %{{.*}} : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = stablehlo.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: stablehlo.complex %{{.*}}, %{{.*}} : tensor<2xcomplex<f32>>
  %3 = "stablehlo.complex"(%1, %2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}}, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %4 = stablehlo.compare LT, %1, %2, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<2xi1>, tensor<2xf32>
  %5 = "stablehlo.select"(%4, %1, %2) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.reduce_precision %{{.*}}, format = e5m10 : tensor<2xf32>
  %6 = "stablehlo.reduce_precision"(%5) {exponent_bits = 5 : i32, mantissa_bits = 10 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.exponential %{{.*}} {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2xf32>
  %7 = stablehlo.exponential %6 {result_accuracy = #stablehlo.result_accuracy<ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<2xf32>
  // CHECK: stablehlo.is_finite %{{.*}} : (tensor<2xf32>) -> tensor<2xi1>
  %8 = stablehlo.is_finite %7 : (tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.convert %{{.*}} : (tensor<2xf32>) -> tensor<2xf64>
  %9 = stablehlo.convert %7 : (tensor<2xf32>) -> tensor<2xf64>
  return %7 : tensor<2xf32>
}

// Integers: x + 0 and x * 1 are x. Floats: -0 + 0 is +0, so x + 0 stays.
// FOLD-LABEL: @identities
// FOLD-SAME: %[[I:.*]]: tensor<2xi32>, %[[F:.*]]: tensor<2xf32>
func.func @identities(%i: tensor<2xi32>, %f: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %fzero = stablehlo.constant dense<0.0> : tensor<2xf32>
  // FOLD: %[[SUM:.*]] = stablehlo.add %[[F]],
  %0 = stablehlo.add %i, %zero : tensor<2xi32>
  %1 = stablehlo.multiply %one, %i : tensor<2xi32>
  %2 = stablehlo.add %f, %fzero : tensor<2xf32>
  // FOLD: return %[[I]], %[[I]], %[[SUM]]
  return %0, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<2xf32>
}

// A constant predicate picks a branch; a fold never changes a type, so the dynamic branch stays.
// FOLD-LABEL: @select_constant
// FOLD-SAME: %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<?xf32>
func.func @select_constant(%a: tensor<2xf32>, %b: tensor<?xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %true = stablehlo.constant dense<true> : tensor<2xi1>
  %false = stablehlo.constant dense<false> : tensor<2xi1>
  // FOLD: %[[S:.*]] = stablehlo.select
  %0 = stablehlo.select %true, %a, %b : (tensor<2xi1>, tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  %1 = stablehlo.select %false, %a, %b : (tensor<2xi1>, tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>
  // FOLD: return %[[A]], %[[S]]
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// FOLD-LABEL: @parts
// FOLD-SAME: %[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>
func.func @parts(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.complex %a, %b : tensor<2xcomplex<f32>>
  %1 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %2 = stablehlo.imag %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // FOLD: return %[[A]], %[[B]]
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}
