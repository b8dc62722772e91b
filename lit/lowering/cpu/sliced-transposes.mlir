// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transpositions of parts: heads, steps, odd sizes, bytes, booleans, wide and narrow numbers.
// RUN: xla-run %s --verify --quiet --cache-dir=off
// RUN: xla-compile %s --emit=fused | FileCheck %s
// CHECK-COUNT-7: call @transpose
// CHECK-NOT: call @slice
func.func @main(%q: tensor<2x37x99xf32>, %i: tensor<2x37x21x4xui8>, %x: tensor<131x77xf32>, %h: tensor<3x65x33xbf16>, %l: tensor<45x131xi64>, %m: tensor<70x67xi1>) -> (tensor<2x3x37x11xf32>, tensor<2x3x37x21xui8>, tensor<38x43xf32>, tensor<31x64x3xbf16>, tensor<130x44xi64>, tensor<65x69xi1>, tensor<2x3x11x37xf32>) {
  %0 = stablehlo.slice %q [0:2, 0:37, 33:66] : (tensor<2x37x99xf32>) -> tensor<2x37x33xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x37x33xf32>) -> tensor<2x37x3x11xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1, 3] : (tensor<2x37x3x11xf32>) -> tensor<2x3x37x11xf32>
  %3 = stablehlo.slice %i [0:2, 0:37, 0:21, 0:3] : (tensor<2x37x21x4xui8>) -> tensor<2x37x21x3xui8>
  %4 = stablehlo.transpose %3, dims = [0, 3, 1, 2] : (tensor<2x37x21x3xui8>) -> tensor<2x3x37x21xui8>
  %5 = stablehlo.slice %x [2:131:3, 1:77:2] : (tensor<131x77xf32>) -> tensor<43x38xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<43x38xf32>) -> tensor<38x43xf32>
  %7 = stablehlo.slice %h [0:3, 1:65, 2:33] : (tensor<3x65x33xbf16>) -> tensor<3x64x31xbf16>
  %8 = stablehlo.transpose %7, dims = [2, 1, 0] : (tensor<3x64x31xbf16>) -> tensor<31x64x3xbf16>
  %9 = stablehlo.slice %l [1:45, 1:131] : (tensor<45x131xi64>) -> tensor<44x130xi64>
  %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<44x130xi64>) -> tensor<130x44xi64>
  %11 = stablehlo.slice %m [1:70, 2:67] : (tensor<70x67xi1>) -> tensor<69x65xi1>
  %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<69x65xi1>) -> tensor<65x69xi1>
  %13 = stablehlo.slice %q [0:2, 0:37, 0:33] : (tensor<2x37x99xf32>) -> tensor<2x37x33xf32>
  %14 = stablehlo.reshape %13 : (tensor<2x37x33xf32>) -> tensor<2x37x3x11xf32>
  %15 = stablehlo.transpose %14, dims = [0, 2, 3, 1] : (tensor<2x37x3x11xf32>) -> tensor<2x3x11x37xf32>
  return %2, %4, %6, %8, %10, %12, %15 : tensor<2x3x37x11xf32>, tensor<2x3x37x21xui8>, tensor<38x43xf32>, tensor<31x64x3xbf16>, tensor<130x44xi64>, tensor<65x69xi1>, tensor<2x3x11x37xf32>
}
