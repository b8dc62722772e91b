// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices at offsets of the run: reading one is part of the arithmetic on it, writing one copies it into the operand's buffer.
// RUN: xla-run %s --verify --seed=3 --quiet --cache-dir=off
// RUN: xla-compile %s --emit=fused -o - | FileCheck %s --check-prefix=FUSED
// RUN: xla-compile %s --time -o /dev/null --cache-dir=off 2>&1 | FileCheck %s --check-prefix=KERNELS

// FUSED: func.func private @multiply
// FUSED: stablehlo.dynamic_slice
// FUSED: stablehlo.dynamic_slice
// FUSED: stablehlo.multiply
// KERNELS: compile time per kernel
// KERNELS-NOT: generic
// KERNELS-DAG: row {{ *}}multiply
// KERNELS-DAG: movement {{ *}}dynamic_update_slice
// KERNELS-DAG: movement {{ *}}dynamic_update_slice
// KERNELS-DAG: movement {{ *}}dynamic_update_slice
// KERNELS-NOT: generic
func.func @main(%x: tensor<64x40x33xf32>, %y: tensor<64x40x33xf32>, %i: tensor<i32>, %rows: tensor<9x5000xf32>, %row: tensor<1x5000xf32>,
                %cache: tensor<12x64x20xbf16>, %new: tensor<12x3x20xbf16>, %b: tensor<300x7xi8>, %bu: tensor<300x3xi8>)
    -> (tensor<1x40x33xf32>, tensor<9x5000xf32>, tensor<12x64x20xbf16>, tensor<300x7xi8>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %i, %zero, %zero, sizes = [1, 40, 33] : (tensor<64x40x33xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x40x33xf32>
  %1 = stablehlo.dynamic_slice %y, %i, %zero, %zero, sizes = [1, 40, 33] : (tensor<64x40x33xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x40x33xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<1x40x33xf32>
  %3 = stablehlo.dynamic_update_slice %rows, %row, %i, %zero : (tensor<9x5000xf32>, tensor<1x5000xf32>, tensor<i32>, tensor<i32>) -> tensor<9x5000xf32>
  %4 = stablehlo.dynamic_update_slice %cache, %new, %zero, %i, %zero : (tensor<12x64x20xbf16>, tensor<12x3x20xbf16>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<12x64x20xbf16>
  %5 = stablehlo.dynamic_update_slice %b, %bu, %zero, %i : (tensor<300x7xi8>, tensor<300x3xi8>, tensor<i32>, tensor<i32>) -> tensor<300x7xi8>
  return %2, %3, %4, %5 : tensor<1x40x33xf32>, tensor<9x5000xf32>, tensor<12x64x20xbf16>, tensor<300x7xi8>
}
