# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that stream through memory go forward and backward in turns: the second execution has the bits of the first, on one thread and on two."""
import numpy as np
import pytest

from benchmarks import tools

ROWS, COLUMNS = 1031, 613
X = f"tensor<{ROWS}x{COLUMNS}xf32>"
ZERO = "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"

PROGRAMS = {
    "elements": (X, f"  %r = stablehlo.add %x, %x : {X}\n"),
    "rows": (f"tensor<{ROWS}xf32>", ZERO + f"  %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : "
             f"({X}, tensor<f32>) -> tensor<{ROWS}xf32>\n"),
    "columns": (f"tensor<{COLUMNS}xf32>", ZERO + f"  %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : "
                f"({X}, tensor<f32>) -> tensor<{COLUMNS}xf32>\n"),
    "transpose": (f"tensor<{COLUMNS}x{ROWS}xf32>", f"  %r = stablehlo.transpose %x, dims = [1, 0] : ({X}) -> tensor<{COLUMNS}x{ROWS}xf32>\n"),
    "concatenate": (f"tensor<{ROWS}x{2 * COLUMNS}xf32>", f"  %n = stablehlo.negate %x : {X}\n"
                    f"  %r = stablehlo.concatenate %x, %n, dim = 1 : ({X}, {X}) -> tensor<{ROWS}x{2 * COLUMNS}xf32>\n"),
    "several": (X, ZERO + f"""
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : ({X}, tensor<f32>) -> tensor<{COLUMNS}xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<{COLUMNS}xf32>) -> {X}
  %d = stablehlo.subtract %x, %b : {X}
  %e = stablehlo.exponential %d : {X}
  %t = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : ({X}, tensor<f32>) -> tensor<{ROWS}xf32>
  %c = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<{ROWS}xf32>) -> {X}
  %r = stablehlo.divide %e, %c : {X}
"""),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_directions_agree(name, tmp_path):
    result, body = PROGRAMS[name]
    path = tmp_path / f"{name}.mlir"
    path.write_text(f"func.func @main(%x: {X}) -> {result} {{\n{body}  return %r : {result}\n}}\n")
    x = np.random.default_rng(1).standard_normal((ROWS, COLUMNS), np.float32)
    results = [tools.run_file(str(path), [x], f"--repeat={repeat}", environment={"OMP_NUM_THREADS": str(threads)})[0][0]
               for repeat in (1, 2, 3) for threads in (1, 2)]
    want, _ = tools.run_file(str(path), [x], "--backend=interpreter")
    np.testing.assert_allclose(results[0], want[0], rtol=1e-4, atol=1e-4)
    for other in results[1:]:
        assert results[0].tobytes() == other.tobytes()
