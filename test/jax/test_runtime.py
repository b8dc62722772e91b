# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime under JAX: host memory, threads, errors on their way, leaving with work in flight, topologies."""
import subprocess
import sys
import threading
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import SingleDeviceSharding


def test_aligned_host_memory_is_used_in_place():
    memory = np.arange(1 << 12, dtype=np.float32)
    aligned = memory[(-memory.ctypes.data // 4) % 16:][:2048]
    assert jax.device_put(aligned).unsafe_buffer_pointer() == aligned.ctypes.data
    shifted = memory[(-memory.ctypes.data // 4) % 16 + 1:][:2048]
    copy = jax.device_put(shifted)
    assert copy.unsafe_buffer_pointer() % 64 == 0
    np.testing.assert_array_equal(copy, shifted)


def test_an_array_that_no_memory_can_hold():
    # What 64 bits cannot count ends the process in jaxlib, before any plug-in sees it: lit/tools/xla-run/too-large.mlir.
    with pytest.raises(jax.errors.JaxRuntimeError, match="'tensor<10000000x10000000xf32>' takes 400000000000000 bytes"):
        jnp.ones((10**7, 10**7))


@pytest.mark.parametrize("view", [lambda a: a, lambda a: a[1:], lambda a: a.reshape(8, 8).T, lambda a: a[::-2]],
                         ids=["whole", "unaligned", "transposed", "backwards"])
def test_arrays_of_other_libraries(view):
    a = view(np.arange(64, dtype=np.float32))
    np.testing.assert_array_equal(jax.device_put(a), a)
    if all(s > 0 for s in a.strides):
        np.testing.assert_array_equal(jnp.from_dlpack(a), a)


def test_many_threads_compile_and_run():
    wrong = []

    def work(k):
        f = jax.jit(lambda x: jnp.tanh(x @ x.T).sum() * k)
        x = jnp.full((32, 32), 0.01 * k)
        expected = float(f(x))
        wrong.extend(k for _ in range(30) if float(f(x)) != expected)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_an_error_reaches_what_depends_on_it():
    def fail(x):
        raise ValueError("the sensor is unplugged")

    x = jax.jit(lambda v: jax.pure_callback(fail, jax.ShapeDtypeStruct((), np.float32), v))(1.0)
    y = jax.jit(lambda v: v + 1)(jax.device_put(x, jax.devices()[-1]))
    with pytest.raises(Exception, match="unplugged"):
        y.block_until_ready()
    assert float(jax.jit(lambda v: v + 1)(1.0)) == 2.0


def test_out_of_memory_is_an_error():
    f = jax.jit(lambda x: (jnp.zeros((1 << 22, 1 << 22)) + x))
    with pytest.raises(Exception, match="RESOURCE_EXHAUSTED"):
        f(1.0).block_until_ready()


def test_offloading_to_host_memory():
    device = SingleDeviceSharding(jax.devices()[0])
    host = device.with_memory_kind("pinned_host")

    @partial(jax.jit, out_shardings=host)
    def f(x):
        return jax.device_put(jax.device_put(x, host), device) * 2

    y = f(jnp.arange(4.0))
    assert y.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(y, np.arange(4) * 2)


def test_programs_with_thousands_of_arguments():
    arguments = [jnp.float32(i) for i in range(3000)]
    assert [float(x) for x in jax.jit(lambda *a: [a[0] + a[2999], a[1500]])(*arguments)] == [2999, 1500]


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="jaxlib 0.8 asks for memories of devices that are not there")
def test_compiling_for_a_topology():
    from jax.experimental import topologies

    topology = topologies.get_topology_desc(platform="cpu", topology_name="4")
    assert len(topology.devices) == 4
    mesh = topologies.make_mesh(topology, (4,), ("x",))
    split = jax.NamedSharding(mesh, jax.P("x"))
    lowered = jax.jit(lambda a: a.sum(), in_shardings=split).lower(jax.ShapeDtypeStruct((8,), np.float32))
    assert lowered.compile().runtime_executable() is not None
    with pytest.raises(Exception, match="number of devices"):
        topologies.get_topology_desc(platform="cpu", topology_name="2x2x1")


def test_address_of_a_result_that_waits_for_python():
    """jaxlib asks with the interpreter's lock held: waiting for the callback would never end."""
    program = """
import faulthandler, time, jax, jax.numpy as jnp, numpy as np
faulthandler.dump_traceback_later(60, exit=True)
def late(a):
    time.sleep(0.2)
    return np.asarray(a) * 2
f = jax.jit(lambda x: jax.pure_callback(late, jax.ShapeDtypeStruct((64,), np.float32), x) + 1)
y = f(jnp.arange(64.0))
where = y.unsafe_buffer_pointer()
assert float(y[3]) == 7 and y.unsafe_buffer_pointer() == where
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr


def test_leaving_with_work_in_flight():
    program = """
import jax, jax.numpy as jnp
f = jax.jit(lambda x: jax.lax.fori_loop(0, 500, lambda i, v: jnp.sin(v @ v) * 0.5, x))
x = jnp.ones((128, 128)); f(x).block_until_ready()
results = [f(x) for _ in range(4)]
print("leaving")
"""
    process = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert process.returncode == 0 and process.stdout.strip() == "leaving", process.stderr
