// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels are cut for the threads and caches of the machine that is said, not for those of the machine that compiles.
// RUN: xla-opt %s "-xla-emit-kernels=target=avx512 threads=2" | FileCheck %s --check-prefix=TWO
// RUN: xla-opt %s "-xla-emit-kernels=target=avx512 threads=64" | FileCheck %s --check-prefix=MANY
// RUN: xla-opt %s "-xla-emit-kernels=target=avx512 caches=32K/8,128K/8" | FileCheck %s --check-prefix=SMALL
// RUN: not xla-opt %s "-xla-emit-kernels=target=avx512 caches=none" 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: target-caches expects size/ways of each level

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// TWO-LABEL:  func.func private @product_range(
// TWO-SAME:   millrace.emitter = "contraction", millrace.range_end = [[TWO:[0-9]]] : i64
// MANY-LABEL: func.func private @product_range(
// MANY-SAME:  millrace.emitter = "contraction", millrace.range_end = [[MANY:[0-9][0-9]+]] : i64
// SMALL-LABEL: func.func private @product_range(
// SMALL-SAME: millrace.emitter = "contraction", millrace.range_end = [[SMALL:[0-9]+]] : i64
func.func private @product(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> attributes {millrace.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1024x1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%init : tensor<1024x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}
