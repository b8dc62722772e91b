// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-lower-to-linalg=all-functions -split-input-file | FileCheck %s
// A short line is sorted by insertion, without a second scratch line.
// CHECK-LABEL: @short
// CHECK: tensor.empty() : tensor<5x16xf32>
// CHECK: bufferization.alloc_tensor() : tensor<16xf32>
// CHECK-NOT: alloc_tensor
// CHECK: scf.while
// CHECK-NOT: scf.while
// CHECK: return
func.func @short(%x: tensor<5x16xf32>) -> tensor<5x16xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<5x16xf32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// -----

// A long one is merged from sorted runs: the width quadruples per round, after a pass there and one back.
// CHECK-LABEL: @long
// CHECK-COUNT-2: bufferization.alloc_tensor() : tensor<1000xi32>
// CHECK: scf.while
// CHECK: scf.while
// CHECK: scf.for
// CHECK: scf.for
// CHECK: return
func.func @long(%x: tensor<1000x3xi32>) -> tensor<1000x3xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<1000x3xi32>) -> tensor<1000x3xi32>
  return %0 : tensor<1000x3xi32>
}
