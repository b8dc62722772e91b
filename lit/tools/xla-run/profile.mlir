// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// --profile names each kernel with its calls, arithmetic, traffic and emitter, and other steps; it needs no cold compilation.
// RUN: xla-run %s --profile=- --quiet --cache-dir=%t.cache | FileCheck %s --check-prefix=TABLE
// RUN: xla-run %s --profile=%t.json --repeat=3 --quiet --cache-dir=%t.cache && FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: not xla-run %s --profile=%t.none/file.json --quiet --cache-dir=off 2>&1 | FileCheck %s --check-prefix=BAD
// TABLE: profile, per execution: median us, share, calls, GFLOP/s, GB/s, emitter, kernel, operations
// TABLE-DAG: {{[0-9.]+% +1 .*contraction.* stablehlo.dot_general}}
// TABLE-DAG: {{[0-9.]+% +50 .* stablehlo.sine}}
// JSON-DAG: "calls": 50,
// JSON-DAG: "flops": 524288,
// JSON-DAG: "bytes_read": 819200,
// JSON-DAG: "bytes_written": 16384,
// BAD: cannot write
func.func @main(%a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %fifty = stablehlo.constant dense<50> : tensor<i32>
  %1:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<64x64xf32>
    cond {
      %p = stablehlo.compare LT, %i, %fifty : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.sine %x : tensor<64x64xf32>
      stablehlo.return %j, %y : tensor<i32>, tensor<64x64xf32>
    }
  return %0, %1#1 : tensor<64x64xf32>, tensor<64x64xf32>
}
