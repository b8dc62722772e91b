// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last vector of a row has one element, of 8 bits, computed in 32: it is stored as one, and what lies behind it stays (AVX-512, LLVM 22.1.8).
// RUN: xla-compile %s --target=sapphirerapids --emit=llvm | FileCheck %s
// RUN: xla-run %s --verify --cache-dir=off
// CHECK-NOT: masked.store{{.*}}<16 x i1> <i1 true, i1 false
// CHECK: store i8
func.func @main(%x: tensor<33xi8>, %p: tensor<f8E3M4>) -> tensor<36xf8E3M4> {
  %0 = stablehlo.convert %x : (tensor<33xi8>) -> tensor<33xf8E3M4>
  %1 = stablehlo.pad %0, %p, low = [2], high = [1], interior = [0] : (tensor<33xf8E3M4>, tensor<f8E3M4>) -> tensor<36xf8E3M4>
  return %1 : tensor<36xf8E3M4>
}
