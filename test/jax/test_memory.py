# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device holds: what lives, and one arena for the intermediate results of all its programs."""
import ctypes
import gc
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest

import jax
import jax.numpy as jnp

MIB = 1 << 20


@jax.jit
def model(x, weights):
    for w in weights:
        x = jnp.tanh(x @ w) + x
    return x.sum(axis=1)


def test_batch_sizes_share_one_arena():
    """Ten batch sizes of one model: what lives are its weights, and what is kept is what the largest one needs."""
    device = jax.devices()[0]
    weights = [jax.device_put(np.full((256, 256), 0.01, np.float32)) for _ in range(3)]
    sizes = [1024 * k for k in (1, 4, 2, 10, 3, 8, 5, 9, 6, 7)]
    needed = [model.lower(jnp.zeros((rows, 256)), weights).compile().memory_analysis().temp_size_in_bytes for rows in sizes]
    assert min(needed) > MIB and sum(needed) > 4 * max(needed)
    jax.block_until_ready(weights)
    gc.collect()
    before = device.memory_stats()
    for rows in sizes:
        x = np.full((rows, 256), 1 / rows, np.float32)
        y = x
        for _ in weights:
            y = np.tanh(y @ np.full((256, 256), 0.01, np.float32)) + y
        np.testing.assert_allclose(np.asarray(model(x, weights)), y.sum(axis=1), rtol=1e-4)
    gc.collect()
    after = device.memory_stats()
    assert after["bytes_in_use"] == before["bytes_in_use"]
    kept = after["pool_bytes"] - after["bytes_in_use"] - (before["pool_bytes"] - before["bytes_in_use"])
    assert kept <= max(needed) + 64 * MIB, (kept, needed)  # and some memory of arrays, Allocator::kSpareBytes
    assert kept < sum(needed) - 64 * MIB


ALTERNATE = """
import jax, jax.numpy as jnp, numpy as np
compiled = []
jax.monitoring.register_event_duration_secs_listener(lambda name, *_, **__: compiled.append(name) if "backend_compile" in name else None)
models = [jax.jit(lambda x, a, k=k: (jnp.tanh(x @ a + k) @ a).sum()) for k in (1, 2)]
a = jax.device_put(np.eye(512, dtype=np.float32))
xs = [jax.device_put(np.full((rows, 512), 0.5, np.float32)) for rows in (4096, 5000)]
needed = [f.lower(x, a).compile().memory_analysis().temp_size_in_bytes for f, x in zip(models, xs)]
first = [float(f(x, a)) for f, x in zip(models, xs)]
made = len(compiled)
for _ in range(5):
    assert first == [float(f(x, a)) for f, x in zip(models, xs)]
stats = jax.devices()[0].memory_stats()
print(len(compiled) - made, stats["peak_bytes_in_use"] <= stats["bytes_limit"], stats["pool_bytes"] <= stats["bytes_limit"], made > 0,
      stats["bytes_in_use"], *needed)
"""


def alternate(limit):
    ran = subprocess.run([sys.executable, "-c", ALTERNATE], capture_output=True, text=True, timeout=300,
                         env=dict(os.environ, MILLRACE_MEMORY_LIMIT=str(limit), JAX_NUM_CPU_DEVICES="1"))
    return ran.stdout.split(), ran.stderr


def test_large_programs_alternate_under_a_limit():
    """Either fits the limit, both together do not; neither is compiled again."""
    printed, errors = alternate(1 << 40)
    assert printed[:4] == ["0", "True", "True", "True"], errors
    arrays, one, two = map(int, printed[4:])
    assert min(one, two) > MIB
    printed, errors = alternate(arrays + max(one, two) + min(one, two) // 2)
    assert printed[:4] == ["0", "True", "True", "True"], errors
    printed, errors = alternate(arrays + max(one, two) // 2)
    assert not printed and "RESOURCE_EXHAUSTED" in errors


def at_the_end_of_memory(value):
    """A copy of `value` behind which there is no memory that can be read."""
    page = mmap.PAGESIZE
    size = -(-value.nbytes // page) * page
    memory = mmap.mmap(-1, size + page)
    libc = ctypes.CDLL(None, use_errno=True)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(address + size), page, 0) == 0
    copy = np.frombuffer(memory, value.dtype, value.size, size - value.nbytes).reshape(value.shape)
    copy[...] = value
    return copy


@pytest.mark.parametrize("shape", [(512, 512), (1024, 512), (512, 1024)])
def test_products_read_no_further_than_their_arguments(shape):
    """Memory of NumPy is used where it is: what comes behind it may be anything, or nothing."""
    a = at_the_end_of_memory(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))
    x = jax.dlpack.from_dlpack(a)
    assert x.unsafe_buffer_pointer() == a.ctypes.data
    np.testing.assert_allclose(jax.jit(lambda x: x.T @ x)(x), a.T @ a, rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(jax.jit(lambda x: x @ x.T)(x), a @ a.T, rtol=2e-3, atol=2e-3)
