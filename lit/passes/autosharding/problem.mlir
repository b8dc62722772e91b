// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is to be solved is a problem that solve-sharding reads and solves to the same cost.
// RUN: xla-opt %s --xla-auto-sharding="machine=h100 problem=%t.json report" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// RUN: solve-sharding %t.json --iterations=20 --quiet | FileCheck %s
// RUN: not xla-opt %s --xla-auto-sharding="problem=%t.folder/none.json" 2>&1 | FileCheck %s --check-prefix=CANNOT
// RUN: not solve-sharding %t.json --seconds=-1 2>&1 | FileCheck %s --check-prefix=SECONDS
// RUN: not solve-sharding %t.json --processor-seconds=nan 2>&1 | FileCheck %s --check-prefix=SECONDS
// SECONDS: expects numbers of seconds of at least 0
// REPORT: sharded for h100{{.*}}: {{[0-9.]+}} ms, {{.*}}; {{[0-9]+}} variables
// CHECK: "found": true, "cost": {{[0-9]+}}, {{.*}}"gap": 0, {{.*}}"stop": "optimal"
// CANNOT: automatic sharding cannot write {{.*}}none.json
sdy.mesh @mesh = <["x"=64, "y"=8]>
func.func @main(%x: tensor<8192x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<8192x1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8192x1024xf32>, tensor<1024x1024xf32>) -> tensor<8192x1024xf32>
  return %0 : tensor<8192x1024xf32>
}
