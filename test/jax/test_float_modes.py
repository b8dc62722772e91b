# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Subnormal numbers are numbers, whether constants or arguments, on whichever of jaxlib's threads a program is compiled and run (those flush)."""
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

CASES = {
    "quotient": (lambda x: x / 4, 1.5e-38),
    "product": (lambda x: x * np.float32(0.5), 1.5e-38),
    "grows": (lambda x: x * np.float32(1e30), 1e-40),
    "is positive": (lambda x: x > 0, 1e-40),
    "differs": (lambda x: x != 0, 1e-40),
    "greater of both": (lambda x: jnp.maximum(x, 0), 1e-40),
    "root": (lax.sqrt, 1e-40),
    "exponential": (lambda x: lax.exp(x), -90.0),
    "logarithm": (lax.log, 1e-40),
    "sum": (lambda x: jnp.sum(jnp.stack([x, x, x])), 1e-40),
    "difference": (lambda x: x - np.float32(1.2e-38), 1.3e-38),
}


def bits(value):
    return np.asarray(value).tobytes()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.x64
def test_constants_are_what_arguments_are(name, dtype):
    function, number = CASES[name]
    # Of the same distance from the type's smallest normal number.
    scale = 2.0 ** -896 if dtype == "float64" and abs(number) < 1 else 7.9 if dtype == "float64" and number == -90 else 1
    x = np.array(number * scale if dtype != "float32" else number, jnp.dtype(dtype))
    typed = lambda x: function(x)
    from_argument = jax.jit(typed)(x)
    from_constant = jax.jit(lambda: typed(jnp.asarray(x)))()
    assert bits(from_argument) == bits(from_constant)
    if name in ("is positive", "differs"):
        assert bool(from_argument)
    elif name not in ("logarithm",):
        assert float(np.asarray(from_argument, np.float64)) != 0


def test_as_arithmetic_says():
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x / 4)(np.float32(1.5e-38))).view(np.uint32), 0x0028d57a)
    assert bool(jax.jit(lambda: jnp.float32(1e-40) > 0)())


PROGRAM = """
import concurrent.futures, jax, jax.numpy as jnp, numpy as np
programs = [jax.jit(lambda k=k: (jnp.float32(1.5e-38) / (4 + k), jnp.float32(1e-40) > 0, jnp.exp(jnp.float32(-100)))) for k in range(8)]
with concurrent.futures.ThreadPoolExecutor(4) as pool: # compiled side by side
    made = list(pool.map(lambda program: [np.asarray(r) for r in program()], programs))
print([[r.tobytes().hex() for r in results] for results in made])
"""


def test_what_is_kept(tmp_path):
    outputs = set()
    for _ in range(2):
        process = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=300,
                                 env=dict(os.environ, MILLRACE_CACHE="rw", MILLRACE_CACHE_DIR=str(tmp_path)))
        assert process.returncode == 0, process.stderr
        outputs.add(process.stdout)
    assert len(outputs) == 1 and "7ad52800" in outputs.pop()


def test_callbacks_see_the_usual_modes():
    def function(x):
        return np.asarray(x) * np.float32(0.25)

    x = np.full((3,), 1.5e-38, np.float32)
    got = jax.jit(lambda x: jax.pure_callback(function, jax.ShapeDtypeStruct((3,), np.float32), x) / 2)(x)
    np.testing.assert_array_equal(np.asarray(got).view(np.uint32), (x / 8).view(np.uint32))
