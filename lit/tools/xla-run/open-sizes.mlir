// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments whose sizes disagree, or that a program cannot take, are errors that name them. Without the checks kernels would read beyond memory.
// RUN: split-file %s %t
// RUN: %python %t/make.py %t
// RUN: xla-compile %t/add.mlir -o %t/add.mr
// RUN: xla-run %t/add.mr --args=%t/3-3.npz | FileCheck %s --check-prefix=AGREE
// RUN: not xla-run %t/add.mr --args=%t/3-5.npz 2>&1 | FileCheck %s --check-prefix=ADD
// RUN: not xla-run %t/add.mr --args=%t/5-3.npz 2>&1 | FileCheck %s --check-prefix=ADD-LESS
// RUN: not xla-run %t/add.mr --args=%t/3-0.npz 2>&1 | FileCheck %s --check-prefix=ADD-NONE
// AGREE: tensor<3x2xf32>
// ADD: add.mlir:2:{{.*}}: expects dimension 0 of argument 1 to be 3 (dimension 0 of argument 0), but got 5: call it with arguments whose sizes agree
// ADD-LESS: expects dimension 0 of argument 1 to be 5 (dimension 0 of argument 0), but got 3
// ADD-NONE: expects dimension 0 of argument 1 to be 3 (dimension 0 of argument 0), but got 0
//
// What follows from sizes of arguments is compared once, when the program begins; the branch that is not taken requires nothing.
// RUN: xla-compile %t/branch.mlir --emit=program | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: function main
// PROGRAM-NOT: {{^}}  check
// PROGRAM: branch
// PROGRAM: set_dims{{.*}} check d1 = d0
// RUN: xla-run %t/branch.mlir --args=%t/3-5-true.npz --cache-dir=off | FileCheck %s --check-prefix=TAKEN
// RUN: not xla-run %t/branch.mlir --args=%t/3-5-false.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=ADD-OTHER
// TAKEN: dense<3.000000e+00> : tensor<f32>
// ADD-OTHER: branch.mlir:7:{{.*}}: expects dimension 0 of argument 1 to be 3 (dimension 0 of argument 0), but got 5
//
// RUN: xla-compile %t/many.mlir --emit=program | FileCheck %s --check-prefix=MANY
// MANY: function main
// MANY: {{^}}  check d1 = d0
// MANY-NOT: check d1 = d0
// MANY: {{^}}  check d2 = (d0 + d0)
// MANY-NOT: check {{[d(]}}
// RUN: not xla-run %t/many.mlir --args=%t/many.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=MANY-ERROR
// MANY-ERROR: expects dimension 0 of argument 2 to be 6 (dimension 0 of argument 0 + dimension 0 of argument 0), but got 7: call it with arguments whose sizes agree
//
// RUN: not xla-run %t/dot.mlir --args=%t/3-5.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=ADD-OTHER-LINE
// RUN: not xla-run %t/join.mlir --args=%t/3-5.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=ADD-OTHER-LINE
// ADD-OTHER-LINE: expects dimension 0 of argument 1 to be 3 (dimension 0 of argument 0), but got 5
//
// Sizes that are too small for a slice, a gather or a window, also none at all.
// RUN: xla-run %t/first.mlir --args=%t/3.npz --cache-dir=off | FileCheck %s --check-prefix=FIRST
// RUN: not xla-run %t/first.mlir --args=%t/1.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=FIRST-ONE
// RUN: not xla-run %t/take.mlir --args=%t/0-index.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=TAKE
// FIRST: tensor<2x2xf32>
// FIRST-ONE: expects dimension 0 of argument 0 to be at least 2, but got 1: call it with an argument of such a size
// TAKE: expects dimension 0 of argument 0 to be at least 1, but got 0
//
// Sizes that the arguments contain as numbers: of broadcasts, reshapes, slices and paddings.
// RUN: xla-run %t/broadcast.mlir --args=%t/1-shape.npz --cache-dir=off | FileCheck %s --check-prefix=BROADCAST
// RUN: not xla-run %t/broadcast.mlir --args=%t/3-shape.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=BROADCAST-ERROR
// RUN: not xla-run %t/broadcast.mlir --args=%t/1-negative.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not xla-run %t/reshape.mlir --args=%t/3-shape.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=RESHAPE
// RUN: not xla-run %t/slice.mlir --args=%t/bounds.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: not xla-run %t/static-slice.mlir --args=%t/static-bounds.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: not xla-run %t/pad.mlir --args=%t/interior.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=PAD
// RUN: not xla-run %t/set.mlir --args=%t/set.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=SET
// BROADCAST: dense<1.000000e+00> : tensor<4x2xf32>
// BROADCAST-ERROR: expects dimension 0 of argument 0 to be 1 or 4, but got 3
// NEGATIVE: expects a size that the program computes to be at least 0, but got -1
// RESHAPE: expects a size that the program computes to be 6 (dimension 0 of argument 0 * 2), but got 8
// SLICE: expects a size that the program computes to be at most 4{{.*}}, but got 5000000
// PAD: expects a size that the program computes to be at least 0, but got -1
// SET: expects a size that the program computes to be at most 4, but got 9
//
// RUN: not xla-run %t/bounded.mlir --args=%t/bounded.npz --cache-dir=off 2>&1 | FileCheck %s --check-prefix=BOUNDED
// BOUNDED: argument 0 expects f32[?] with at most 4 in dimension 0, but got f32[5]
//--- make.py
import sys
import numpy as np
x = lambda n: np.ones((n, 2), np.float32)
for a, b in ((3, 3), (3, 5), (5, 3), (3, 0)):
    np.savez(f"{sys.argv[1]}/{a}-{b}.npz", x(a), x(b))
for value in ("true", "false"):
    np.savez(f"{sys.argv[1]}/3-5-{value}.npz", x(3)[:, 0], x(5)[:, 0], np.bool_(value == "true"))
np.savez(f"{sys.argv[1]}/many.npz", x(3), x(3), x(7))
for n in (1, 3):
    np.savez(f"{sys.argv[1]}/{n}.npz", x(n))
    np.savez(f"{sys.argv[1]}/{n}-shape.npz", x(n), np.array([4, 2]))
np.savez(f"{sys.argv[1]}/1-negative.npz", x(1), np.array([-1, 2]))
np.savez(f"{sys.argv[1]}/0-index.npz", x(0), np.zeros((3, 1), np.int32))
one = np.ones(1, np.int64)
np.savez(f"{sys.argv[1]}/bounds.npz", x(4)[:, 0], 4999999 * one, 5000000 * one, one)
np.savez(f"{sys.argv[1]}/static-bounds.npz", x(4)[:, 0], 4999999 * one, 5000000 * one)
np.savez(f"{sys.argv[1]}/interior.npz", x(4)[:, 0], 0 * one, -one)
np.savez(f"{sys.argv[1]}/set.npz", x(4)[:, 0], np.int32(9))
np.savez(f"{sys.argv[1]}/bounded.npz", x(5)[:, 0])
//--- add.mlir
func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = stablehlo.add %x, %y : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
//--- branch.mlir
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>, %p: tensor<i1>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.if"(%p) ({
    %a = stablehlo.abs %x : tensor<?xf32>
    stablehlo.return %a : tensor<?xf32>
  }, {
    %b = stablehlo.add %x, %y : tensor<?xf32>
    stablehlo.return %b : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  %s = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return %s : tensor<f32>
}
//--- many.mlir
func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>, %z: tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %0 = stablehlo.add %x, %y : tensor<?x2xf32>
  %1 = stablehlo.concatenate %0, %y, dim = 0 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = stablehlo.multiply %1, %z : tensor<?x2xf32>
  %3 = stablehlo.transpose %y, dims = [1, 0] : (tensor<?x2xf32>) -> tensor<2x?xf32>
  %4 = stablehlo.transpose %0, dims = [1, 0] : (tensor<?x2xf32>) -> tensor<2x?xf32>
  %5 = stablehlo.subtract %3, %4 : tensor<2x?xf32>
  %6 = stablehlo.transpose %5, dims = [1, 0] : (tensor<2x?xf32>) -> tensor<?x2xf32>
  return %0, %2, %6 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}
//--- dot.mlir
func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- join.mlir
func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
//--- first.mlir
func.func @main(%x: tensor<?x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.slice %x [0:2, 0:2] : (tensor<?x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
//--- take.mlir
func.func @main(%x: tensor<?x2xf32>, %i: tensor<3x1xi32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
    index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<?x2xf32>, tensor<3x1xi32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
//--- broadcast.mlir
func.func @main(%x: tensor<?x2xf32>, %shape: tensor<2xi64>) -> tensor<?x2xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0, 1] : (tensor<?x2xf32>, tensor<2xi64>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
//--- reshape.mlir
func.func @main(%x: tensor<?x2xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x2xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
//--- slice.mlir
func.func @main(%x: tensor<?xf32>, %from: tensor<1xi64>, %to: tensor<1xi64>, %step: tensor<1xi64>) -> tensor<?xf32> {
  %0 = stablehlo.real_dynamic_slice %x, %from, %to, %step : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
//--- static-slice.mlir
func.func @main(%x: tensor<4xf32>, %from: tensor<1xi64>, %to: tensor<1xi64>) -> tensor<1xf32> {
  %step = stablehlo.constant dense<1> : tensor<1xi64>
  %start = stablehlo.add %from, %step : tensor<1xi64>
  %back = stablehlo.subtract %start, %step : tensor<1xi64>
  %0 = stablehlo.real_dynamic_slice %x, %back, %to, %step : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
//--- pad.mlir
func.func @main(%x: tensor<4xf32>, %edge: tensor<1xi64>, %interior: tensor<1xi64>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dynamic_pad %x, %zero, %edge, %edge, %interior : (tensor<4xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
//--- set.mlir
func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>> {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<4>>
  return %0 : tensor<?xf32, #stablehlo.bounds<4>>
}
//--- bounded.mlir
func.func @main(%x: tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<4>> {
  %0 = stablehlo.abs %x : tensor<?xf32, #stablehlo.bounds<4>>
  return %0 : tensor<?xf32, #stablehlo.bounds<4>>
}
