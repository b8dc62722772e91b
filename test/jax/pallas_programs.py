# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays, calls and comparisons of the tests of Pallas."""
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

F32, I32, BF16 = jnp.float32, jnp.int32, jnp.bfloat16
ANY, SMEM, VMEM = pl.BlockSpec(memory_space=pl.ANY), pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.VMEM)
random = np.random.RandomState(0)


def shape(*sizes, dtype=F32):
    return jax.ShapeDtypeStruct(sizes, dtype)


def some(*sizes, dtype=F32):
    if jnp.issubdtype(dtype, jnp.bool_):
        return jnp.asarray(random.random_sample(sizes) < 0.5)
    if jnp.issubdtype(dtype, jnp.integer):
        info = jnp.iinfo(dtype)
        return jnp.asarray(random.randint(max(info.min, -100), min(info.max, 100), sizes), I32).astype(dtype)
    return jnp.asarray(random.standard_normal(sizes), F32).astype(dtype)


def count(*sizes, dtype=F32):
    return jnp.arange(math.prod(sizes)).reshape(sizes).astype(dtype)


def run(kernel, *arguments, **options):
    return jax.jit(pl.pallas_call(kernel, **options))(*arguments)


def of(function, *arguments):
    """The function in a kernel without a grid, which reads and writes whole arrays."""
    like = jax.eval_shape(function, *arguments)

    def kernel(*refs):
        refs[-1][...] = function(*(ref[...] for ref in refs[:-1]))

    return run(kernel, *arguments, out_shape=like)


def same(function, *arguments, tolerance=0.0):
    """In a kernel the function computes what it computes outside of one."""
    got, want = of(function, *arguments), jax.jit(function)(*arguments)
    assert got.dtype == want.dtype and got.shape == want.shape
    equal(got, want, tolerance)


def plain(x):
    x = jnp.asarray(x)
    return np.asarray(x.astype(F32) if x.dtype.itemsize < 4 and x.dtype != jnp.bool_ else x)


def equal(got, want, tolerance=0.0):
    np.testing.assert_allclose(plain(got), plain(want), tolerance, tolerance)


def product_kernel(x, y, out, total):
    @pl.when(pl.program_id(2) == 0)
    def _():
        total[...] = jnp.zeros_like(total)

    total[...] += x[...] @ y[...]

    @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
    def _():
        out[...] = total[...]
