// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-fuse-kernels -split-input-file | FileCheck %s

// Everything about a few numbers is one kernel, also what no other kernel would hold.
// CHECK-LABEL: func.func @few
// CHECK-COUNT-1: call @
// CHECK-NOT: call @
// CHECK: return
func.func @few(%x: tensor<9xf32>) -> tensor<9xf32> {
  %c = stablehlo.constant dense<[5.0]> : tensor<1xf32>
  %0 = stablehlo.slice %x [0:8] : (tensor<9xf32>) -> tensor<8xf32>
  %1 = stablehlo.concatenate %c, %0, dim = 0 : (tensor<1xf32>, tensor<8xf32>) -> tensor<9xf32>
  %2 = stablehlo.exponential %1 : tensor<9xf32>
  %3 = stablehlo.add %2, %x : tensor<9xf32>
  return %3 : tensor<9xf32>
}

// -----

// Functions of dozens of operations want vectors: they leave what has none.
// CHECK-LABEL: func.func @functions_of_more
// CHECK: call @concatenate
// CHECK: call @add
// CHECK: return
// CHECK: func.func private @add
// CHECK-NOT: stablehlo.concatenate
// CHECK: stablehlo.exponential
func.func @functions_of_more(%x: tensor<41xf32>) -> tensor<41xf32> {
  %c = stablehlo.constant dense<[5.0]> : tensor<1xf32>
  %0 = stablehlo.slice %x [0:40] : (tensor<41xf32>) -> tensor<40xf32>
  %1 = stablehlo.concatenate %c, %0, dim = 0 : (tensor<1xf32>, tensor<40xf32>) -> tensor<41xf32>
  %2 = stablehlo.exponential %1 : tensor<41xf32>
  %3 = stablehlo.add %2, %x : tensor<41xf32>
  return %3 : tensor<41xf32>
}

// -----

// Additions do not.
// CHECK-LABEL: func.func @sums_of_more
// CHECK-COUNT-1: call @
// CHECK-NOT: call @
// CHECK: return
func.func @sums_of_more(%x: tensor<41xf32>) -> tensor<41xf32> {
  %c = stablehlo.constant dense<[5.0]> : tensor<1xf32>
  %0 = stablehlo.slice %x [0:40] : (tensor<41xf32>) -> tensor<40xf32>
  %1 = stablehlo.concatenate %c, %0, dim = 0 : (tensor<1xf32>, tensor<40xf32>) -> tensor<41xf32>
  %3 = stablehlo.add %1, %x : tensor<41xf32>
  return %3 : tensor<41xf32>
}
