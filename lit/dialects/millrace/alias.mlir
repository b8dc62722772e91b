// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s | xla-opt | FileCheck %s
// RUN: xla-opt %s -canonicalize | FileCheck %s --check-prefix=FOLD

// Aliases are printed and read as they are; -canonicalize removes those that change nothing.
// CHECK-LABEL: @parts
// CHECK: millrace.alias %{{.*}} : tensor<4xcomplex<f32>> to tensor<4x2xf32>
// FOLD-LABEL: @parts
// FOLD: millrace.alias
func.func @parts(%x: tensor<4xcomplex<f32>>) -> tensor<4x2xf32> {
  %0 = millrace.alias %x : tensor<4xcomplex<f32>> to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// A byte for each element of fewer bits.
// CHECK-LABEL: @bytes
// CHECK: millrace.alias %{{.*}} : tensor<8xi1> to tensor<2xf32>
func.func @bytes(%x: tensor<8xi1>) -> tensor<2xf32> {
  %0 = millrace.alias %x : tensor<8xi1> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// FOLD-LABEL: @there_and_back
// FOLD-NOT: millrace.alias
// FOLD: return %arg0
func.func @there_and_back(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = millrace.alias %x : tensor<4xcomplex<f32>> to tensor<4x2xf32>
  %1 = millrace.alias %0 : tensor<4x2xf32> to tensor<4xcomplex<f32>>
  return %1 : tensor<4xcomplex<f32>>
}
