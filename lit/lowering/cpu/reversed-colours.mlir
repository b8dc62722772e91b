// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few elements side by side for each place, places from the last to the first, or with a number that all of them share: vectors of places
// instead of single elements.
// RUN: xla-run %s --verify --quiet --cache-dir=off --profile=- 2>&1 | FileCheck %s
// CHECK-DAG: movement {{.*}}stablehlo.reverse
// CHECK-DAG: movement {{.*}}stablehlo.divide
func.func @main(%x: tensor<2x37x41x3xui8>, %p: tensor<63x2xf32>, %q: tensor<5x51x4xf64>, %b: tensor<33x3xi1>, %h: tensor<47x3xbf16>, %few: tensor<7x3xf32>, %y: tensor<29x31x3xui8>, %m: tensor<29x31x1xui16>) -> (tensor<2x37x41x3xui8>, tensor<63x2xf32>, tensor<5x51x4xf64>, tensor<33x3xi1>, tensor<47x3xbf16>, tensor<7x3xf32>, tensor<29x31x3xui8>, tensor<63x2xf32>) {
  %0 = stablehlo.reverse %x, dims = [1, 2] : tensor<2x37x41x3xui8>
  %1 = stablehlo.reverse %p, dims = [0] : tensor<63x2xf32>
  %2 = stablehlo.reverse %q, dims = [1] : tensor<5x51x4xf64>
  %3 = stablehlo.reverse %b, dims = [0] : tensor<33x3xi1>
  %4 = stablehlo.reverse %h, dims = [0] : tensor<47x3xbf16>
  %5 = stablehlo.reverse %few, dims = [0] : tensor<7x3xf32>
  %6 = stablehlo.convert %y : (tensor<29x31x3xui8>) -> tensor<29x31x3xui16>
  %7 = stablehlo.broadcast_in_dim %m, dims = [0, 1, 2] : (tensor<29x31x1xui16>) -> tensor<29x31x3xui16>
  %8 = stablehlo.multiply %6, %7 : tensor<29x31x3xui16>
  %c = stablehlo.constant dense<255> : tensor<29x31x3xui16>
  %9 = stablehlo.divide %8, %c : tensor<29x31x3xui16>
  %10 = stablehlo.convert %9 : (tensor<29x31x3xui16>) -> tensor<29x31x3xui8>
  %11 = stablehlo.reverse %p, dims = [0, 1] : tensor<63x2xf32>
  return %0, %1, %2, %3, %4, %5, %10, %11 : tensor<2x37x41x3xui8>, tensor<63x2xf32>, tensor<5x51x4xf64>, tensor<33x3xi1>, tensor<47x3xbf16>, tensor<7x3xf32>, tensor<29x31x3xui8>, tensor<63x2xf32>
}
