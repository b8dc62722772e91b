// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes that are not known cannot be planned.
// RUN: not xla-compile %s --auto-sharding --mesh=a=2 --simulate 2>&1 | FileCheck %s
// RUN: not xla-run %s --auto-sharding --mesh=a=2 2>&1 | FileCheck %s
// RUN: not xla-compile %s --mesh=a=2 --simulate 2>&1 | FileCheck %s --check-prefix=SIMULATE
// CHECK: error: UNIMPLEMENTED: automatic sharding of a program with dynamic shapes
// SIMULATE: error: UNIMPLEMENTED: a simulated step of a program with dynamic shapes
func.func @main(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = stablehlo.tanh %x : tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
