// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device may use is limited: the message has the bytes, the limit and the device.
// RUN: not xla-run %s --seed=1 --quiet --memory-limit=6000 2>&1 | FileCheck %s
// RUN: xla-run %s --seed=1 --quiet --memory-limit=100000
// RUN: not xla-run %s --seed=1 --quiet --memory-limit=much 2>&1 | FileCheck %s --check-prefix=WORD

// CHECK: CpuDevice(id=0): cannot allocate 4000 bytes: 4000 are in use, and the limit is 6000
// WORD: --memory-limit expects a number, but got 'much'
func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = stablehlo.sine %x : tensor<1000xf32>
  return %0 : tensor<1000xf32>
}
