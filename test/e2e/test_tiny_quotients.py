# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exponentials divided by their sums where quotients are subnormal: every bit of the division."""
import numpy as np
import pytest

from benchmarks import tools


def program(rows, columns, dimension):
    x, sums = f"tensor<{rows}x{columns}xf32>", f"tensor<{(rows, columns)[1 - dimension]}xf32>"
    return f"""func.func @main(%x: {x}) -> ({x}, {sums}, {x}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : {x}
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [{dimension}] : ({x}, tensor<f32>) -> {sums}
  %all = stablehlo.broadcast_in_dim %s, dims = [{1 - dimension}] : ({sums}) -> {x}
  %q = stablehlo.divide %e, %all : {x}
  return %e, %s, %q : {x}, {sums}, {x}
}}
"""


@pytest.mark.parametrize("rows,columns,dimension", [(64, 512, 1), (33, 77, 1), (200, 5, 1), (40, 96, 0), (4, 100000, 1)])
def test_subnormal_quotients(rows, columns, dimension, tmp_path):
    random = np.random.default_rng(rows)
    x = random.uniform(-104, -80, (rows, columns)).astype(np.float32)
    x[random.random(x.shape) < 0.3] = 0.5
    x[random.random(x.shape) < 0.1] = -1000
    lines = x if dimension == 1 else x.T
    lines[0] = -95                  # the sum is subnormal itself
    lines[1] = random.uniform(-88, 17, lines.shape[1])  # and large
    lines[2, 0] = 88.5              # far beyond 2^24
    lines[3] = random.uniform(-104, -88, lines.shape[1])
    lines[3, :2] = 0                # the sum is 2: halves, which are rounded to even
    path = tmp_path / "softmax.mlir"
    path.write_text(program(rows, columns, dimension))
    for threads in ("1", "2"):
        e, sums, got = tools.run_file(str(path), [x], "--cache-dir=off", environment={"MILLRACE_NUM_THREADS": threads})[0]
        with np.errstate(all="ignore"):
            want = (e / np.expand_dims(sums, dimension)).astype(np.float32)
        assert np.count_nonzero((want > 0) & (want < 2.0 ** -126)) > want.size // 50
        wrong = np.flatnonzero(got.view(np.uint32) != want.view(np.uint32))
        assert wrong.size == 0, (wrong.size, e.flat[wrong[0]], got.flat[wrong[0]], want.flat[wrong[0]])
