// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-simplify-for-kernels=groups=general,unit-dimensions | FileCheck %s

// Width times height of the overlaps of boxes: x and y apart from the beginning.
// CHECK-LABEL: func.func @areas(
// CHECK-NOT: tensor<5x6x2xf32>
// CHECK: return
func.func @areas(%a: tensor<5x2xf32>, %b: tensor<6x2xf32>, %low: tensor<f32>, %high: tensor<f32>) -> tensor<5x6xf32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 2] : (tensor<5x2xf32>) -> tensor<5x6x2xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<5x6x2xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<5x6x2xf32>
  %3 = stablehlo.clamp %low, %2, %high : (tensor<f32>, tensor<5x6x2xf32>, tensor<f32>) -> tensor<5x6x2xf32>
  %4 = stablehlo.slice %3 [0:5, 0:6, 0:1] : (tensor<5x6x2xf32>) -> tensor<5x6x1xf32>
  %5 = stablehlo.slice %3 [0:5, 0:6, 1:2] : (tensor<5x6x2xf32>) -> tensor<5x6x1xf32>
  %6 = stablehlo.reshape %4 : (tensor<5x6x1xf32>) -> tensor<5x6xf32>
  %7 = stablehlo.reshape %5 : (tensor<5x6x1xf32>) -> tensor<5x6xf32>
  %8 = stablehlo.multiply %6, %7 : tensor<5x6xf32>
  return %8 : tensor<5x6xf32>
}

// Operands that are there already are cut: one of other type, too.
// CHECK-LABEL: func.func @chosen(
// CHECK-DAG: %[[P:.*]] = stablehlo.slice %arg0 [0:7, 2:3] : (tensor<7x4xi1>) -> tensor<7x1xi1>
// CHECK-DAG: %[[X:.*]] = stablehlo.slice %arg1 [0:7, 2:3] : (tensor<7x4xf32>) -> tensor<7x1xf32>
// CHECK-DAG: %[[Y:.*]] = stablehlo.slice %arg2 [0:7, 2:3] : (tensor<7x4xf32>) -> tensor<7x1xf32>
// CHECK: %[[R:.*]] = stablehlo.select %[[P]], %[[X]], %[[Y]] : tensor<7x1xi1>, tensor<7x1xf32>
// CHECK: return %[[R]]
func.func @chosen(%p: tensor<7x4xi1>, %x: tensor<7x4xf32>, %y: tensor<7x4xf32>) -> tensor<7x1xf32> {
  %0 = stablehlo.select %p, %x, %y : tensor<7x4xi1>, tensor<7x4xf32>
  %1 = stablehlo.slice %0 [0:7, 2:3] : (tensor<7x4xf32>) -> tensor<7x1xf32>
  return %1 : tensor<7x1xf32>
}

// Somebody needs all components, a component is taken more often than there are, a long last dimension, several components at once.
// CHECK-LABEL: func.func @left_alone(
// CHECK-COUNT-4: stablehlo.add {{.*}} : tensor<7x{{3|2|9|4}}xf32>
// CHECK: return
func.func @left_alone(%x: tensor<7x3xf32>, %y: tensor<7x2xf32>, %z: tensor<7x9xf32>, %w: tensor<7x4xf32>) -> (tensor<7x3xf32>, tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x2xf32>) {
  %0 = stablehlo.add %x, %x : tensor<7x3xf32>
  %1 = stablehlo.slice %0 [0:7, 0:1] : (tensor<7x3xf32>) -> tensor<7x1xf32>
  %2 = stablehlo.add %y, %y : tensor<7x2xf32>
  %3 = stablehlo.slice %2 [0:7, 0:1] : (tensor<7x2xf32>) -> tensor<7x1xf32>
  %4 = stablehlo.slice %2 [0:7, 1:2] : (tensor<7x2xf32>) -> tensor<7x1xf32>
  %5 = stablehlo.slice %2 [0:6, 1:2] : (tensor<7x2xf32>) -> tensor<6x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %6 = stablehlo.pad %5, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] : (tensor<6x1xf32>, tensor<f32>) -> tensor<7x1xf32>
  %7 = stablehlo.add %z, %z : tensor<7x9xf32>
  %8 = stablehlo.slice %7 [0:7, 0:1] : (tensor<7x9xf32>) -> tensor<7x1xf32>
  %9 = stablehlo.add %w, %w : tensor<7x4xf32>
  %10 = stablehlo.slice %9 [0:7, 0:2] : (tensor<7x4xf32>) -> tensor<7x2xf32>
  return %0, %1, %3, %4, %6, %8, %10 : tensor<7x3xf32>, tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x2xf32>
}
