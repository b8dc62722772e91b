// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reversed groups of a few elements, with nothing computed, are one vector each: loaded, permuted, stored. Lengths that no vector divides, and
// types for which fewer groups fit.
// RUN: xla-run %s --verify --quiet --cache-dir=off
// RUN: xla-run %s --verify --quiet --cache-dir=off --quick
// RUN: xla-compile %s --entry=pixels --emit=asm --target=icelake-server | FileCheck %s
// CHECK: vpermb
// CHECK-NOT: vpshufb
// Processors without such vectors keep the lanes of one element of all groups.
// RUN: xla-compile %s --entry=pixels --emit=asm --target=avx2 | FileCheck %s --check-prefix=AVX2
// AVX2: vpshufb
func.func @pixels(%x: tensor<5x37x3xui8>) -> tensor<5x37x3xui8> {
  %0 = stablehlo.reverse %x, dims = [1] : tensor<5x37x3xui8>
  return %0 : tensor<5x37x3xui8>
}
func.func @brighter(%x: tensor<5x37x3xui8>) -> tensor<5x37x3xui8> {
  %c = stablehlo.constant dense<3> : tensor<5x37x3xui8>
  %0 = stablehlo.reverse %x, dims = [1] : tensor<5x37x3xui8>
  %1 = stablehlo.multiply %0, %c : tensor<5x37x3xui8>
  return %1 : tensor<5x37x3xui8>
}
func.func @main(%x: tensor<5x37x3xui8>, %y: tensor<3x41x4xi8>, %h: tensor<4x35x3xbf16>, %f: tensor<3x33x3xf32>, %d: tensor<2x17x4xf64>, %i: tensor<3x19x2xi64>, %s: tensor<6x50x3xf16>, %b: tensor<33x3xi1>) -> (tensor<5x37x3xui8>, tensor<5x37x3xui8>, tensor<5x37x3xui8>, tensor<3x41x4xi8>, tensor<3x41x4xi8>, tensor<4x35x3xbf16>, tensor<4x35x3xbf16>, tensor<3x33x3xf32>, tensor<2x17x4xf64>, tensor<3x19x2xi64>, tensor<6x40x3xf16>, tensor<33x3xi1>, tensor<5x37x3xui8>) {
  %0 = stablehlo.reverse %x, dims = [1] : tensor<5x37x3xui8>
  %1 = stablehlo.reverse %x, dims = [2] : tensor<5x37x3xui8>
  %2 = stablehlo.reverse %x, dims = [0, 1, 2] : tensor<5x37x3xui8>
  %3 = stablehlo.reverse %y, dims = [1] : tensor<3x41x4xi8>
  %4 = stablehlo.reverse %y, dims = [0, 2] : tensor<3x41x4xi8>
  %5 = stablehlo.reverse %h, dims = [0, 1] : tensor<4x35x3xbf16>
  %6 = stablehlo.reverse %h, dims = [2] : tensor<4x35x3xbf16>
  %7 = stablehlo.reverse %f, dims = [1] : tensor<3x33x3xf32>
  %8 = stablehlo.reverse %d, dims = [1] : tensor<2x17x4xf64>
  %9 = stablehlo.reverse %i, dims = [0, 1] : tensor<3x19x2xi64>
  %10 = stablehlo.slice %s [0:6, 5:45, 0:3] : (tensor<6x50x3xf16>) -> tensor<6x40x3xf16>
  %11 = stablehlo.reverse %10, dims = [1] : tensor<6x40x3xf16>
  %12 = stablehlo.reverse %b, dims = [0] : tensor<33x3xi1>
  %13 = func.call @brighter(%x) : (tensor<5x37x3xui8>) -> tensor<5x37x3xui8>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %11, %12, %13 : tensor<5x37x3xui8>, tensor<5x37x3xui8>, tensor<5x37x3xui8>, tensor<3x41x4xi8>, tensor<3x41x4xi8>, tensor<4x35x3xbf16>, tensor<4x35x3xbf16>, tensor<3x33x3xf32>, tensor<2x17x4xf64>, tensor<3x19x2xi64>, tensor<6x40x3xf16>, tensor<33x3xi1>, tensor<5x37x3xui8>
}
