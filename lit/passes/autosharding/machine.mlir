// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over 64 devices takes 2 x 63 messages around a ring and 2 x 6 by halves; what is exchanged with everybody takes as many in both cases.
// RUN: echo '{"flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.ring.json
// RUN: echo '{"switched": true, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.switch.json
// RUN: echo '{"switched": 3, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.wrong.json
// RUN: xla-compile %s --machine=%t.ring.json --simulate | FileCheck %s --check-prefix=RING
// RUN: xla-compile %s --machine=%t.switch.json --simulate | FileCheck %s --check-prefix=SWITCH
// RUN: not xla-compile %s --machine=%t.wrong.json --simulate 2>&1 | FileCheck %s --check-prefix=WRONG
// RING: 126.{{[0-9]+}} ms in 1 all_reduce
// SWITCH: 12.{{[0-9]+}} ms in 1 all_reduce
// WRONG: machine description: expects true or false as 'switched', but got 3
module attributes {mhlo.num_partitions = 64 : i32} {
  sdy.mesh @mesh = <["x"=64]>
  func.func @main(%a: tensor<8x640xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>},
                  %b: tensor<640x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x640xf32>, tensor<640x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}
