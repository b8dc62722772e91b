# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python functions called by programs: pure_callback, io_callback, debug.print and what is built on them."""
import gc
import os
import subprocess
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

from millrace_jax import callbacks

F32 = np.float32


def shape(*dims, dtype=F32):
    return jax.ShapeDtypeStruct(dims, dtype)


def test_pure_callback():
    f = jax.jit(lambda x: jax.pure_callback(np.sin, shape(3), x) * 2)
    np.testing.assert_allclose(f(jnp.arange(3.0)), np.sin(np.arange(3.0, dtype=F32)) * 2, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int32, jnp.bfloat16, np.float16, F32, np.complex64,
                                   jnp.float8_e4m3fn, jnp.int4], ids=lambda d: np.dtype(d).name)
def test_element_types(dtype):
    x = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    got = jax.jit(lambda x: jax.pure_callback(lambda y: np.asarray(y).T, jax.ShapeDtypeStruct((3, 2), dtype), x))(x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(np.asarray(got), x.T)


def test_several_results_scalars_and_empty_arrays():
    def function(a, b):
        return dict(sum=np.float32(a.sum()), none=np.zeros((0, 2), F32), both=np.concatenate([a, b]))

    types = dict(sum=shape(), none=shape(0, 2), both=shape(5))
    got = jax.jit(lambda a, b: jax.pure_callback(function, types, a, b))(jnp.arange(3.0), jnp.ones(2))
    assert got["sum"] == 3 and got["none"].shape == (0, 2)
    np.testing.assert_array_equal(got["both"], [0, 1, 2, 1, 1])


@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_vmap(method):
    f = lambda x: jax.pure_callback(lambda y: np.asarray(y) * 2, shape(), x, vmap_method=method)
    np.testing.assert_array_equal(jax.jit(jax.vmap(f))(jnp.arange(4.0)), np.arange(4.0) * 2)


def test_arguments_may_be_kept():
    kept = []
    f = jax.jit(lambda x: (io_callback(kept.append, None, x), x + 1)[1])
    for i in range(20):
        jax.block_until_ready(f(jnp.full(1000, float(i))))
    jax.effects_barrier()
    assert [float(x[0]) for x in kept] == list(range(20)) and all((np.asarray(x) == x[0]).all() for x in kept)


def test_ordered_io_callbacks():
    seen = []

    def body(i, x):
        io_callback(lambda i: seen.append(int(i)), None, i, ordered=True)
        return x + i

    f = jax.jit(lambda x: jax.lax.fori_loop(0, 5, body, x))
    for _ in range(3):
        f(0)
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3, 4] * 3


def test_ordered_callback_with_result():
    counter = iter(range(100))
    f = jax.jit(lambda x: x + io_callback(lambda: np.int32(next(counter)), shape(dtype=np.int32), ordered=True))
    assert [int(f(10)) for _ in range(4)] == [10, 11, 12, 13]


def test_callback_in_a_branch():
    seen = []
    f = jax.jit(lambda p, x: jax.lax.cond(p, lambda x: io_callback(lambda y: (seen.append(1), y)[1], shape(), x),
                                          lambda x: -x, x))
    assert f(True, 2.0) == 2 and f(False, 2.0) == -2
    jax.effects_barrier()
    assert seen == [1]


def test_debug_print(capfd):
    @jax.jit
    def f(x):
        jax.debug.print("x is {x}", x=x)
        jax.debug.print("ordered {x}", x=x * 2, ordered=True)
        return x

    f(jnp.int32(7))
    jax.effects_barrier()
    out = capfd.readouterr().out
    assert "x is 7" in out and "ordered 14" in out


def test_unused_pure_callback_is_dropped():
    seen = []
    jax.block_until_ready(jax.jit(lambda x: (jax.pure_callback(lambda y: (seen.append(1), y)[1], shape(3), x), x)[1])(
        jnp.arange(3.0)))
    assert seen == []


def test_exceptions_become_errors():
    def bad(x):
        raise ValueError("ouch, says the callback")

    with pytest.raises(jax.errors.JaxRuntimeError, match="ValueError: ouch, says the callback"):
        jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(bad, shape(3), x))(jnp.arange(3.0)))
    # Nothing is left behind.
    np.testing.assert_array_equal(jax.jit(lambda x: jax.pure_callback(lambda y: y, shape(3), x))(jnp.arange(3.0)),
                                  np.arange(3.0))


@pytest.mark.parametrize("value,message", [(np.zeros(4, F32), "shape"), (np.zeros(3, np.int32), "dtype"),
                                           ((np.zeros(3, F32),) * 2, "number of outputs")], ids=str)
def test_wrong_results_are_errors(value, message):
    with pytest.raises(jax.errors.JaxRuntimeError, match=message):
        jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(lambda y: value, shape(3), x))(jnp.arange(3.0)))


def test_long_messages_keep_their_end():
    def bad(x):
        raise ValueError("x" * 100000 + " the end")

    with pytest.raises(jax.errors.JaxRuntimeError, match="the end"):
        jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(bad, shape(), x))(1.0))


def test_callbacks_may_use_jax():
    inner = jax.jit(lambda y: jnp.sin(y) @ jnp.ones((3, 3)))
    f = jax.jit(lambda x: jax.pure_callback(lambda y: jax.block_until_ready(inner(jnp.asarray(y))), shape(3), x))
    np.testing.assert_allclose(f(jnp.arange(3.0)), np.full(3, np.sin(np.arange(3.0)).sum()), rtol=1e-5)


def test_other_threads_may_dispatch_meanwhile():
    """The device's thread waits in a callback for an event that the main thread sets after more dispatches."""
    ready, arrived = threading.Event(), threading.Event()

    def wait(x):
        arrived.set()
        assert ready.wait(60)
        return np.asarray(x)

    slow = jax.jit(lambda x: jax.pure_callback(wait, shape(3), x))(jnp.arange(3.0))
    assert arrived.wait(60)
    later = jax.jit(lambda x: x + 1)(slow)
    ready.set()
    np.testing.assert_array_equal(later, np.arange(3.0) + 1)


def test_functions_are_released():
    gc.collect()
    before = len(callbacks._functions)

    class Function:
        def __call__(self, x):
            return np.asarray(x)

    f = jax.jit(lambda x: jax.pure_callback(Function(), shape(3), x))
    jax.block_until_ready(f(jnp.arange(3.0)))
    assert len(callbacks._functions) == before + 1
    del f
    jax.clear_caches()
    gc.collect()
    assert len(callbacks._functions) <= before


def test_checkify_and_sparse_solve():
    from jax.experimental import checkify
    from jax.experimental.sparse.linalg import spsolve

    def f(x):
        checkify.check(x > 0, "{x} is not positive", x=x)
        return jnp.log(x)

    error, _ = checkify.checkify(jax.jit(f))(-1.0)
    with pytest.raises(checkify.JaxRuntimeError, match="is not positive"):
        error.throw()
    data, indptr = np.array([2, 4, 1], F32), np.array([0, 1, 3], np.int32)
    got = spsolve(data, np.array([0, 0, 1], np.int32), indptr, np.array([2, 6], F32))
    np.testing.assert_allclose(got, [1, 2])


def run(program, **environment):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, **environment))


def test_exit_during_a_callback():
    """The process ends, and in order, although the last callback is still running when the program does."""
    process = run("import jax, time, numpy as np, jax.numpy as jnp\n"
                  "def slow(x):\n  time.sleep(1); print('done', flush=True)\n"
                  "jax.jit(lambda x: jax.debug.callback(slow, x))(jnp.ones(3))\n"
                  "f = jax.jit(lambda x: jax.pure_callback(lambda y: (time.sleep(1), y)[1], x, x))\n"
                  "pending = f(jnp.ones(3))\n")
    assert process.returncode == 0 and process.stdout == "done\n", process.stderr


def test_persistent_cache(tmp_path):
    """A program from the cache calls the function of this process, not one of the process that compiled it."""
    program = ("import jax, numpy as np, jax.numpy as jnp, sys\n"
               "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
               "jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\n"
               "word = sys.argv[1] if len(sys.argv) > 1 else '{}'\n"
               "f = jax.jit(lambda x: jax.pure_callback(lambda y: (print(word, flush=True), y)[1], x, x))\n"
               "print(float(f(jnp.float32(3))))\n")
    for word in ("first", "second"):
        process = run(program.replace("{}", word), JAX_COMPILATION_CACHE_DIR=str(tmp_path))
        assert process.stdout == f"{word}\n3.0\n", process.stderr


@pytest.fixture
def mesh():
    if len(jax.devices()) < 4:
        pytest.skip("needs 4 devices: --xla_force_host_platform_device_count, as scripts/check sets it")
    return jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",))


def test_callback_per_device_in_shard_map(mesh):
    P = jax.sharding.PartitionSpec
    seen = []
    double = lambda y: (seen.append(np.asarray(y).shape), np.asarray(y) * 2)[1]
    f = jax.shard_map(lambda x: io_callback(double, shape(2), x), mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    np.testing.assert_array_equal(jax.jit(f)(jnp.arange(8.0)), np.arange(8.0) * 2)
    assert seen == [(2,)] * 4


@pytest.mark.parametrize("ordered", [False, True])
def test_callback_of_a_sharded_program_runs_once(mesh, ordered):
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    seen = []

    def count(x):
        seen.append(np.asarray(x))
        return np.asarray(x) + len(seen)

    f = jax.jit(lambda x: io_callback(count, shape(8), x * 2, ordered=ordered), in_shardings=sharding,
                out_shardings=sharding)
    for i in range(1, 4):
        got = f(jax.device_put(jnp.arange(8.0), sharding))
        assert len(got.addressable_shards) == 4
        np.testing.assert_array_equal(got, np.arange(8.0) * 2 + i)
    jax.effects_barrier()
    assert len(seen) == 3 and all(np.array_equal(x, np.arange(8.0) * 2) for x in seen)
