// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A size of 0 leaves no elements, however large the product of the sizes before it is.
// RUN: xla-translate --serialize --target=1.0.0 %s -o %t.bc
// RUN: xla-translate --deserialize %t.bc | FileCheck %s
// RUN: xla-run %t.bc --verify --seed=1 --cache-dir=off | FileCheck %s --check-prefix=VALUE
// CHECK: stablehlo.add %arg0, %arg0 : tensor<1099511627776x1099511627776x0xf32>
// VALUE: dense<> : tensor<1099511627776x1099511627776x0xf32>

// RUN: sed s/x0xf32/x1xf32/g %s | xla-translate --serialize --target=1.0.0 - -o %t.many.bc
// RUN: not xla-translate --deserialize %t.many.bc 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: {{.*}}expects less than 2^59 elements
func.func @main(%x: tensor<1099511627776x1099511627776x0xf32>) -> tensor<1099511627776x1099511627776x0xf32> {
  %0 = stablehlo.add %x, %x : tensor<1099511627776x1099511627776x0xf32>
  return %0 : tensor<1099511627776x1099511627776x0xf32>
}
