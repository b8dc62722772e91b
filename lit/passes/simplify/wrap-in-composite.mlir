// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Named operations move into decompositions; others stay.
// RUN: xla-opt %s -stablehlo-wrap-in-composite="op-names=stablehlo.abs,stablehlo.iota version=2" | FileCheck %s

// CHECK-LABEL: @main
// CHECK: %[[A:.*]] = stablehlo.composite "stablehlo.abs" %arg0 {decomposition = @stablehlo.abs.impl, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: stablehlo.composite "stablehlo.iota" {{.*}}composite_attributes = {iota_dimension = 0 : i64}
// CHECK: stablehlo.negate
// CHECK: func.func private @stablehlo.abs.impl(%arg0: tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: stablehlo.abs %arg0
// CHECK: func.func private @stablehlo.iota.impl() -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.abs %x : tensor<4xf32>
  %1 = stablehlo.iota dim = 0 : tensor<4xf32>
  %2 = stablehlo.negate %x : tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// RUN: xla-opt %s -stablehlo-wrap-in-composite=op-names=stablehlo.add | FileCheck %s --check-prefix=NAMES
// NAMES-LABEL: @twice
// NAMES: %[[A:.*]] = stablehlo.composite "stablehlo.add" %arg0, %arg1 {decomposition = @stablehlo.add.impl}
// NAMES: stablehlo.composite "stablehlo.add" %[[A]], %[[A]] {decomposition = @stablehlo.add.impl1}
// NAMES: func.func private @stablehlo.add.impl(
// NAMES-NEXT: stablehlo.add %arg0, %arg1
// NAMES: func.func private @stablehlo.add.impl1(
// NAMES-NEXT: stablehlo.add %arg1, %arg1
func.func @twice(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %y : tensor<f32>
  %1 = stablehlo.add %0, %0 : tensor<f32>
  return %1 : tensor<f32>
}

// The ops in the regions of an op that moves stay where they are.
// RUN: xla-opt %s -stablehlo-wrap-in-composite="op-names=stablehlo.add,stablehlo.reduce" | FileCheck %s --check-prefix=NESTED
// NESTED-LABEL: @sum
// NESTED: stablehlo.composite "stablehlo.reduce" %arg0, %{{.*}}decomposition = @stablehlo.reduce.impl
// NESTED: func.func private @stablehlo.reduce.impl(
// NESTED-NEXT: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0]
func.func @sum(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
