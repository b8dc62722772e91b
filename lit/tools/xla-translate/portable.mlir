// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program goes into an artifact and comes back; the artifact says for which version it is.
// RUN: xla-translate --serialize --target=1.0.0 %s -o %t.bc
// RUN: xla-opt %s > %t.0
// RUN: xla-translate --deserialize %t.bc | xla-opt | diff %t.0 -
// RUN: xla-translate --deserialize --print-stablehlo-version %t.bc | FileCheck %s
// RUN: xla-translate --deserialize --print-stablehlo-version %s | FileCheck %s -check-prefix=TEXT
// CHECK: // Reading portable artifact with StableHLO version: 1.0.0
// CHECK-NEXT: module {
// TEXT: // Failed parsing StableHLO version from portable artifact
// TEXT-NEXT: module {

// An artifact is input like any other: to serialize again, to evaluate, to run.
// RUN: xla-translate --serialize --target=1.0.0 --strip-debuginfo %t.bc -o %t.1.bc
// RUN: xla-translate --serialize --target=1.0.0 --strip-debuginfo %s | cmp - %t.1.bc
// RUN: xla-translate --interpret %t.1.bc | FileCheck %s -check-prefix=VALUE
// RUN: xla-run %t.bc | FileCheck %s -check-prefix=RUN-VALUE
// VALUE: 5.000000e+00
// RUN-VALUE: 5

// A patch number says nothing about operations, but stays in the producer's name.
// RUN: xla-translate --serialize --target=1.8.4 --strip-debuginfo %s | xla-translate --deserialize --print-stablehlo-version | FileCheck %s -check-prefix=PATCH
// PATCH: version: 1.8.4
// RUN: xla-translate --serialize --target=current %s | xla-translate --deserialize --print-stablehlo-version | FileCheck %s -check-prefix=CURRENT
// CURRENT: version: 1.20.0

// RUN: not xla-translate --serialize --target=0.8.0 %s 2>&1 | FileCheck %s -check-prefix=OLD
// OLD: error: target version 0.8.0 is less than minimum supported 0.9.0
// RUN: not xla-translate --serialize %s 2>&1 | FileCheck %s -check-prefix=NONE
// NONE: error: No target version specified.

// An artifact of a later version that cannot be read says so.
// RUN: %python -c "import sys; d = open(sys.argv[1], 'rb').read(); open(sys.argv[2], 'wb').write(d.replace(b'HLO_v1.0.0', b'HLO_v1.99.0'.replace(b'v1.99', b'v2.9')).replace(b'add_v1', b'add_v7'))" %t.bc %t.future.bc
// RUN: not xla-translate --deserialize %t.future.bc 2>&1 | FileCheck %s -check-prefix=FUTURE
// FUTURE: error: the artifact was written for StableHLO 2.9.0, this reader knows versions up to 1.20.0

func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<2.0> : tensor<f32>
  %1 = stablehlo.constant dense<3.0> : tensor<f32>
  %2 = stablehlo.add %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}
