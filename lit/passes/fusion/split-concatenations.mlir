// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed of joined values is computed of the parts: the joined value is not in memory.
// RUN: xla-opt %s -xla-split-concatenations -xla-fuse-kernels -split-input-file | FileCheck %s
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off

// A token that all images share before their patches, positions for all of them, then a scale per column and a whole tensor.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: call @
// CHECK-NOT:     call @
// CHECK:       func.func private
// CHECK:         stablehlo.slice %{{.*}} [0:1, 0:96]
// CHECK:         stablehlo.add {{.*}} : tensor<8x1x96xf32>
// CHECK:         stablehlo.slice %{{.*}} [1:10, 0:96]
// CHECK:         stablehlo.add {{.*}} : tensor<8x9x96xf32>
// CHECK:         stablehlo.concatenate
// CHECK-NEXT:    return
func.func @main(%token: tensor<1x1x96xf32>, %x: tensor<8x9x96xf32>, %positions: tensor<10x96xf32>, %scale: tensor<96xf32>, %other: tensor<8x10x96xf32>) -> tensor<8x10x96xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8x10x96xf32>
  %first = stablehlo.broadcast_in_dim %token, dims = [0, 1, 2] : (tensor<1x1x96xf32>) -> tensor<8x1x96xf32>
  %all = stablehlo.concatenate %first, %x, dim = 1 : (tensor<8x1x96xf32>, tensor<8x9x96xf32>) -> tensor<8x10x96xf32>
  %places = stablehlo.broadcast_in_dim %positions, dims = [1, 2] : (tensor<10x96xf32>) -> tensor<8x10x96xf32>
  %sum = stablehlo.add %all, %places : tensor<8x10x96xf32>
  %columns = stablehlo.broadcast_in_dim %scale, dims = [2] : (tensor<96xf32>) -> tensor<8x10x96xf32>
  %scaled = stablehlo.multiply %columns, %sum : tensor<8x10x96xf32>
  %more = stablehlo.subtract %scaled, %other : tensor<8x10x96xf32>
  %relu = stablehlo.maximum %more, %zero : tensor<8x10x96xf32>
  return %relu : tensor<8x10x96xf32>
}

// -----

// Two readers want the joined value.
// CHECK-LABEL: func.func @shared(
// CHECK:         stablehlo.concatenate %arg0, %arg1, dim = 1
func.func @shared(%a: tensor<8x9x96xf32>, %b: tensor<8x9x96xf32>) -> (tensor<8x18x96xf32>, tensor<8x18x96xf32>) {
  %all = stablehlo.concatenate %a, %b, dim = 1 : (tensor<8x9x96xf32>, tensor<8x9x96xf32>) -> tensor<8x18x96xf32>
  %wave = stablehlo.tanh %all : tensor<8x18x96xf32>
  return %all, %wave : tensor<8x18x96xf32>, tensor<8x18x96xf32>
}

// -----

// Parts that are slices are read where they lie.
// CHECK-LABEL: func.func @rolled(
// CHECK:         stablehlo.concatenate {{.*}} -> tensor<8x10x96xf32>
// CHECK:         stablehlo.tanh {{.*}} : tensor<8x10x96xf32>
func.func @rolled(%a: tensor<8x10x96xf32>) -> tensor<8x10x96xf32> {
  %end = stablehlo.slice %a [0:8, 7:10, 0:96] : (tensor<8x10x96xf32>) -> tensor<8x3x96xf32>
  %start = stablehlo.slice %a [0:8, 0:7, 0:96] : (tensor<8x10x96xf32>) -> tensor<8x7x96xf32>
  %all = stablehlo.concatenate %end, %start, dim = 1 : (tensor<8x3x96xf32>, tensor<8x7x96xf32>) -> tensor<8x10x96xf32>
  %wave = stablehlo.tanh %all : tensor<8x10x96xf32>
  return %wave : tensor<8x10x96xf32>
}
