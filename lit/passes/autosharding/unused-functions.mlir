// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that nobody calls are erased before calls are inlined: each of these doubles the copies of the one behind it, 2^30 in all. An endless file
// is no description of a machine.
// RUN: %python -c "print('\n'.join(f'func.func private @f{i}(%%x: tensor<8xf32>) -> tensor<8xf32> {{ %%0 = call @f{i+1}(%%x) : (tensor<8xf32>) -> tensor<8xf32> %%1 = call @f{i+1}(%%0) : (tensor<8xf32>) -> tensor<8xf32> return %%1 : tensor<8xf32> }}' for i in range(30)))" > %t.mlir
// RUN: echo 'func.func private @f30(%%x: tensor<8xf32>) -> tensor<8xf32> { return %%x : tensor<8xf32> }' >> %t.mlir
// RUN: echo 'func.func @main(%%x: tensor<8xf32>) -> tensor<8xf32> { return %%x : tensor<8xf32> }' >> %t.mlir
// RUN: timeout 60 xla-compile %t.mlir --auto-sharding --mesh=a=2 --simulate --cache-dir=off | FileCheck %s
// RUN: not xla-compile %t.mlir --auto-sharding --mesh=a=2 --machine=/dev/zero --simulate --cache-dir=off 2>&1 | FileCheck %s --check-prefix=ENDLESS
// CHECK: the plan expected
// ENDLESS: machine: expects a file or one of {{.*}}, but got '/dev/zero': the file has more than 1048576 bytes
