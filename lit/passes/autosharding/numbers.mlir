// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Infinite numbers are null in JSON, which has no infinity: a loop is assumed to turn a hundred times, so that a nest of 160 takes 1e320 turns. Values of
// more bytes than 64 bits count are an error that names the largest.
// RUN: %python %S/Inputs/nested_loops.py 160 > %t.mlir
// RUN: xla-compile %t.mlir --simulate --machine=h100 --cache-dir=off -o %t.json
// RUN: %python -c "import json, sys; found = json.load(open(sys.argv[1]), parse_constant=lambda name: sys.exit(name)); assert found['seconds'] is None, found" %t.json
// RUN: not xla-compile %s --auto-sharding --mesh=a=2 --simulate --cache-dir=off 2>&1 | FileCheck %s
// RUN: not xla-compile %s --simulate --cache-dir=off 2>&1 | FileCheck %s --check-prefix=SIMULATE
// CHECK: error: UNIMPLEMENTED: automatic sharding of a program whose values have more than 2^62 bytes together; the largest is 'tensor<2147483648x2147483647xf32>'
// SIMULATE: error: UNIMPLEMENTED: a simulated step of a program whose values have more than 2^62 bytes together; the largest is 'tensor<2147483648x2147483647xf32>'
func.func @main(%x: tensor<2147483648x8xf32>, %w: tensor<8x2147483647xf32>) -> tensor<2147483648x2147483647xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2147483648x8xf32>, tensor<8x2147483647xf32>) -> tensor<2147483648x2147483647xf32>
  return %0 : tensor<2147483648x2147483647xf32>
}
