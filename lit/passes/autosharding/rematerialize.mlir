// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-rematerialize="memory=10000 report" 2>&1 | FileCheck %s
// RUN: xla-opt %s -xla-rematerialize="memory=100000 report" 2>&1 | FileCheck %s --check-prefix=FITS
// RUN: not xla-opt %s -xla-rematerialize="machine=toaster" 2>&1 | FileCheck %s --check-prefix=MACHINE
// FITS: remark: 0 values are computed again by 0 operations
// FITS-NOT: optimization_barrier
// MACHINE: error: {{.*}}toaster

// %h lives while %wide (8 KB) does, and %x can make it again: 1024 + 1024 + 8192 bytes are more than 10000, 1024 + 8192 are not.
// CHECK: remark: 1 values are computed again by 1 operations: 9216 bytes at the worst time, 10240 before
// CHECK-LABEL: func @does(
// CHECK-SAME: [[X:%[a-z0-9]+]]: tensor<256xf32>
// CHECK: [[WIDE:%.+]] = stablehlo.concatenate
// CHECK: [[SUM:%.+]] = stablehlo.slice [[WIDE]]
// CHECK-NEXT: [[FENCED:%.+]] = stablehlo.optimization_barrier [[X]]
// CHECK-NEXT: [[AGAIN:%.+]] = stablehlo.tanh [[FENCED]]
// CHECK-NEXT: stablehlo.multiply [[SUM]], [[AGAIN]]
func.func @does(%x: tensor<256xf32>) -> tensor<256xf32> {
  %h = stablehlo.tanh %x : tensor<256xf32>
  %wide = stablehlo.concatenate %h, %h, %h, %h, %h, %h, %h, %h, dim = 0
      : (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<2048xf32>
  %rolled = stablehlo.negate %wide : tensor<2048xf32>
  %part = stablehlo.slice %rolled [0:256] : (tensor<2048xf32>) -> tensor<256xf32>
  %product = stablehlo.multiply %part, %h : tensor<256xf32>
  return %product : tensor<256xf32>
}
