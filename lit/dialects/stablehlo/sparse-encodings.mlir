// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types with sparse encodings are read, verified and printed; nothing here computes with them.
// RUN: xla-opt %s | FileCheck %s
// RUN: xla-opt %s -mlir-print-op-generic | xla-opt | FileCheck %s
// CHECK: #[[VECTOR:.*]] = #sparse_tensor.encoding<{ map = (d0) -> (d0 : compressed) }>
#vector = #sparse_tensor.encoding<{map = (d0) -> (d0 : compressed)}>
#rows = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>
#columns = #sparse_tensor.encoding<{map = (d0, d1) -> (d1 : dense, d0 : compressed)}>

// CHECK-LABEL: @elementwise
func.func @elementwise(%x: tensor<10xf32, #vector>, %y: tensor<10xf32, #vector>) -> tensor<10xf32, #vector> {
  // CHECK: stablehlo.add %arg0, %arg1 : tensor<10xf32, #[[VECTOR]]>
  %0 = stablehlo.add %x, %y : tensor<10xf32, #vector>
  // CHECK: stablehlo.abs
  %1 = stablehlo.abs %0 : tensor<10xf32, #vector>
  // CHECK: stablehlo.multiply %{{.*}}, %{{.*}} : (tensor<10xf32, #[[VECTOR]]>, tensor<10xf32, #[[VECTOR]]>) -> tensor<10xf32>
  %2 = stablehlo.multiply %1, %y : (tensor<10xf32, #vector>, tensor<10xf32, #vector>) -> tensor<10xf32>
  return %1 : tensor<10xf32, #vector>
}

// CHECK-LABEL: @movement
func.func @movement(%x: tensor<10x20xf64, #rows>) -> tensor<20x10xf64, #columns> {
  // CHECK: stablehlo.transpose
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<10x20xf64, #rows>) -> tensor<20x10xf64, #columns>
  // CHECK: stablehlo.reshape
  %1 = stablehlo.reshape %x : (tensor<10x20xf64, #rows>) -> tensor<200xf64, #vector>
  // CHECK: stablehlo.convert
  %2 = stablehlo.convert %x : (tensor<10x20xf64, #rows>) -> tensor<10x20xf32, #rows>
  return %0 : tensor<20x10xf64, #columns>
}

// CHECK-LABEL: @contraction
func.func @contraction(%x: tensor<10x20xf32, #rows>, %y: tensor<20x5xf32>) -> tensor<10x5xf32> {
  // CHECK: stablehlo.dot_general
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<10x20xf32, #rows>, tensor<20x5xf32>) -> tensor<10x5xf32>
  return %0 : tensor<10x5xf32>
}
