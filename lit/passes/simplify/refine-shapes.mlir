// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes follow from argument types and constants, through calls and loops.
// RUN: xla-opt %s -stablehlo-refine-arguments='types=tensor<16xf32>' -stablehlo-refine-shapes | FileCheck %s

// CHECK-LABEL: func.func @main(%arg0: tensor<16xf32>) -> (tensor<16xf32>, tensor<32xf32>)
// CHECK-NOT: shape_refinement_operand_wrapper
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %0 = call @add_ones(%n, %x) : (tensor<i32>, tensor<?xf32>) -> tensor<?xf32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %m = stablehlo.multiply %n, %two : tensor<i32>
  %c = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = call @add_ones(%m, %c) : (tensor<i32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// One copy per size.
// CHECK-DAG: func.func private @add_ones{{.*}}tensor<16xf32>) -> tensor<16xf32>
// CHECK-DAG: func.func private @add_ones{{.*}}tensor<32xf32>) -> tensor<32xf32>
func.func private @add_ones(%n: tensor<i32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %b = stablehlo.dynamic_broadcast_in_dim %one, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  %r = stablehlo.add %x, %b : tensor<?xf32>
  return %r : tensor<?xf32>
}
