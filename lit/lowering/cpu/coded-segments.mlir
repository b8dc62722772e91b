// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of words of neighbouring columns that are read before their sums are put in order: as many as there are pages whose addresses a core translates
// at once, at most those of a group and 128. Rows of 2048 bytes: 64 pages of 4 KB have 128 rows, 48 pages 96, of which the group is no multiple, but of
// 64. One row of x is no loop: only segments and columns are.
// RUN: xla-opt %s -xla-emit-kernels="target=avx512 threads=1" | FileCheck %s --check-prefixes=CHECK,PAGES64,APART
// RUN: xla-opt %s -xla-emit-kernels="target=cascadelake threads=1" | FileCheck %s --check-prefixes=CHECK,PAGES64,VNNI
// RUN: xla-opt %s -xla-emit-kernels="target=aarch64-dotprod threads=1" | FileCheck %s --check-prefixes=CHECK,PAGES48,APART

// CHECK-LABEL: func.func private @narrow_range(
// PAGES64:       scf.for %{{.*}} = %{{.*}} to %c2{{(_[0-9]+)?}} step %c1
// PAGES48:       scf.for %{{.*}} = %{{.*}} to %c4{{(_[0-9]+)?}} step %c1
// PAGES64:         scf.for %{{.*}} step %c128
// PAGES48:         scf.for %{{.*}} step %c32
// CHECK-NOT:         scf.for
// APART:             arith.shrui %{{.*}} : vector<{{16|64}}xi8>
// Four unsigned bytes in a lane: the high halves are multiplied with the low ones beneath them, whose sums are subtracted.
// VNNI-NOT:          arith.shrui
// VNNI:              %[[HIGH:.*]] = arith.subi %{{.*}} : vector<16xi32>
// VNNI:              arith.shrsi %[[HIGH]], %{{.*}} : vector<16xi32>
func.func private @narrow(%words: tensor<2x128x512xi32>, %x: tensor<1x1x2x128xi8>, %scales: tensor<2x4096xf32>) -> tensor<1x4096xf32>
    attributes {millrace.coded_product = {across = array<i64: 0, 4, 1, 5, 2, 6, 3, 7>,
                by_rows = true, narrow = false, packed = true, ragged = false, scaled = true, signed = false, zero = 0 : i64, zeros = false}, millrace.kernel} {
  %0 = stablehlo.constant dense<0.0> : tensor<1x4096xf32>
  return %0 : tensor<1x4096xf32>
}

// Rows of 8192 bytes: 32 or 24 on as many pages, of which 16 divide the group.
// CHECK-LABEL: func.func private @wide_range(
// PAGES64:       scf.for %{{.*}} = %{{.*}} to %c8{{(_[0-9]+)?}} step %c1
// PAGES48:       scf.for %{{.*}} = %{{.*}} to %c16{{(_[0-9]+)?}} step %c1
func.func private @wide(%words: tensor<2x128x2048xi32>, %x: tensor<1x1x2x128xi8>, %scales: tensor<2x16384xf32>) -> tensor<1x16384xf32>
    attributes {millrace.coded_product = {across = array<i64: 0, 4, 1, 5, 2, 6, 3, 7>,
                by_rows = true, narrow = false, packed = true, ragged = false, scaled = true, signed = false, zero = 0 : i64, zeros = false}, millrace.kernel} {
  %0 = stablehlo.constant dense<0.0> : tensor<1x16384xf32>
  return %0 : tensor<1x16384xf32>
}
