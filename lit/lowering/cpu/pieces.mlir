// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results that are joined from pieces, none by the generic path: rolls, mirrored borders with strided and reversed parts, rows, columns and
// colours in turns, padding between elements.
// RUN: xla-run %s --verify --seed=4 --quiet --cache-dir=off
// RUN: xla-compile %s --time -o /dev/null --cache-dir=off 2>&1 | FileCheck %s
// CHECK: compile time per kernel
// CHECK-NOT: generic
func.func @main(%x: tensor<41x53xf32>, %y: tensor<7x53xf32>, %b: tensor<67x5xbf16>, %c: tensor<67x5xbf16>, %i: tensor<3x1000xi8>, %w: tensor<2x3x17x19xf32>)
    -> (tensor<41x53xf32>, tensor<47x59xf32>, tensor<48x53xf32>, tensor<67x5x2xbf16>, tensor<1000x3xi8>, tensor<85x160xf32>, tensor<2x17x3x19x2xf32>) {
  %0 = stablehlo.slice %x [37:41, 0:53] : (tensor<41x53xf32>) -> tensor<4x53xf32>
  %1 = stablehlo.slice %x [0:37, 0:53] : (tensor<41x53xf32>) -> tensor<37x53xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<4x53xf32>, tensor<37x53xf32>) -> tensor<41x53xf32>
  %3 = stablehlo.slice %2 [0:41, 45:53] : (tensor<41x53xf32>) -> tensor<41x8xf32>
  %4 = stablehlo.slice %2 [0:41, 0:45] : (tensor<41x53xf32>) -> tensor<41x45xf32>
  %rolled = stablehlo.concatenate %3, %4, dim = 1 : (tensor<41x8xf32>, tensor<41x45xf32>) -> tensor<41x53xf32>

  %5 = stablehlo.slice %x [1:4, 0:53] : (tensor<41x53xf32>) -> tensor<3x53xf32>
  %6 = stablehlo.reverse %5, dims = [0] : tensor<3x53xf32>
  %7 = stablehlo.slice %x [35:41:2, 0:53] : (tensor<41x53xf32>) -> tensor<3x53xf32>
  %8 = stablehlo.concatenate %6, %x, %7, dim = 0 : (tensor<3x53xf32>, tensor<41x53xf32>, tensor<3x53xf32>) -> tensor<47x53xf32>
  %9 = stablehlo.slice %8 [0:47, 1:4] : (tensor<47x53xf32>) -> tensor<47x3xf32>
  %10 = stablehlo.reverse %9, dims = [1, 0] : tensor<47x3xf32>
  %11 = stablehlo.slice %8 [0:47, 49:52] : (tensor<47x53xf32>) -> tensor<47x3xf32>
  %12 = stablehlo.reverse %11, dims = [1] : tensor<47x3xf32>
  %mirrored = stablehlo.concatenate %10, %8, %12, dim = 1 : (tensor<47x3xf32>, tensor<47x53xf32>, tensor<47x3xf32>) -> tensor<47x59xf32>

  %rows = stablehlo.concatenate %y, %x, dim = 0 : (tensor<7x53xf32>, tensor<41x53xf32>) -> tensor<48x53xf32>

  %13 = stablehlo.reshape %b : (tensor<67x5xbf16>) -> tensor<67x5x1xbf16>
  %14 = stablehlo.reshape %c : (tensor<67x5xbf16>) -> tensor<67x5x1xbf16>
  %pairs = stablehlo.concatenate %13, %14, dim = 2 : (tensor<67x5x1xbf16>, tensor<67x5x1xbf16>) -> tensor<67x5x2xbf16>

  %colours = stablehlo.transpose %i, dims = [1, 0] : (tensor<3x1000xi8>) -> tensor<1000x3xi8>

  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %apart = stablehlo.pad %x, %one, low = [1, 0], high = [3, 3], interior = [1, 2] : (tensor<41x53xf32>, tensor<f32>) -> tensor<85x160xf32>

  %15 = stablehlo.reshape %w : (tensor<2x3x17x19xf32>) -> tensor<2x3x17x19x1xf32>
  %16 = stablehlo.negate %15 : tensor<2x3x17x19x1xf32>
  %17 = stablehlo.concatenate %15, %16, dim = 4 : (tensor<2x3x17x19x1xf32>, tensor<2x3x17x19x1xf32>) -> tensor<2x3x17x19x2xf32>
  %turned = stablehlo.transpose %17, dims = [0, 2, 1, 3, 4] : (tensor<2x3x17x19x2xf32>) -> tensor<2x17x3x19x2xf32>
  return %rolled, %mirrored, %rows, %pairs, %colours, %apart, %turned : tensor<41x53xf32>, tensor<47x59xf32>, tensor<48x53xf32>, tensor<67x5x2xbf16>, tensor<1000x3xi8>, tensor<85x160xf32>, tensor<2x17x3x19x2xf32>
}
