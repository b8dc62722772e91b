# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that write what follows a product over a donated operand (an optimizer's step in the kernel of a gradient): every element is replaced
exactly once, for rows and columns that are no whole number of tiles, sums in several blocks and few rows, on each level of x86-64."""
import itertools
import subprocess

import pytest

from benchmarks import tools

# Rows and columns around tiles of 6 or 14 rows and 16 to 64 columns; sums that take one block and several, of few and of many products.
ROWS, COLUMNS, SUMS = (1, 3, 17, 131), (5, 64, 257), (7, 300, 2600)


def program(m: int, n: int, k: int, along: str, factor: str) -> str:
    """The gradient of a weight, returned, and three states of an optimizer that are replaced; `along`: which dimension of the factors is summed up;
    `factor`: their element type."""
    left = f"{k}x{m}" if along == "rows" else f"{m}x{k}"
    right = f"{k}x{n}" if along == "rows" else f"{n}x{k}"
    dims = "[0] x [0]" if along == "rows" else "[1] x [1]"
    t = f"tensor<{m}x{n}xf32>"
    return f"""
func.func @main(%a: tensor<{left}x{factor}>, %b: tensor<{right}x{factor}>, %p: {t} {{tf.aliasing_output = 0 : i32}}, %m: {t} {{tf.aliasing_output = 1 : i32}},
                %v: {t} {{tf.aliasing_output = 2 : i32}}, %by: tensor<i1>) -> ({t}, {t}, {t}, {t}) {{
  %c = stablehlo.constant dense<0.125> : {t}
  %one = stablehlo.constant dense<1.0> : {t}
  %g = stablehlo.dot_general %a, %b, contracting_dims = {dims} : (tensor<{left}x{factor}>, tensor<{right}x{factor}>) -> {t}
  %0 = stablehlo.subtract %g, %m : {t}
  %1 = stablehlo.multiply %0, %c : {t}
  %2 = stablehlo.add %m, %1 : {t}
  %which = stablehlo.broadcast_in_dim %by, dims = [] : (tensor<i1>) -> tensor<{m}x{n}xi1>
  %3 = stablehlo.select %which, %2, %0 : tensor<{m}x{n}xi1>, {t}
  %4 = stablehlo.multiply %g, %g : {t}
  %5 = stablehlo.add %v, %4 : {t}
  %6 = stablehlo.abs %5 : {t}
  %7 = stablehlo.add %6, %one : {t}
  %8 = stablehlo.sqrt %7 : {t}
  %9 = stablehlo.divide %3, %8 : {t}
  %10 = stablehlo.subtract %p, %9 : {t}
  return %10, %3, %5, %g : {t}, {t}, {t}, {t}
}}
"""


@pytest.mark.parametrize("target", ["host", "x86-64-v2", "x86-64-v3"])
def test_each_element_is_replaced_once(target: str, tmp_path) -> None:
    for number, (m, n, k) in enumerate(itertools.product(ROWS, COLUMNS, SUMS)):
        along, factor = ("rows", "columns")[number % 2], ("f32", "bf16")[number // 2 % 2]
        path = tmp_path / f"{number}.mlir"
        path.write_text(program(m, n, k, along, factor))
        result = subprocess.run([tools.tool("xla-run"), str(path), "--verify", f"--target={target}"], capture_output=True, text=True, timeout=60)
        assert result.returncode == 0, (m, n, k, along, factor, result.stdout[-500:], result.stderr[-1500:])
