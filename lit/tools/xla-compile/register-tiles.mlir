// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sums of a register tile stay in registers. LLVM's scheduler loads all factors of a step before the first product where addresses are
// scarce, as in convolutions that pack both factors; four of twelve sums waited in memory then.
// RUN: xla-compile %s --target=avx2 --emit=asm --cache-dir=off | FileCheck %s

// CHECK-LABEL: {{^}}maximum_{{.*}}:
// CHECK: vbroadcastss {{.*}}, [[FACTOR:%ymm[0-9]+]]
// CHECK-NEXT: vfmadd231ps {{.*}}[[FACTOR]]
// CHECK-NEXT: vfmadd231ps {{.*}}[[FACTOR]]
// CHECK-COUNT-5: vbroadcastss {{.*}}, [[FACTOR]]
// CHECK-NOT: vmovaps {{.*}}(%rsp)
// CHECK: incq
func.func @main(%x: tensor<1x30x30x512xf32>, %k: tensor<512x512x3x3xf32>) -> tensor<1x28x28x512xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<1x28x28x512xf32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x30x30x512xf32>, tensor<512x512x3x3xf32>) -> tensor<1x28x28x512xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<1x28x28x512xf32>
  return %1 : tensor<1x28x28x512xf32>
}
