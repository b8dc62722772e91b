// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A sum over 64 devices takes 2 x 63 messages around a ring and 2 x 6 by halves; what is exchanged with everybody takes as many in both cases. In one
// memory it is a meeting, to which each of 63 others comes once, and all of the operand is read and written: 2 x 256 bytes at 1e3 a second, the first 312
// of them at 2e3 where a cache holds so many.
// RUN: echo '{"flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.ring.json
// RUN: echo '{"switched": true, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.switch.json
// RUN: echo '{"switched": 3, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.wrong.json
// RUN: echo '{"shared_memory": true, "meeting_seconds": 1e-2, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.shared.json
// RUN: echo '{"shared_memory": true, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e3, "seconds": 1e-9}]}' > %t.slow.json
// RUN: echo '{"shared_memory": true, "switched": true, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.both.json
// RUN: echo '{"meeting_seconds": 1e-2, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.alone.json
// RUN: echo '{"kernel_seconds": 0.5, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e10, "seconds": 1e-3}]}' > %t.kernel.json
// RUN: echo '{"shared_memory": true, "cache_bytes": 312, "cache_bytes_per_second": 1e11, "flops_per_second": 1e12, "bytes_per_second": 1e11, \
// RUN:   "memory_bytes": 1e10, "links": [{"devices": 64, "bytes_per_second": 1e3, "cache_bytes_per_second": 2e3, "seconds": 1e-9}]}' > %t.near.json
// RUN: echo '{"cache_bytes": 312, "flops_per_second": 1e12, "bytes_per_second": 1e11, "memory_bytes": 1e10, \
// RUN:   "links": [{"devices": 64, "bytes_per_second": 1e3, "seconds": 1e-9}]}' > %t.half.json
// RUN: xla-compile %s --machine=%t.ring.json --simulate | FileCheck %s --check-prefix=RING
// RUN: xla-compile %s --machine=%t.switch.json --simulate | FileCheck %s --check-prefix=SWITCH
// RUN: not xla-compile %s --machine=%t.wrong.json --simulate 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: xla-compile %s --machine=%t.shared.json --simulate | FileCheck %s --check-prefix=SHARED
// RUN: xla-compile %s --machine=%t.slow.json --simulate | FileCheck %s --check-prefix=SLOW
// RUN: xla-compile %s --machine=%t.near.json --simulate | FileCheck %s --check-prefix=NEAR
// RUN: not xla-compile %s --machine=%t.half.json --simulate 2>&1 | FileCheck %s --check-prefix=HALF
// RUN: not xla-compile %s --machine=%t.both.json --simulate 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not xla-compile %s --machine=%t.alone.json --simulate 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: xla-compile %s --machine=%t.kernel.json --simulate | FileCheck %s --check-prefix=KERNEL
// RUN: %python -c "print('[' * 100000)" > %t.deep.json
// RUN: not xla-compile %s --machine=%t.deep.json --simulate 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: sed 's/"devices": 64/"devices": 2.5/' %t.ring.json > %t.fraction.json
// RUN: not xla-compile %s --machine=%t.fraction.json --simulate 2>&1 | FileCheck %s --check-prefix=FRACTION
// RUN: sed 's/"seconds": 1e-3/"seconds": 1e-3, "second": 1/' %t.ring.json > %t.unknown.json
// RUN: not xla-compile %s --machine=%t.unknown.json --simulate 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed 's/"flops_per_second": 1e12/"flops_per_second": 1e-310/' %t.ring.json > %t.tiny.json
// RUN: not xla-compile %s --machine=%t.tiny.json --simulate 2>&1 | FileCheck %s --check-prefix=TINY
// DEEP: machine description: expects at most 16 levels of nesting
// FRACTION: machine description: links[0] expects more than 1 'devices', a whole number, but got 2.5
// UNKNOWN: machine description: links[0] 'second' is unknown; known are devices, bytes_per_second, seconds, cache_bytes_per_second
// TINY: machine description: expects a number from 1e-30 to 1e30 as 'flops_per_second', but got
// RING: 126.{{[0-9]+}} ms in 1 all_reduce
// SWITCH: 12.{{[0-9]+}} ms in 1 all_reduce
// SHARED: 73.{{[0-9]+}} ms in 1 all_reduce
// SLOW: 512.000 ms in 1 all_reduce
// NEAR: 356.000 ms in 1 all_reduce
// HALF: machine description: expects both 'cache_bytes' and 'cache_bytes_per_second', or none of them
// BOTH: machine description: expects 'switched' or 'shared_memory', but got both
// ALONE: machine description: expects 'meeting_seconds' beside 'shared_memory' only
// KERNEL: 500.{{[0-9]+}} ms computing
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
