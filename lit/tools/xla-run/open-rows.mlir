// A program for up to 120 rows runs for any number of them: the rows of its results are those of a program for this number alone, whatever lies
// behind the last row; a program that mixes rows is refused.
// RUN: split-file %s %t
// RUN: %python %t/make.py %t
// RUN: xla-compile %t/block.mlir -o %t/block.mr
// RUN: xla-run %t/block.mr --args=%t/1.npz --out=%t/block-1.npz
// RUN: xla-run %t/block.mr --args=%t/7.npz --out=%t/block-7.npz
// RUN: xla-run %t/block.mr --args=%t/13.npz --out=%t/block-13.npz
// RUN: xla-run %t/block.mr --args=%t/119.npz --out=%t/block-119.npz
// RUN: xla-run %t/block.mr --args=%t/120.npz --out=%t/block-120.npz
// RUN: %python %t/check.py %t
// RUN: not xla-run %t/block.mr --args=%t/121.npz 2>&1 | FileCheck %s --check-prefix=TOOMANY
// TOOMANY: argument 0 expects f32[?,8,32] with at most 120 in dimension 0, but got f32[121,8,32]
// RUN: xla-compile %t/block.mlir --emit=program | FileCheck %s --check-prefix=PROGRAM
// Kernels that touch no row behind the last one read the argument and write the result in place. The sums are copied if a kernel computes them as
// vectors of several rows.
// PROGRAM: %[[X:[0-9]+]] = argument 0 : d1x8x32xf32
// PROGRAM: %[[Y:[0-9]+]] = result 0 : d1x8x32xf32
// PROGRAM: %[[SUMS:[0-9]+]] = result 1 : d1xf32
// PROGRAM-NOT: copy
// PROGRAM: kernel tanh{{.*}}(%[[X]], {{.*}}
// PROGRAM-NOT: copy
// PROGRAM: kernel dot_general_18{{.*}} -> (%[[Y]])
// PROGRAM: {{(copy .* -> |kernel reduce.* -> \()}}%[[SUMS]]
// RUN: not xla-compile %t/mixed.mlir -o %t/mixed.mr 2>&1 | FileCheck %s --check-prefix=MIXED
// MIXED: cannot be a program for any number of rows: stablehlo.reduce: rows are mixed
// RUN: not xla-compile %t/moved.mlir -o %t/moved.mr 2>&1 | FileCheck %s --check-prefix=MOVED
// MOVED: cannot be a program for any number of rows: stablehlo.reverse: rows are mixed
//--- make.py
import sys
import numpy as np
rng = np.random.default_rng(0)
x = rng.standard_normal((121, 8, 32), dtype=np.float32)
w, v = (rng.standard_normal(shape, dtype=np.float32) for shape in ((32, 48), (48, 32)))
for n in (1, 7, 13, 119, 120, 121):
    np.savez(f"{sys.argv[1]}/{n}.npz", x[:n], w, v)
//--- check.py
import sys
import numpy as np
def f(x, w, v):
    h = np.tanh(x.reshape(-1, 32) @ w)
    y = (h @ v).reshape(-1, 8, 32)
    scores = y @ y.transpose(0, 2, 1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)) @ y, y.sum((1, 2))
for n in (1, 7, 13, 119, 120):
    arguments = np.load(f"{sys.argv[1]}/{n}.npz")
    made = np.load(f"{sys.argv[1]}/block-{n}.npz")
    wants = f(*(arguments[name].astype(np.float64) for name in arguments.files))
    for name, want in zip(made.files, wants):
        assert made[name].shape == want.shape, (n, made[name].shape)
        np.testing.assert_allclose(made[name], want, rtol=1e-3, atol=1e-3)
//--- block.mlir
func.func @main(%x: tensor<120x8x32xf32> {millrace.row_indices = 1 : i64}, %w: tensor<32x48xf32>, %v: tensor<48x32xf32>)
    -> (tensor<120x8x32xf32> {millrace.row_indices = 1 : i64}, tensor<120xf32> {millrace.row_indices = 1 : i64}) attributes {millrace.rows = array<i64: 120>} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<120x8x32xf32>) -> tensor<960x32xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<960x32xf32>, tensor<32x48xf32>) -> tensor<960x48xf32>
  %2 = stablehlo.tanh %1 : tensor<960x48xf32>
  %3 = stablehlo.dot_general %2, %v, contracting_dims = [1] x [0] : (tensor<960x48xf32>, tensor<48x32xf32>) -> tensor<960x32xf32>
  %y = stablehlo.reshape %3 : (tensor<960x32xf32>) -> tensor<120x8x32xf32>
  %s = stablehlo.dot_general %y, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<120x8x32xf32>, tensor<120x8x32xf32>) -> tensor<120x8x8xf32>
  %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<120x8x8xf32>, tensor<f32>) -> tensor<120x8xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<120x8xf32>) -> tensor<120x8x8xf32>
  %d = stablehlo.subtract %s, %mb : tensor<120x8x8xf32>
  %e = stablehlo.exponential %d : tensor<120x8x8xf32>
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<120x8x8xf32>, tensor<f32>) -> tensor<120x8xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<120x8xf32>) -> tensor<120x8x8xf32>
  %p = stablehlo.divide %e, %tb : tensor<120x8x8xf32>
  %o = stablehlo.dot_general %p, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<120x8x8xf32>, tensor<120x8x32xf32>) -> tensor<120x8x32xf32>
  %total = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<120x8x32xf32>, tensor<f32>) -> tensor<120xf32>
  return %o, %total : tensor<120x8x32xf32>, tensor<120xf32>
}
//--- mixed.mlir
func.func @main(%x: tensor<120x4xf32> {millrace.row_indices = 1 : i64}) -> tensor<4xf32> attributes {millrace.rows = array<i64: 120>} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<120x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- moved.mlir
func.func @main(%x: tensor<120x4xf32> {millrace.row_indices = 1 : i64}) -> (tensor<120x4xf32> {millrace.row_indices = 1 : i64}) attributes {millrace.rows = array<i64: 120>} {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<120x4xf32>
  return %0 : tensor<120x4xf32>
}
