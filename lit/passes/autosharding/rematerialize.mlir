// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: xla-opt %s -xla-rematerialize-values="memory=17411 report" 2>/dev/null | FileCheck %s
// RUN: xla-opt %s -xla-rematerialize-values="memory=17411 report" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK
// RUN: xla-opt %s -xla-rematerialize-values="memory=100000 report" 2>&1 | FileCheck %s --check-prefix=FITS
// RUN: not xla-opt %s -xla-rematerialize-values="machine=toaster" 2>&1 | FileCheck %s --check-prefix=MACHINE
// FITS: remark: 0 values are computed again by 0 operations
// FITS-NOT: optimization_barrier
// MACHINE: error: {{.*}}toaster

// %x, %h, %wide and %rolled are live at once, 2 x 1 KB and 2 x 8 KB; %x makes %h again.
// REMARK: remark: 1 values are computed again by 1 operations: 17408 bytes at the worst time, 18432 before
// CHECK-LABEL: func @does(
// CHECK-SAME: [[X:%[a-z0-9]+]]: tensor<256xf32>
// CHECK: stablehlo.concatenate
// CHECK: [[PART:%.+]] = stablehlo.slice
// CHECK-NEXT: [[FENCED:%.+]] = stablehlo.optimization_barrier [[X]]
// CHECK-NEXT: [[AGAIN:%.+]] = stablehlo.tanh [[FENCED]]
// CHECK-NEXT: stablehlo.multiply [[PART]], [[AGAIN]]
func.func @does(%x: tensor<256xf32>) -> tensor<256xf32> {
  %h = stablehlo.tanh %x : tensor<256xf32>
  %wide = stablehlo.concatenate %h, %h, %h, %h, %h, %h, %h, %h, dim = 0
      : (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<2048xf32>
  %rolled = stablehlo.negate %wide : tensor<2048xf32>
  %part = stablehlo.slice %rolled [0:256] : (tensor<2048xf32>) -> tensor<256xf32>
  %product = stablehlo.multiply %part, %h : tensor<256xf32>
  return %product : tensor<256xf32>
}

// Random numbers are kept, although nothing reads them while %wide lives: another draw would give others.
// REMARK: remark: 0 values are computed again by 0 operations: 17412 bytes at the worst time, 17412 before
// CHECK-LABEL: func @does_not(
// CHECK-NOT: optimization_barrier
// CHECK: return
func.func @does_not(%lo: tensor<f32>) -> tensor<256xf32> {
  %shape = stablehlo.constant dense<256> : tensor<1xi64>
  %h = stablehlo.rng %lo, %lo, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<256xf32>
  %wide = stablehlo.concatenate %h, %h, %h, %h, %h, %h, %h, %h, dim = 0
      : (tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>) -> tensor<2048xf32>
  %rolled = stablehlo.negate %wide : tensor<2048xf32>
  %part = stablehlo.slice %rolled [0:256] : (tensor<2048xf32>) -> tensor<256xf32>
  %product = stablehlo.multiply %part, %h : tensor<256xf32>
  return %product : tensor<256xf32>
}
