// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-compile %s --emit=llvm | FileCheck %s --check-prefix=STRICT
// RUN: xla-compile %s --emit=llvm --relaxed | FileCheck %s --check-prefix=RELAXED
// RUN: xla-run %s --cache-dir=off --verify
// RUN: xla-run %s --cache-dir=off --verify --relaxed

// What may be regrouped and fused is decided before code generation (FuseProducts.h).
// STRICT-NOT: {{reassoc|arcp|contract}}
// RELAXED-DAG: fadd nsz arcp <{{[0-9]+}} x float>
// RELAXED-DAG: fdiv nsz arcp
// RELAXED-NOT: {{reassoc|contract}}
func.func @main(%a: tensor<7x130xf32>, %b: tensor<7xf32>) -> tensor<7xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<7x130xf32>, tensor<f32>) -> tensor<7xf32>
  %mean = stablehlo.divide %sum, %b : tensor<7xf32>
  return %mean : tensor<7xf32>
}
