// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The values of one device, from tools' flags: loops, branches, manual computations, unequal parts.
// RUN: xla-run %s --auto-sharding --mesh=a=2,b=4 --verify --quiet --cache-dir=off
// RUN: xla-run %s --auto-sharding --mesh=a=3 --verify --quiet --cache-dir=off
// RUN: xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=h100 --simulate | FileCheck %s --check-prefix=SIMULATE
// RUN: not xla-compile %s --auto-sharding --mesh=a=2,b=4 --machine=h1000 --simulate 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not xla-compile %s --memory-per-device=1G 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not xla-compile %s --auto-sharding --mesh=a=2 --memory-per-device=much 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: xla-run %s --auto-sharding --mesh=auto:4 --verify --quiet --cache-dir=off
// RUN: xla-compile %s --auto-sharding --mesh=auto:4 --simulate | FileCheck %s --check-prefix=RANKED
// RUN: not xla-compile %s --mesh=auto:4 2>&1 | FileCheck %s --check-prefix=UNPLANNED
// RUN: not xla-compile %s --auto-sharding --mesh=auto:many 2>&1 | FileCheck %s --check-prefix=MANY
// RANKED: the plan expected
// RANKED-DAG: ms expected with --mesh=b=4
// RANKED-DAG: ms expected with --mesh=a=2,b=2
// RUN: xla-compile %s --auto-sharding --devices=4 --simulate | FileCheck %s --check-prefix=RANKED
// RUN: not xla-compile %s --devices=4 2>&1 | FileCheck %s --check-prefix=DEVICES
// RUN: not xla-compile %s --auto-sharding --devices=4 --mesh=a=4 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not xla-compile %s --auto-sharding --devices=some --simulate 2>&1 | FileCheck %s --check-prefix=SOME
// DEVICES: --devices=4 requires --auto-sharding
// BOTH: --devices=4 and --mesh=a=4: expects one of them
// SOME: --devices expects a number of devices, but got 'some'
// UNPLANNED: --mesh=auto:4 requires --auto-sharding
// MANY: --mesh expects a number of devices after auto:, but got 'auto:many'
// SIMULATE: a step on h100
// SIMULATE: ms in all
// SIMULATE: bytes of arguments
// MACHINE: --machine: expects a file or one of ethernet, h100, server, tpu-v4, virtual, but got 'h1000'
// ALONE: --memory-per-device requires --auto-sharding
// MEMORY: --memory-per-device expects a number of bytes, with K, M, G or T for powers of 1024, but got 'much'

func.func @main(%x: tensor<24x48xf32>, %w: tensor<48x48xf32>, %p: tensor<i1>) -> (tensor<24x48xf32>, tensor<48xf32>) {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %i0, %v = %x) : tensor<i32>, tensor<24x48xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %h = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0] : (tensor<24x48xf32>, tensor<48x48xf32>) -> tensor<24x48xf32>
      %t = stablehlo.tanh %h : tensor<24x48xf32>
      %k = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %k, %t : tensor<i32>, tensor<24x48xf32>
    }
  %b = "stablehlo.if"(%p) ({
    %s = stablehlo.reverse %r#1, dims = [0] : tensor<24x48xf32>
    stablehlo.return %s : tensor<24x48xf32>
  }, {
    %s = stablehlo.dot_general %r#1, %w, contracting_dims = [1] x [1] : (tensor<24x48xf32>, tensor<48x48xf32>) -> tensor<24x48xf32>
    stablehlo.return %s : tensor<24x48xf32>
  }) : (tensor<i1>) -> tensor<24x48xf32>
  %sum = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<24x48xf32>, tensor<f32>) -> tensor<48xf32>
  return %b, %sum : tensor<24x48xf32>, tensor<48xf32>
}
