// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not xla-opt %s -sdy-resolve-permutation-factors=rng-bit-generator-unsafe=true 2>&1 | FileCheck %s
// RUN: xla-opt %s -sdy-resolve-permutation-factors=rng-bit-generator-unsafe=false -o %t
// CHECK: rng-bit-generator-unsafe is not supported: random bits are those of one device, whatever their sharding
func.func @main(%s: tensor<2xui64>) -> tensor<8xui32> {
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<8xui32>)
  return %1 : tensor<8xui32>
}
