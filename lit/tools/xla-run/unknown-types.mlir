// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types that MLIR has and StableHLO has not are refused where they stand, before anything fails that nobody wrote.
// RUN: split-file %s %t
// RUN: not xla-run %t/width.mlir 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not xla-run --backend=interpreter %t/width.mlir 2>&1 | FileCheck %s --check-prefix=WIDTH
// RUN: not xla-run %t/complex.mlir 2>&1 | FileCheck %s --check-prefix=COMPLEX
// RUN: not xla-run --backend=interpreter %t/complex.mlir 2>&1 | FileCheck %s --check-prefix=COMPLEX
// RUN: not xla-run %t/float.mlir 2>&1 | FileCheck %s --check-prefix=FLOAT

// WIDTH: width.mlir:1:{{.*}}: error: expects an element type of StableHLO, but got i3, in type 'tensor<2xi3>' of argument 0 of @main
//--- width.mlir
func.func @main(%x: tensor<2xi3>) -> tensor<2xi3> {
  return %x : tensor<2xi3>
}
// COMPLEX: error: expects an element type of StableHLO, but got complex<i32>, in type 'tensor<complex<i32>>' of argument 0 of @main
//--- complex.mlir
func.func @main(%x: tensor<complex<i32>>) -> tensor<complex<i32>> {
  return %x : tensor<complex<i32>>
}
// FLOAT: error: expects an element type of StableHLO, but got f80, in type 'tensor<f80>' of result 0 of 'tensor.empty'
//--- float.mlir
func.func @main() -> tensor<f32> {
  %0 = tensor.empty() : tensor<f80>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  return %1 : tensor<f32>
}
