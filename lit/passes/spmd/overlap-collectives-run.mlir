// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices that arrive at different times, a loop whose carried value is sent while the next one is computed, two collectives at a time: the
// evaluator, the program with pairs in it, and the machine's say the same.
// RUN: xla-compile %s --emit=program --cache-dir=off | FileCheck %s --check-prefix=STEPS
// RUN: xla-run %s --num-devices=2 --cache-dir=off --repeat=20 | FileCheck %s
// RUN: rm -rf %t && mkdir %t
// RUN: xla-opt %s -pass-pipeline="builtin.module(func.func(xla-overlap-collectives{share=1e9}))" -o %t/pairs.mlir && grep -q async_done %t/pairs.mlir
// RUN: xla-run %t/pairs.mlir --num-devices=2 --cache-dir=off | FileCheck %s
// RUN: sed 's/@main/@program/; s/^module.*/module {/; /^}$/d' %t/pairs.mlir > %t/all.mlir
// RUN: sed -e '1,/^\/\/ EVALUATED/d' -e 's,^// ,,' %s >> %t/all.mlir && xla-translate --interpret %t/all.mlir

// STEPS: start 0 all_reduce
// STEPS: done 0 all_reduce

// Device d waits d * 200 rounds. Sum of 0 and 1 in every element, rows of both, and 5 steps around the ring of what is doubled.
// CHECK: device 0: dense<1> : tensor<512xi32>
// CHECK: device 0: dense<{{\[}}0, 200]> : tensor<2xi32>
// CHECK: device 0: dense<32> : tensor<4xi32>
// CHECK: device 1: dense<1> : tensor<512xi32>
// CHECK: device 1: dense<0> : tensor<4xi32>
module attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main() -> (tensor<512xi32>, tensor<2xi32>, tensor<4xi32>, tensor<512xi32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %i = stablehlo.convert %id : (tensor<ui32>) -> tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %rounds = stablehlo.constant dense<200> : tensor<i32>
    %end = stablehlo.multiply %i, %rounds : tensor<i32>
    %late = stablehlo.while(%n = %zero) : tensor<i32> cond {
      %more = stablehlo.compare LT, %n, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.add %n, %one : tensor<i32>
      stablehlo.return %next : tensor<i32>
    }
    %v = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<512xi32>
    %0 = "stablehlo.all_reduce"(%v) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<512xi32>) -> tensor<512xi32>
    %row = stablehlo.reshape %late : (tensor<i32>) -> tensor<1xi32>
    %1 = "stablehlo.all_gather"(%row) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}> : (tensor<1xi32>) -> tensor<2xi32>
    %io = stablehlo.iota dim = 0 : tensor<512xi32>
    %2 = stablehlo.multiply %io, %io : tensor<512xi32>
    %start = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %five = stablehlo.constant dense<5> : tensor<i32>
    %3:2 = stablehlo.while(%n = %zero, %x = %start) : tensor<i32>, tensor<4xi32> cond {
      %more = stablehlo.compare LT, %n, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %sent = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> : (tensor<4xi32>) -> tensor<4xi32>
      %next = stablehlo.add %n, %one : tensor<i32>
      %twice = stablehlo.add %sent, %sent : tensor<4xi32>
      stablehlo.return %next, %twice : tensor<i32>, tensor<4xi32>
    }
    return %0, %1, %3#1, %2 : tensor<512xi32>, tensor<2xi32>, tensor<4xi32>, tensor<512xi32>
  }
}
// EVALUATED
// func.func @main() {
//   %all:8 = "interpreter.run_parallel"() {programs = [[@program, @program]]} : () -> (tensor<512xi32>, tensor<2xi32>, tensor<4xi32>, tensor<512xi32>, tensor<512xi32>, tensor<2xi32>, tensor<4xi32>, tensor<512xi32>)
//   %one = stablehlo.constant dense<1> : tensor<512xi32>
//   %rows = stablehlo.constant dense<[0, 200]> : tensor<2xi32>
//   %ring = stablehlo.constant dense<32> : tensor<4xi32>
//   %none = stablehlo.constant dense<0> : tensor<4xi32>
//   "check.expect_eq"(%all#0, %one) : (tensor<512xi32>, tensor<512xi32>) -> ()
//   "check.expect_eq"(%all#4, %one) : (tensor<512xi32>, tensor<512xi32>) -> ()
//   "check.expect_eq"(%all#1, %rows) : (tensor<2xi32>, tensor<2xi32>) -> ()
//   "check.expect_eq"(%all#5, %rows) : (tensor<2xi32>, tensor<2xi32>) -> ()
//   "check.expect_eq"(%all#2, %ring) : (tensor<4xi32>, tensor<4xi32>) -> ()
//   "check.expect_eq"(%all#6, %none) : (tensor<4xi32>, tensor<4xi32>) -> ()
//   return
// }
// }
