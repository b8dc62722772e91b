// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every direction in weak order, compiled and interpreted, also by a sort: NaNs of either sign come last and zeros are equal.
// RUN: xla-run %s --verify --cache-dir=off | FileCheck %s
// CHECK: dense<[0, 3, 2, 1, 4]> : tensor<5xi32>
// RUN: not xla-opt %s -stablehlo-legalize-to-vhlo 2>&1 | FileCheck %s --check-prefix=VHLO
// VHLO: error: 'stablehlo.compare' op has no portable form of attribute 'compare_type'
// RUN: not xla-translate --stablehlo-to-hlo-text %s 2>&1 | FileCheck %s --check-prefix=HLO
// HLO: error: 'stablehlo.compare' op compares in weak order, which HLO cannot express
func.func @main() -> (tensor<5xi32>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>) {
  %a = stablehlo.constant dense<[0xFFC00000, 0x7F800000, 0x7FC00001, 0x80000000, 0x00000000, 1.0, 0xFF800000]> : tensor<7xf32>
  %b = stablehlo.constant dense<[0x7FC00000, 0xFFC00000, 0x7F800000, 0x00000000, 0x80000000, 2.0, 0xFFC00000]> : tensor<7xf32>
  %x = stablehlo.optimization_barrier %a : tensor<7xf32>
  %y = stablehlo.optimization_barrier %b : tensor<7xf32>
  %0 = stablehlo.compare EQ, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  %1 = stablehlo.compare NE, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  %2 = stablehlo.compare GE, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  %3 = stablehlo.compare GT, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  %4 = stablehlo.compare LE, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  %5 = stablehlo.compare LT, %x, %y, WEAKORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  // By the largest: NaN, infinity, 1, and the two zeros in the order that they came in.
  %keys = stablehlo.constant dense<[0xFFC00000, 0x80000000, 1.0, 0x7F800000, 0x00000000]> : tensor<5xf32>
  %k = stablehlo.optimization_barrier %keys : tensor<5xf32>
  %i = stablehlo.iota dim = 0 : tensor<5xi32>
  %6:2 = "stablehlo.sort"(%k, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %s: tensor<i32>):
    %7 = stablehlo.compare GT, %p, %q, WEAKORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %7 : tensor<i1>
  }) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
  return %6#1, %0, %1, %2, %3, %4, %5 : tensor<5xi32>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>
}
