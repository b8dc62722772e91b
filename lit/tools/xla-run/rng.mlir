// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rng draws new numbers in every run, execution, operation and iteration of a loop, and the same ones for the same seed.
// RUN: xla-run %s --cache-dir=off --rng-seed=7 > %t.a
// RUN: xla-run %s --cache-dir=off --rng-seed=7 > %t.b
// RUN: diff %t.a %t.b
// RUN: xla-run %s --cache-dir=off --rng-seed=8 > %t.c
// RUN: not diff %t.a %t.c
// RUN: xla-run %s --cache-dir=off --rng-seed=7 --repeat=2 2>/dev/null | grep dense > %t.d
// RUN: grep dense %t.a > %t.e
// RUN: not diff %t.e %t.d
// RUN: xla-run %s --cache-dir=off > %t.f
// RUN: xla-run %s --cache-dir=off > %t.g
// RUN: not diff %t.f %t.g
// Two operations and two iterations differ in all of four words.
// RUN: FileCheck %s < %t.f
// CHECK: dense<true> : tensor<i1>
// CHECK: dense<true> : tensor<i1>
func.func @main() -> (tensor<i1>, tensor<i1>, tensor<4xui64>) {
  %low = stablehlo.constant dense<0> : tensor<ui64>
  %high = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %shape = stablehlo.constant dense<4> : tensor<1xi64>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<ui64>, tensor<ui64>, tensor<1xi64>) -> tensor<4xui64>
  %1 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<ui64>, tensor<ui64>, tensor<1xi64>) -> tensor<4xui64>
  %2 = stablehlo.compare NE, %0, %1 : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
  %3 = stablehlo.reduce(%2 init: %yes) applies stablehlo.and across dimensions = [0] : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %c20 = stablehlo.constant dense<20> : tensor<i32>
  %4:3 = stablehlo.while(%i = %c0, %last = %0, %differ = %yes) : tensor<i32>, tensor<4xui64>, tensor<i1>
  cond {
    %5 = stablehlo.compare LT, %i, %c20 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %5 : tensor<i1>
  } do {
    %5 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<ui64>, tensor<ui64>, tensor<1xi64>) -> tensor<4xui64>
    %6 = stablehlo.compare NE, %5, %last : (tensor<4xui64>, tensor<4xui64>) -> tensor<4xi1>
    %7 = stablehlo.reduce(%6 init: %differ) applies stablehlo.and across dimensions = [0] : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
    %8 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %8, %5, %7 : tensor<i32>, tensor<4xui64>, tensor<i1>
  }
  return %3, %4#2, %0 : tensor<i1>, tensor<i1>, tensor<4xui64>
}
