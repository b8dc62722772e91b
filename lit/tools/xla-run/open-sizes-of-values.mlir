// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Open sizes of values that are not arguments: those that reshapes compute, and those of states and branches whose values have several types.
// RUN: split-file %s %t
// RUN: %python %t/make.py %t
// RUN: xla-run %t/reshape.mlir --args=%t/6x4-shape.npz --cache-dir=off --verify | FileCheck %s --check-prefix=RESHAPE
// RESHAPE: tensor<4x6xf32>
// RUN: xla-run %t/unsigned.mlir --args=%t/1.npz --cache-dir=off --verify | FileCheck %s --check-prefix=UNSIGNED
// UNSIGNED: tensor<200xf32>
// RUN: xla-run %t/bytes.mlir --args=%t/3x2.npz --cache-dir=off --verify | FileCheck %s --check-prefix=BYTES
// RUN: not xla-run %t/bytes.mlir --args=%t/6x4.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=PARTS
// BYTES: tensor<3xf64>
// PARTS: expects dimension 1 of argument 0 to be 2, but got 4
//
// A state of a loop has open sizes where one of its types has, and each value the sizes that its type states.
// RUN: xla-compile %t/body.mlir -o %t/body.mr
// RUN: xla-run %t/body.mr --args=%t/4.npz | FileCheck %s --check-prefix=FOUR
// RUN: not xla-run %t/body.mr --args=%t/3.npz 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not xla-run %t/body.mr --args=%t/4000.npz 2>&1 | FileCheck %s --check-prefix=MANY
// FOUR: dense<3.000000e+00> : tensor<4xf32>
// THREE: body.mlir:4:{{.*}}: expects a size that the program computes to be 4, but got 3
// MANY: expects a size that the program computes to be 4, but got 4000
// RUN: xla-run %t/init.mlir --args=%t/4.npz --cache-dir=off --verify | FileCheck %s --check-prefix=INIT
// RUN: not xla-run %t/grown.mlir --args=%t/4.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=GROWN
// INIT: dense<1.000000e+00> : tensor<4xf32>
// GROWN: expects a size that the program computes to be 4, but got 8
//
// The branch that is taken has to have the sizes that the type of the result states.
// RUN: xla-compile %t/branch.mlir -o %t/branch.mr
// RUN: xla-run %t/branch.mr --args=%t/4-true.npz | FileCheck %s --check-prefix=BRANCH
// RUN: xla-run %t/branch.mr --args=%t/3-false.npz | FileCheck %s --check-prefix=BRANCH
// RUN: not xla-run %t/branch.mr --args=%t/3-true.npz 2>&1 | FileCheck %s --check-prefix=SHORT
// BRANCH: tensor<4xf32>
// SHORT: branch.mlir:3:{{.*}}: expects a size that the program computes to be 4, but got 3
//
// Values without elements may have other sizes of any number, which no loop runs through.
// RUN: xla-run %t/exponential.mlir --args=%t/none-shape.npz --cache-dir=off | FileCheck %s --check-prefix=NONE
// NONE: tensor<4611686018427387904x0xf32>
//
// A donated argument of an open size is not the memory of a result, which may be larger.
// RUN: xla-run %t/donated.mlir --args=%t/1.npz --cache-dir=off --verify | FileCheck %s --check-prefix=DONATED
// DONATED: tensor<2xf32>
//--- make.py
import sys
import numpy as np
save = lambda name, *values: np.savez(f"{sys.argv[1]}/{name}.npz", *values)
for n in (1, 3, 4, 4000):
    save(f"{n}", np.ones(n, np.float32))
for n in (3, 4):
    for value in ("true", "false"):
        save(f"{n}-{value}", np.ones(n, np.float32), np.bool_(value == "true"))
save("3x2", np.arange(6, dtype=np.float32).reshape(3, 2))
save("6x4", np.arange(24, dtype=np.float32).reshape(6, 4))
save("6x4-shape", np.arange(24, dtype=np.float32).reshape(6, 4), np.array([4, 6]))
save("none-shape", np.zeros((0, 3), np.float32), np.array([2**62, 0]))
//--- reshape.mlir
func.func @main(%x: tensor<?x?xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
//--- unsigned.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %shape = stablehlo.constant dense<200> : tensor<1xui8>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0] : (tensor<?xf32>, tensor<1xui8>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
//--- bytes.mlir
func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf64> {
  %0 = stablehlo.bitcast_convert %x : (tensor<?x?xf32>) -> tensor<?xf64>
  return %0 : tensor<?xf64>
}
//--- body.mlir
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = "stablehlo.while"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<4xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %ones = stablehlo.constant dense<1.0> : tensor<4xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %u = stablehlo.add %v, %ones : tensor<4xf32>
    stablehlo.return %j, %u : tensor<i32>, tensor<4xf32>
  }) : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>)
  return %0#1 : tensor<?xf32>
}
//--- init.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = "stablehlo.while"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %u = stablehlo.abs %v : tensor<?xf32>
    stablehlo.return %j, %u : tensor<i32>, tensor<?xf32>
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
//--- grown.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = "stablehlo.while"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %c = stablehlo.compare LT, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %j = stablehlo.add %i, %one : tensor<i32>
    %u = stablehlo.concatenate %v, %v, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    stablehlo.return %j, %u : tensor<i32>, tensor<?xf32>
  }) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}
//--- branch.mlir
func.func @main(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %four = stablehlo.constant dense<4.0> : tensor<4xf32>
  %0 = "stablehlo.if"(%p) ({
    %a = stablehlo.abs %x : tensor<?xf32>
    stablehlo.return %a : tensor<?xf32>
  }, {
    stablehlo.return %four : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- exponential.mlir
func.func @main(%x: tensor<?x?xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = stablehlo.exponential %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
//--- donated.mlir
func.func @main(%x: tensor<?xf32> {tf.aliasing_output = 0 : i32}) -> tensor<?xf32> {
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
