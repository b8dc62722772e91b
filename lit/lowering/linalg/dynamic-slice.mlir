// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// The start is clamped to [0, 7]; a dimension that is taken whole needs no index.
// CHECK-LABEL: @slice
// CHECK-NOT: tensor.extract %arg2
// CHECK: linalg.generic
// CHECK-DAG: %[[D0:.*]] = linalg.index 0
// CHECK-DAG: %[[D1:.*]] = linalg.index 1
// CHECK-DAG: tensor.extract %arg1[]
// CHECK-DAG: arith.minsi
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[D0]]
// CHECK: tensor.extract %arg0[%[[ROW]], %[[D1]]]
func.func @slice(%x: tensor<10x4xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<3x4xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [3, 4] : (tensor<10x4xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// No vectors hold such elements.
// CHECK-LABEL: @complex
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [3, 4] [1, 1]
func.func @complex(%x: tensor<10x4xcomplex<f32>>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<3x4xcomplex<f32>> {
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [3, 4] : (tensor<10x4xcomplex<f32>>, tensor<i32>, tensor<i32>) -> tensor<3x4xcomplex<f32>>
  return %0 : tensor<3x4xcomplex<f32>>
}

// -----

// CHECK-LABEL: @update
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0] [3, 4] [1, 1]
func.func @update(%x: tensor<10x4xf32>, %u: tensor<3x4xf32>, %i: tensor<ui64>, %j: tensor<ui64>) -> tensor<10x4xf32> {
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<10x4xf32>, tensor<3x4xf32>, tensor<ui64>, tensor<ui64>) -> tensor<10x4xf32>
  return %0 : tensor<10x4xf32>
}
