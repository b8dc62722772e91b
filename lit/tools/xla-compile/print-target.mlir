// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What code generation knows of the machine can be seen and said otherwise: by options, and by variables of the environment.
// RUN: xla-compile --print-target | FileCheck %s --check-prefix=HOST
// HOST: triple: {{.+}}
// HOST: threads: {{[0-9]+}}
// HOST: level 1 cache: {{[0-9]+}} KiB
// HOST: level 2 cache: {{[0-9]+}} KiB
// HOST: as options: --target-threads={{[0-9]+}} --target-caches={{[0-9]+[KM]}}/{{.*}}
// HOST: features:
// RUN: xla-compile --print-target --target=avx2 | FileCheck %s --check-prefix=NAMED
// NAMED: processor: x86-64-v3
// NAMED: threads: 2
// NAMED: as options: --target-threads=2 --target-caches=32K/8,1M/16,32M/16
// NAMED: features: {{.*}}avx2{{.*}}fma
// RUN: xla-compile --print-target --target=avx2 --target-threads=64 --target-caches=48K/12,2M/16,105M/15 | FileCheck %s --check-prefix=SAID
// SAID: threads: 64
// SAID: level 1 cache: 48 KiB, 12 ways, lines of 64 bytes
// SAID: level 2 cache: 2048 KiB, 16 ways
// SAID: level 3 cache: 107520 KiB, 15 ways
// SAID: as options: --target-threads=64 --target-caches=48K/12,2M/16,105M/15
// RUN: env MILLRACE_TARGET=avx2 MILLRACE_TARGET_THREADS=7 MILLRACE_TARGET_CACHES=32K/8,512K/8 xla-compile --print-target | FileCheck %s --check-prefix=ENVIRONMENT
// ENVIRONMENT: processor: x86-64-v3
// ENVIRONMENT: threads: 7
// ENVIRONMENT: as options: --target-threads=7 --target-caches=32K/8,512K/8
// Kernels are cut for the threads that are said (lit/lowering/cpu/emitters/threads.mlir); results stay.
// RUN: xla-run %s --cache-dir=off --target-threads=1 --out=%t.1.npy --quiet
// RUN: xla-run %s --cache-dir=off --target-threads=64 --target-caches=32K/8,256K/4 --out=%t.64.npy --quiet
// RUN: cmp %t.1.npy %t.64.npy
// RUN: not xla-compile %s --target-caches=32K/8 2>&1 | FileCheck %s --check-prefix=ONE-LEVEL
// ONE-LEVEL: error: --target-caches expects two to four levels, for example 32K/8,1M/16,32M/16, but got '32K/8'
// RUN: not xla-compile %s --target-caches=1M/16,32K/8 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: --target-caches expects size/ways of each level from the first on, at least two, none smaller than the one before
// RUN: not xla-compile %s --target-threads=100000 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: --target-threads expects a number from 1 to 1024, but got 100000
// RUN: not env MILLRACE_TARGET_THREADS=lots xla-compile %s --cache-dir=off -o %t.mr 2>&1 | FileCheck %s --check-prefix=VARIABLE
// VARIABLE: the environment's MILLRACE_TARGET variables: target-threads expects a number, but got 'lots'
// RUN: xla-compile %s -o %t.mr --cache-dir=off && not xla-run %t.mr --target-threads=3 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: --target-threads is for the compiler, and this program is compiled

func.func @main(%a: tensor<320x256xf32>, %b: tensor<256x384xf32>) -> tensor<320x384xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<320x256xf32>, tensor<256x384xf32>) -> tensor<320x384xf32>
  %1 = stablehlo.tanh %0 : tensor<320x384xf32>
  return %1 : tensor<320x384xf32>
}
