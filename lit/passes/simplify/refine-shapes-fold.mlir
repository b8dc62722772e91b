// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers that become known with their number are sizes, and folded; numbers with fractions are data.
// RUN: xla-opt %s -stablehlo-refine-shapes | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    -> (tensor<2xi32>, tensor<2xi64>)
// CHECK-NEXT:    %{{.*}} = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
// CHECK-NOT:     stablehlo.convert
// CHECK:         %[[DATA:.*]] = stablehlo.convert %{{.*}} : (tensor<2xf32>) -> tensor<2xi64>
// CHECK-NEXT:    return %{{.*}}, %[[DATA]] : tensor<2xi32>, tensor<2xi64>
func.func @main() -> (tensor<?xi32>, tensor<2xi64>) {
  %sizes = stablehlo.constant dense<[7, 9]> : tensor<2xi32>
  %0 = stablehlo.convert %sizes : (tensor<2xi32>) -> tensor<?xi32>
  %data = stablehlo.constant dense<[1.5, 2.5]> : tensor<2xf32>
  %1 = stablehlo.convert %data : (tensor<2xf32>) -> tensor<2xi64>
  return %0, %1 : tensor<?xi32>, tensor<2xi64>
}
