# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops on few scalars: one kernel each, with the results of JAX."""
import re

import numpy as np
import pytest

from benchmarks import tools

jax = pytest.importorskip("jax")
X64 = True  # see conftest.py
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

CASES = {}


def case(name, function, *arguments, native=True):
    CASES[name] = (function, arguments, native)


def lorenz(s, _):
    x, y, z = s
    return s + 0.001 * jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z]), s


def collatz(n):
    return lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))


def fibonacci(a):
    return lax.fori_loop(2, a.shape[0], lambda i, a: a.at[i].set((a[i - 1] + a[i - 2]) % 1000003), a)


def branches(x):
    def body(i, v):
        v = lax.cond(i % 3 == 0, lambda v: v * 1.5, lambda v: v - 1.0, v)
        return lax.switch(i % 4, [lambda v: v, lambda v: -v, lambda v: v + 2, lambda v: v * v * 0.1], v)
    return lax.fori_loop(0, 50, body, x)


def small_matrices(m, v):
    def body(i, s):
        m, v, best = s
        v = jnp.sum(m * v[None, :], axis=1)
        v = v / jnp.max(jnp.abs(v))
        return m[::-1].T, jnp.concatenate([v[1:], v[:1]]), jnp.maximum(best, v[i % 3])
    return lax.fori_loop(0, 100, body, (m, v, jnp.float32(-9)))


def insertion_sort(a):
    def outer(i, a):
        def inner(s):
            j, a = s
            left, right = a[j - 1], a[j]
            return j - 1, a.at[j].set(left).at[j - 1].set(right)
        return lax.while_loop(lambda s: (s[0] > 0) & (s[1][s[0] - 1] > s[1][s[0]]), inner, (i, a))[1]
    return lax.fori_loop(1, a.shape[0], outer, a)


F = np.float32
RANDOM = np.random.default_rng(2)
case("newton", lambda x: lax.fori_loop(0, 1000, lambda i, v: 0.5 * (v + x / v), x), F(7))
case("collatz", collatz, np.int32(77031))
case("nested", lambda x: lax.fori_loop(0, 30, lambda i, v: lax.fori_loop(0, i, lambda j, w: w + 1.0 / (1 + i * j), v), x), F(0.5))
case("scan", lambda xs: lax.scan(lambda c, v: (c * F(0.9) + v, c), F(0), xs), RANDOM.standard_normal(1000).astype(F))
case("scan_reverse", lambda xs: lax.scan(lambda c, v: (c + v, c * v), F(0), xs, reverse=True), RANDOM.standard_normal(100).astype(F))
case("scan_rows", lambda xs: lax.scan(lambda c, v: (c * F(0.9) + v, jnp.max(c + v)), jnp.zeros(3, F), xs), RANDOM.standard_normal((100, 3)).astype(F))
case("lorenz", lambda s: lax.scan(lorenz, s, None, length=500), np.ones(3, F))
case("fibonacci", fibonacci, np.ones(500, np.int32))
case("insertion_sort", insertion_sort, RANDOM.integers(0, 100, 60))
case("two_arrays", lambda a, b: lax.fori_loop(0, 60, lambda i, s: (s[0].at[i].add(s[1][(i * 7) % 60]), s[1].at[59 - i].multiply(2)), (a, b)),
     np.arange(60), np.arange(60)[::-1].copy())
case("drop_outside", lambda a: lax.fori_loop(0, 80, lambda i, a: a.at[i - 10].set(i, mode="drop").at[i + 30].add(1, mode="clip"), a), np.arange(40))
case("branches", branches, F(3))
case("small_matrices", small_matrices, RANDOM.standard_normal((3, 3)).astype(F), np.ones(3, F))
case("complex", lambda z, c: lax.while_loop(lambda s: (s[1] < 40) & (jnp.abs(s[0]) < 2), lambda s: (s[0] * s[0] + c, s[1] + 1), (z, 0)),
     np.complex64(0), np.complex64(-0.7 + 0.3j))
case("bits", lambda x: lax.fori_loop(0, 99, lambda i, v: (v ^ (v >> 13)) * np.uint32(0x5bd1e995) + i.astype(np.uint32), x), np.uint32(12345))
case("small_dynamic", lambda a: lax.fori_loop(0, 20, lambda i, a: lax.dynamic_update_slice(a, lax.dynamic_slice(a, (i % 5,), (2,)) + 1, ((i * 3) % 9,)), a),
     np.arange(8, dtype=F))
case("bf16", lambda x: lax.fori_loop(0, 200, lambda i, v: (v * 0.3 + jnp.sum(jnp.stack([v, v * v])) * 0.1 + 0.5).astype(jnp.bfloat16), x), jnp.bfloat16(0.37))
case("matrix_state", lambda x: lax.fori_loop(0, 90, lambda i, v: v @ v * F(0.5) + 1 / (1 + jnp.abs(v)), x), np.eye(8, dtype=F) * F(0.1), native=False)
case("swapped_arrays", lambda a, b: lax.fori_loop(0, 95, lambda i, s: (s[1], s[0].at[i % 30].set(i)), (a, b)), np.arange(30), np.arange(30) * 2, native=False)
case("read_after_update", lambda a: lax.fori_loop(1, 30, lambda i, a: a.at[i].set(a[i - 1] + 1) ^ a, a), np.arange(30), native=False)


@pytest.mark.parametrize("name", CASES)
def test_scalar_loop(name, tmp_path):
    function, arguments, native = CASES[name]
    path = tmp_path / "loop.mlir"
    path.write_text(jax.jit(function).trace(*arguments).lower(lowering_platforms=("cpu",)).as_text())
    inputs = [np.asarray(a) for a in arguments]
    got, process = tools.run_file(str(path), inputs, "--profile=-")
    kernels = process.stdout + process.stderr
    assert bool(re.search(r"\bwhile_\d", kernels)) == native, kernels
    for ours, theirs in zip(got, jax.tree_util.tree_leaves(jax.jit(function)(*arguments))):
        theirs = np.asarray(theirs)
        tolerance = 2e-2 if name == "bf16" else 1e-4 if theirs.dtype.kind in "fc" else 0
        np.testing.assert_allclose(np.asarray(ours).view(theirs.dtype).astype(np.complex128), theirs.astype(np.complex128), rtol=tolerance, atol=tolerance)
