# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers along rows at positions that all rows share: near each other, where vectors are loaded and permuted, and far from each other."""
import numpy as np
import pytest

from benchmarks import tools

RANDOM = np.random.default_rng(3)
POSITIONS = {
    "longer": np.arange(129) * 33 // 129,
    "shorter": np.arange(20) * 3,
    "far": RANDOM.integers(0, 33, 75),
    "backwards": np.arange(33)[::-1],
    "at_the_end": np.full(50, 32),
    "clamped": np.array([-5, 40, 2 ** 40, -2 ** 40, 7] * 9),
    "near_then_far": np.concatenate([np.arange(64) // 2, RANDOM.integers(0, 33, 64), np.full(41, 32), [0]]),
    "one_vector": np.arange(16),
}


@pytest.mark.parametrize("target", ["host", *(level for level in tools.levels() if level == "x86-64-v3")])
@pytest.mark.parametrize("dtype", ["f32", "f64", "i32"])
@pytest.mark.parametrize("name", sorted(POSITIONS))
def test_bits(name, dtype, target, tmp_path):
    """Bits are copied, also those of numbers that are not finite, from rows of 33 elements and from fewer elements than a vector has."""
    positions = POSITIONS[name]
    count = len(positions)
    for rows, length in ((7, 33), (2, 5)):
        x = RANDOM.integers(-2 ** 31, 2 ** 31, (rows, length, 2)).astype(np.int32).view({"f32": np.float32, "f64": np.float64, "i32": np.int32}[dtype])
        x = np.ascontiguousarray(x.reshape(rows, -1)[:, :length])
        path = tmp_path / f"{rows}.mlir"
        path.write_text(f"""func.func @main(%x: tensor<{rows}x{length}x{dtype}>) -> tensor<{rows}x{count}x{dtype}> {{
  %c = stablehlo.constant dense<{positions.tolist()}> : tensor<{count}xi64>
  %0 = "stablehlo.gather"(%x, %c) <{{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: {rows}, 1>}}> : (tensor<{rows}x{length}x{dtype}>, tensor<{count}xi64>) -> tensor<{rows}x{count}x{dtype}>
  return %0 : tensor<{rows}x{count}x{dtype}>
}}""")
        (got,), _ = tools.run_file(str(path), [x], f"--target={target}")
        assert got.tobytes() == x[:, np.clip(positions, 0, length - 1)].tobytes()
