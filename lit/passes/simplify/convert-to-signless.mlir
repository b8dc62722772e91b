// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unsigned types become signless ones everywhere; other types stay.
// RUN: xla-opt %s -stablehlo-convert-to-signless | FileCheck %s

// CHECK-LABEL: func.func @types(%arg0: tensor<4xi8>, %arg1: tensor<4xf32>) -> (tensor<4xi8>, tensor<4xf32>)
// CHECK: stablehlo.constant dense<[1, 2, 3, -1]> : tensor<4xi8>
// CHECK: stablehlo.add {{.*}} : tensor<4xi8>
// CHECK-NOT: ui8
func.func @types(%x: tensor<4xui8>, %y: tensor<4xf32>) -> (tensor<4xui8>, tensor<4xf32>) {
  %0 = stablehlo.constant dense<[1, 2, 3, 255]> : tensor<4xui8>
  %1 = stablehlo.add %x, %0 : tensor<4xui8>
  return %1, %y : tensor<4xui8>, tensor<4xf32>
}
