// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiplications and additions of formulas say that they may be rounded once; portable artifacts do without.
// RUN: xla-opt %s -chlo-pre-serialization-pipeline | FileCheck %s --check-prefix=FORMULA
// RUN: xla-opt %s -chlo-pre-serialization-pipeline | xla-translate --serialize --target=1.9.0 | xla-translate --deserialize | FileCheck %s

// FORMULA: stablehlo.multiply {{.*}} {millrace.may_fuse}
// FORMULA: stablehlo.add {{.*}} {millrace.may_fuse}
// CHECK-NOT: may_fuse
// CHECK: stablehlo.multiply
// CHECK-NOT: may_fuse
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = chlo.erf %x : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
