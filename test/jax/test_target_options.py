# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine that a function is compiled for can be said; results have the same bits."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest


def lowered():
    x = jnp.asarray(np.random.default_rng(5).standard_normal((192, 160)), "float32")
    return jax.jit(lambda a: jnp.tanh(a @ a.T).sum(axis=0)).lower(x), x


def test_other_machines_compute_the_same_bits():
    program, x = lowered()
    want = np.asarray(program.compile()(x))
    for options in ({"millrace_target_threads": 1}, {"millrace_target_threads": 48, "millrace_target_caches": "16K/4,128K/8,4M/16"}):
        got = np.asarray(program.compile(compiler_options=options)(x))
        assert got.tobytes() == want.tobytes(), options


@pytest.mark.parametrize("options, message", [
    ({"millrace_target_threads": 0x7fffffff}, "millrace_target_threads expects a number from 1 to 1024, but got 2147483647"),
    ({"millrace_target_threads": "many"}, "millrace_target_threads expects a number, but got 'many'"),
    ({"millrace_target_caches": "32K"}, "expects size/ways of each level"),
    ({"millrace_target": "z80"}, "expects host, avx2, avx512"),
])
def test_what_cannot_be_is_an_error(options, message):
    program, _ = lowered()
    with pytest.raises(Exception, match="(?s).*" + message):
        program.compile(compiler_options=options)
