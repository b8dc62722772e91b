# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Subnormal numbers in matrix products, and around them: large products of f32 may count them as zeros (docs/accuracy.md), nothing else may.

Every number is a power of two or a small multiple of one, so that results are known in every bit.
"""
import math
import subprocess

import numpy as np
import pytest

from benchmarks import tools

ROWS, COLUMNS, LARGE = 128, 96, 1 << 17


def around(k):
    """Normal sums whose multiples are subnormal: in the product's own kernel, by a function, in a sum over rows, and in a kernel behind it."""
    a, b, c = f"tensor<{ROWS}x{k}xf32>", f"tensor<{k}x{COLUMNS}xf32>", f"tensor<{ROWS}x{COLUMNS}xf32>"
    large, number, row = f"tensor<{LARGE}xf32>", "tensor<f32>", f"tensor<{COLUMNS}xf32>"
    return f"""func.func @main(%a: {a}, %b: {b}, %x: {large}) -> ({c}, {c}, {row}, {large}) {{
  %zero = stablehlo.constant dense<0.0> : {number}
  %tiny = stablehlo.constant dense<{2.0 ** -18!r}> : {c}
  %large = stablehlo.constant dense<{2.0 ** 110!r}> : {c}
  %low = stablehlo.constant dense<-90.0> : {c}
  %sums = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}
  %scaled = stablehlo.multiply %sums, %tiny : {c}
  %other = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}
  %ordinary = stablehlo.multiply %other, %large : {c}
  %exponent = stablehlo.multiply %ordinary, %low : {c}
  %powers = stablehlo.exponential %exponent : {c}
  %ofRows = stablehlo.reduce(%scaled init: %zero) applies stablehlo.add across dimensions = [0] : ({c}, {number}) -> {row}
  %one = stablehlo.slice %sums [0:1, 0:1] : ({c}) -> tensor<1x1xf32>
  %scalar = stablehlo.reshape %one : (tensor<1x1xf32>) -> {number}
  %all = stablehlo.broadcast_in_dim %scalar, dims = [] : ({number}) -> {large}
  %behind = stablehlo.multiply %x, %all : {large}
  return %scaled, %powers, %ofRows, %behind : {c}, {c}, {row}, {large}
}}
"""


@pytest.mark.parametrize("k", [4, 200, 1000, 5000])
def test_what_stands_around_products(k, tmp_path):
    """Products set the processor to count subnormal numbers as zeros, and set it back: on every thread, before their consumers."""
    digits = math.ceil(math.log2(k))
    a, b = np.full((ROWS, k), 2.0 ** -(90 + digits), np.float32), np.full((k, COLUMNS), 2.0 ** -20, np.float32)
    x = (2.0 ** -20 * np.random.default_rng(5).integers(1, 1 << 7, LARGE)).astype(np.float32)
    total = k * 2.0 ** -(110 + digits)
    path = tmp_path / "around.mlir"
    path.write_text(around(k))
    for threads in (1, 2, 5):
        for flags in ([], ["--quick"]):
            scaled, powers, of_rows, behind = tools.run_file(str(path), [a, b, x], "--cache-dir=off", *flags,
                                                             environment={"MILLRACE_NUM_THREADS": str(threads)})[0]
            where = f"{threads} threads {flags}"
            assert 0 < total * 2.0 ** -18 < 2.0 ** -126 and np.all(scaled == np.float32(total * 2.0 ** -18)), (where, np.unique(scaled))
            exponent = -90.0 * (total * 2.0 ** 110)
            assert np.allclose(powers, math.exp(exponent), rtol=1e-5, atol=3e-45), (where, np.unique(powers))
            assert np.all(of_rows == np.float32(ROWS * total * 2.0 ** -18)), (where, np.unique(of_rows))
            want = (x.astype(np.float64) * np.float64(np.float32(total))).astype(np.float32)
            assert np.array_equal(behind.view(np.uint32), want.view(np.uint32)), (where, np.flatnonzero(behind != want)[:5])


@pytest.mark.parametrize("dtype,rows,k,may_flush", [("f32", 16, 16, False), ("f32", 128, 160, True), ("f64", 128, 160, False)])
@pytest.mark.parametrize("target", ["host", "avx2"])
def test_subnormal_factors(dtype, rows, k, may_flush, target, tmp_path):
    """A subnormal factor times a large one: counts in small products, in those of f64, and without AVX-512."""
    path, artifact = tmp_path / "factors.mlir", tmp_path / "factors.mr"
    numpy, tiny, large = (np.float32, 2.0 ** -130, 2.0 ** 115) if dtype == "f32" else (np.float64, 2.0 ** -1030, 2.0 ** 1010)
    a, b, c = f"tensor<{rows}x{k}x{dtype}>", f"tensor<{k}x48x{dtype}>", f"tensor<{rows}x48x{dtype}>"
    path.write_text(f"func.func @main(%a: {a}, %b: {b}) -> {c} {{\n"
                    f"  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}\n  return %c : {c}\n}}\n")
    subprocess.run([tools.tool("xla-compile"), str(path), "-o", str(artifact), f"--target={target}"], check=True)
    got = tools.run_file(str(artifact), [np.full((rows, k), tiny, numpy), np.full((k, 48), large, numpy)])[0][0]
    exact = k * tiny * large
    assert any(np.all(got == each) for each in ((0, exact) if may_flush and target == "host" else (exact,))), np.unique(got)
