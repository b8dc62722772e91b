// One compilation runs for every size of images: behind a convolution and a pool with strides, sizes are quotients.
// RUN: split-file %s %t
// RUN: %python %t/make.py %t
// RUN: xla-compile %t/strided.mlir -o %t/strided.mr
// RUN: xla-run %t/strided.mr --args=%t/9.npz --out=%t/out-9.npz
// RUN: xla-run %t/strided.mr --args=%t/10.npz --out=%t/out-10.npz
// RUN: xla-run %t/strided.mr --args=%t/23.npz --out=%t/out-23.npz
// RUN: %python %t/check.py %t
//--- make.py
import sys
import numpy as np
rng = np.random.default_rng(0)
w = rng.standard_normal((3, 2, 4), dtype=np.float32)
for n in (9, 10, 23):
    np.savez(f"{sys.argv[1]}/{n}.npz", rng.standard_normal((2, n, 2), dtype=np.float32), w)
//--- check.py
import sys
import numpy as np
for n in (9, 10, 23):
    arguments = np.load(f"{sys.argv[1]}/{n}.npz")
    x, w = (arguments[name] for name in arguments.files)
    padded = np.pad(x, ((0, 0), (1, 1), (0, 0)))
    y = np.stack([np.einsum("bkf,kfo->bo", padded[:, at:at + 3], w) for at in range(0, n, 2)], 1)
    z = np.stack([y[:, at:at + 2].max(1) for at in range(0, y.shape[1] - 1, 2)], 1).reshape(-1)
    made = np.load(f"{sys.argv[1]}/out-{n}.npz")
    got, count = (made[name] for name in made.files)
    assert got.shape == z.shape == (int(count),), (got.shape, z.shape, count)
    np.testing.assert_allclose(got, z, rtol=1e-4, atol=1e-4)
//--- strided.mlir
func.func @main(%x: tensor<2x?x2xf32>, %w: tensor<3x2x4xf32>) -> (tensor<?xf32>, tensor<i32>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x?x2xf32>) -> tensor<i32>
  %n1 = stablehlo.add %n, %one : tensor<i32>
  %half = stablehlo.divide %n1, %two : tensor<i32>
  %quarter = stablehlo.divide %half, %two : tensor<i32>
  %all = stablehlo.multiply %quarter, %eight : tensor<i32>
  %shape = stablehlo.reshape %all : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x?x2xf32>, tensor<3x2x4xf32>) -> tensor<2x?x4xf32>
  %1 = "stablehlo.reduce_window"(%0, %low) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 2, 1>, window_strides = array<i64: 1, 2, 1>} : (tensor<2x?x4xf32>, tensor<f32>) -> tensor<2x?x4xf32>
  %2 = stablehlo.dynamic_reshape %1, %shape : (tensor<2x?x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %2, %all : tensor<?xf32>, tensor<i32>
}
