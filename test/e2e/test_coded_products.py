# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of bytes times weights in codes of four and eight bits, against NumPy, for the instructions of every level of x86-64, on one thread and on two:
without fractions exactly, with scales to the rounding of a few sums, with the same bits for any number of threads and rows."""
import subprocess

import ml_dtypes
import numpy as np
import pytest

from benchmarks import tools

# Forms of codes in programs: element type, shape of what is stored for (columns, k), text from %c to %i, an integer for each weight as i32.
PACKED = """
  %m = stablehlo.constant dense<{mask}> : tensor<{n}x{h}x{t}>
  %f = stablehlo.constant dense<4> : tensor<{n}x{h}x{t}>
"""
FORMS = {
    "unsigned nibbles": ("ui8", 2, PACKED + """
  %low = stablehlo.and %c, %m : tensor<{n}x{h}xui8>
  %high = stablehlo.shift_right_logical %c, %f : tensor<{n}x{h}xui8>
""", 15),
    "signed nibbles": ("i8", 2, PACKED + """
  %up = stablehlo.shift_left %c, %f : tensor<{n}x{h}xi8>
  %low = stablehlo.shift_right_arithmetic %up, %f : tensor<{n}x{h}xi8>
  %high = stablehlo.shift_right_arithmetic %c, %f : tensor<{n}x{h}xi8>
""", 15),
    "int4": ("i4", 1, "", 0), "uint4": ("ui4", 1, "", 0), "int8": ("i8", 1, "", 0), "uint8": ("ui8", 1, "", 0),
}
STACK = """
  %l1 = stablehlo.reshape %low : (tensor<{n}x{h}x{t}>) -> tensor<{n}x{h}x1x{t}>
  %h1 = stablehlo.reshape %high : (tensor<{n}x{h}x{t}>) -> tensor<{n}x{h}x1x{t}>
  %both = stablehlo.concatenate %l1, %h1, dim = 2 : (tensor<{n}x{h}x1x{t}>, tensor<{n}x{h}x1x{t}>) -> tensor<{n}x{h}x2x{t}>
  %codes = stablehlo.reshape %both : (tensor<{n}x{h}x2x{t}>) -> tensor<{n}x{g}x{b}x{t}>
"""


def program(form, rows, columns, k, group):
    element, per_byte, text, mask = FORMS[form]
    names = dict(n=columns, k=k, h=k // per_byte, g=k // group, b=group, t=element, m=rows, mask=mask)
    text += STACK if per_byte == 2 else "  %codes = stablehlo.reshape %c : (tensor<{n}x{h}x{t}>) -> tensor<{n}x{g}x{b}x{t}>\n"
    return ("""
func.func @main(%x: tensor<{m}x{k}xi8>, %xs: tensor<{m}xf32>, %xz: tensor<{m}xi8>, %c: tensor<{n}x{h}x{t}>, %ws: tensor<{n}x{g}xf32>,
                %wz: tensor<{n}x{g}xi8>) -> tensor<{m}x{n}xf32> {{""" + text + """
  %i = stablehlo.convert %codes : (tensor<{n}x{g}x{b}x{t}>) -> tensor<{n}x{g}x{b}xi32>
  %z32 = stablehlo.convert %wz : (tensor<{n}x{g}xi8>) -> tensor<{n}x{g}xi32>
  %z = stablehlo.broadcast_in_dim %z32, dims = [0, 1] : (tensor<{n}x{g}xi32>) -> tensor<{n}x{g}x{b}xi32>
  %d = stablehlo.subtract %i, %z : tensor<{n}x{g}x{b}xi32>
  %df = stablehlo.convert %d : (tensor<{n}x{g}x{b}xi32>) -> tensor<{n}x{g}x{b}xf32>
  %s = stablehlo.broadcast_in_dim %ws, dims = [0, 1] : (tensor<{n}x{g}xf32>) -> tensor<{n}x{g}x{b}xf32>
  %ds = stablehlo.multiply %df, %s : tensor<{n}x{g}x{b}xf32>
  %w = stablehlo.reshape %ds : (tensor<{n}x{g}x{b}xf32>) -> tensor<{n}x{k}xf32>
  %x32 = stablehlo.convert %x : (tensor<{m}x{k}xi8>) -> tensor<{m}x{k}xi32>
  %xz32 = stablehlo.convert %xz : (tensor<{m}xi8>) -> tensor<{m}xi32>
  %xzb = stablehlo.broadcast_in_dim %xz32, dims = [0] : (tensor<{m}xi32>) -> tensor<{m}x{k}xi32>
  %xd = stablehlo.subtract %x32, %xzb : tensor<{m}x{k}xi32>
  %xf = stablehlo.convert %xd : (tensor<{m}x{k}xi32>) -> tensor<{m}x{k}xf32>
  %xsb = stablehlo.broadcast_in_dim %xs, dims = [0] : (tensor<{m}xf32>) -> tensor<{m}x{k}xf32>
  %a = stablehlo.multiply %xf, %xsb : tensor<{m}x{k}xf32>
  %r = stablehlo.dot_general %a, %w, contracting_dims = [1] x [1] : (tensor<{m}x{k}xf32>, tensor<{n}x{k}xf32>) -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
""").format(**names)


def codes_of(form, stored, columns, k):
    element, per_byte, _, _ = FORMS[form]
    numbers = stored.astype(np.int64)
    if per_byte == 2:
        numbers = np.stack([numbers & 15, (numbers >> 4) & 15], -1).reshape(columns, k)
    return np.where(numbers > 7, numbers - 16, numbers) if form in ("signed nibbles",) else numbers


def arguments(form, rows, columns, k, group, plain):
    generator = np.random.default_rng(hash((rows, columns, k, group)) % 1000)
    element, per_byte, _, _ = FORMS[form]
    low, high = {"i8": (-128, 128), "ui8": (0, 256), "i4": (-8, 8), "ui4": (0, 16)}[element]
    stored = generator.integers(low, high, (columns, k // per_byte))
    stored = stored.astype({"i8": np.int8, "ui8": np.uint8, "i4": ml_dtypes.int4, "ui4": ml_dtypes.uint4}[element])
    x = generator.integers(-128, 128, (rows, k)).astype(np.int8)
    x[0, :] = -128  # the largest sums
    scales = np.ones((columns, k // group)) if plain else generator.uniform(0.5, 1.5, (columns, k // group))
    row_scales = np.ones(rows) if plain else generator.uniform(0.5, 1.5, rows)
    zeros, row_zeros = (generator.integers(-100, 100, shape).astype(np.int8) for shape in ((columns, k // group), rows))
    return x, row_scales.astype(np.float32), row_zeros, stored, scales.astype(np.float32), zeros


def expected(form, x, row_scales, row_zeros, stored, scales, zeros):
    columns, groups = scales.shape
    k = x.shape[1]
    codes = codes_of(form, stored, columns, k).reshape(columns, groups, k // groups)
    weights = ((codes - zeros.astype(np.int64)[:, :, None]) * scales.astype(np.float64)[:, :, None]).reshape(columns, k)
    return (x.astype(np.int64) - row_zeros.astype(np.int64)[:, None]) * row_scales.astype(np.float64)[:, None] @ weights.T


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows, columns, k, group", [(1, 130, 256, 32), (3, 129, 384, 128), (5, 200, 192, 64), (9, 1001, 160, 32), (150, 131, 1024, 1024)])
def test_values(form, rows, columns, k, group, tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(program(form, rows, columns, k, group))
    for plain in (True, False):
        given = arguments(form, rows, columns, k, group, plain)
        want = expected(form, *given)
        for target in ("host", *tools.levels()):
            results = [tools.run_file(str(path), given, f"--target={target}", environment={"OMP_NUM_THREADS": str(threads)})[0][0]
                       for threads in ((1, 2) if target == "host" else (2,))]
            np.testing.assert_array_equal(results[0], results[-1])
            bound = np.abs(want).max() * 2e-6
            np.testing.assert_allclose(results[0], want, rtol=0, atol=bound, err_msg=target)


def test_rows_have_their_bits(tmp_path):
    """A row has the same bits alone and among others."""
    whole = arguments("unsigned nibbles", 9, 256, 512, 32, False)
    results = []
    for rows in (9, 1):
        path = tmp_path / f"{rows}.mlir"
        path.write_text(program("unsigned nibbles", rows, 256, 512, 32))
        given = [part[:rows] if place < 3 else part for place, part in enumerate(whole)]
        results.append(tools.run_file(str(path), given)[0][0])
    np.testing.assert_array_equal(results[0][:1], results[1])


def test_kernel_is_used(tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(program("unsigned nibbles", 1, 256, 512, 32))
    text = subprocess.run([tools.tool("xla-compile"), str(path), "--emit=fused", "--cache-dir=off"], capture_output=True, text=True, check=True).stdout
    assert "call @coded_product" in text
