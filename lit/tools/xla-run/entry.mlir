// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --entry names the function that runs, in machine code and in the evaluator, with and without arguments from a file.
// RUN: xla-run %s --entry=double --args=%S/Inputs/three.npy | FileCheck %s --check-prefix=DOUBLE
// RUN: xla-run %s --entry=double --args=%S/Inputs/three.npy --backend=interpreter | FileCheck %s --check-prefix=DOUBLE
// RUN: xla-run %s --entry=seven | FileCheck %s --check-prefix=SEVEN
// RUN: xla-run %s --entry=seven --backend=interpreter | FileCheck %s --check-prefix=SEVEN
// RUN: xla-run %s --backend=interpreter | FileCheck %s --check-prefix=MAIN
// RUN: not xla-run %s --entry=none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not xla-run %s --entry=none --backend=interpreter 2>&1 | FileCheck %s --check-prefix=NONE
// DOUBLE: dense<6.0
// SEVEN: dense<7>
// MAIN: dense<1>
// NONE: the module has no function @none
func.func @main() -> tensor<i32> {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  return %0 : tensor<i32>
}
func.func @seven() -> tensor<i32> {
  %0 = stablehlo.constant dense<7> : tensor<i32>
  return %0 : tensor<i32>
}
func.func @double(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
