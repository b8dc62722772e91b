// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A limit of memory holds for the partitioned program. Where no candidate can be partitioned, the report says why, so that none was compared, and with a
// limit a warning says that it holds for the values of the plan alone.
// RUN: xla-opt %s --xla-auto-sharding="memory-per-device=1000000 report" 2>&1 >/dev/null | FileCheck %s
// RUN: xla-opt %s --xla-auto-sharding="report" 2>&1 >/dev/null | FileCheck %s --check-prefix=FREE
// CHECK: warning: automatic sharding within 1000000 bytes per device; the limit holds for values of the plan alone, because the program cannot be partitioned: {{.*}}outfeed
// CHECK: remark: sharded for {{.*}}; the limit holds for values of the plan alone, because the program cannot be partitioned: {{.*}}outfeed
// FREE-NOT: warning
// FREE: remark: sharded for {{.*}} edges; it was compared with no other program, because none can be partitioned: {{.*}}outfeed
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=4]>
  func.func @main(%x: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<64x64xf32>, %token: !stablehlo.token)
      -> (tensor<64x64xf32>, !stablehlo.token) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = "stablehlo.outfeed"(%0, %token) {outfeed_config = ""} : (tensor<64x64xf32>, !stablehlo.token) -> !stablehlo.token
    return %0, %1 : tensor<64x64xf32>, !stablehlo.token
  }
}
