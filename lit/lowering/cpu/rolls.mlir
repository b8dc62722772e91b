// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A stencil on a torus: one copy with borders along both dimensions, one kernel that reads its parts. Pieces of a concatenation are read where
// they lie.
// RUN: xla-run %s --verify --seed=2 --quiet --cache-dir=off
// RUN: xla-compile %s --emit=fused -o - | FileCheck %s
// CHECK-LABEL: func.func @main
// CHECK-COUNT-3: call @
// CHECK-NOT: call @
// CHECK: return
func.func @main(%x: tensor<48x37xf32>, %half: tensor<40x64xf32>) -> (tensor<48x37xf32>, tensor<40x64xf32>) {
  %0 = stablehlo.slice %x [1:48, 0:37] : (tensor<48x37xf32>) -> tensor<47x37xf32>
  %1 = stablehlo.slice %x [0:1, 0:37] : (tensor<48x37xf32>) -> tensor<1x37xf32>
  %up = stablehlo.concatenate %0, %1, dim = 0 : (tensor<47x37xf32>, tensor<1x37xf32>) -> tensor<48x37xf32>
  %2 = stablehlo.slice %x [47:48, 0:37] : (tensor<48x37xf32>) -> tensor<1x37xf32>
  %3 = stablehlo.slice %x [0:47, 0:37] : (tensor<48x37xf32>) -> tensor<47x37xf32>
  %down = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1x37xf32>, tensor<47x37xf32>) -> tensor<48x37xf32>
  %4 = stablehlo.slice %up [0:48, 2:37] : (tensor<48x37xf32>) -> tensor<48x35xf32>
  %5 = stablehlo.slice %up [0:48, 0:2] : (tensor<48x37xf32>) -> tensor<48x2xf32>
  %corner = stablehlo.concatenate %4, %5, dim = 1 : (tensor<48x35xf32>, tensor<48x2xf32>) -> tensor<48x37xf32>
  %6 = stablehlo.slice %x [0:48, 36:37] : (tensor<48x37xf32>) -> tensor<48x1xf32>
  %7 = stablehlo.slice %x [0:48, 0:36] : (tensor<48x37xf32>) -> tensor<48x36xf32>
  %right = stablehlo.concatenate %6, %7, dim = 1 : (tensor<48x1xf32>, tensor<48x36xf32>) -> tensor<48x37xf32>
  %8 = stablehlo.multiply %up, %corner : tensor<48x37xf32>
  %9 = stablehlo.subtract %8, %down : tensor<48x37xf32>
  %10 = stablehlo.add %9, %right : tensor<48x37xf32>
  %11 = stablehlo.slice %half [0:40, 32:64] : (tensor<40x64xf32>) -> tensor<40x32xf32>
  %12 = stablehlo.negate %11 : tensor<40x32xf32>
  %13 = stablehlo.slice %half [0:40, 0:32] : (tensor<40x64xf32>) -> tensor<40x32xf32>
  %14 = stablehlo.concatenate %12, %13, dim = 1 : (tensor<40x32xf32>, tensor<40x32xf32>) -> tensor<40x64xf32>
  return %10, %14 : tensor<48x37xf32>, tensor<40x64xf32>
}
