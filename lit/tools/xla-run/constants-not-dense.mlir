// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants with sparse elements or in a resource run, in machine code and in the evaluator; one without data is an error.
// RUN: xla-run %s | FileCheck %s
// RUN: xla-run %s --backend=interpreter | FileCheck %s
// RUN: not xla-run %s --entry=bad 2>&1 | FileCheck %s --check-prefix=BAD
// CHECK: 0{{.*}}7
// CHECK: 1{{.*}}2
// BAD: expects a resource of 8 bytes, but got 0
func.func @main() -> (tensor<4xi32>, tensor<2xf32>) {
  %0 = stablehlo.constant sparse<[[3]], [7]> : tensor<4xi32>
  %1 = stablehlo.constant dense_resource<r> : tensor<2xf32>
  return %0, %1 : tensor<4xi32>, tensor<2xf32>
}
func.func @bad() -> tensor<2xf32> {
  %0 = stablehlo.constant dense_resource<missing> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { r: "0x040000000000803F00000040" } } #-}
