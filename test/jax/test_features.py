# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What JAX offers around a program: donation, ahead-of-time compilation, caches, dlpack, memories, callbacks, errors."""
import functools
import gc
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def test_donation_consumes_its_argument():
    f = jax.jit(lambda x, y: (x + 1, y.sum()), donate_argnums=0)
    x, y = jnp.arange(1000.0), jnp.ones(4)
    result = f(x, y)[0]
    assert x.is_deleted() and not y.is_deleted()
    np.testing.assert_array_equal(result, np.arange(1000.0) + 1)
    with pytest.raises(RuntimeError, match="deleted|donated"):
        np.asarray(x + 1)


def test_donation_reuses_the_memory():
    f = jax.jit(lambda x: x * 2, donate_argnums=0)
    x = jnp.arange(4096.0) + 0
    where = x.unsafe_buffer_pointer()
    assert f(x).unsafe_buffer_pointer() == where


def test_donation_twice_is_an_error():
    f = jax.jit(lambda x, y: (x + y, y - x), donate_argnums=(0, 1))
    x = jnp.ones(8) + 0
    with pytest.raises(Exception, match="donate"):
        f(x, x)


def test_view_of_a_result_survives_donation():
    f = jax.jit(lambda x: x * 2, donate_argnums=0)
    x = jnp.arange(64.0) + 0
    view = np.asarray(x)
    f(x)
    np.testing.assert_array_equal(view, np.arange(64.0))


def test_numpy_argument_may_change_afterwards():
    f = jax.jit(lambda x: x + 1)
    x = np.zeros(1 << 16, np.float32)
    for value in range(20):
        x[:] = value
        y = f(x)
        x[:] = -100
        np.testing.assert_array_equal(y, value + 1)


def test_ahead_of_time():
    lowered = jax.jit(lambda x, y: jnp.dot(x, y)).lower(jax.ShapeDtypeStruct((64, 32), "float32"), jnp.ones((32, 16)))
    compiled = lowered.compile()
    np.testing.assert_allclose(compiled(jnp.ones((64, 32)), jnp.ones((32, 16))), 32 * np.ones((64, 16)))
    assert compiled.cost_analysis()["flops"] == 2 * 64 * 32 * 16
    memory = compiled.memory_analysis()
    assert memory.argument_size_in_bytes == 4 * (64 * 32 + 32 * 16)
    assert memory.output_size_in_bytes == 4 * 64 * 16
    assert "dot" in compiled.as_text()
    with pytest.raises(TypeError, match="compiled|argument"):
        compiled(jnp.ones((64, 33)), jnp.ones((33, 16)))


def conv(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@pytest.mark.parametrize("f, shapes, flops", [
    (lambda x: x.sum(), [(100,)], 99),
    (lambda x: jnp.exp(x) * 2 + 1, [(10, 10)], 300),
    # 3 x 3 windows on 8 x 8 pixels with padding: 8 * 3 - 2 pairs along each side meet a pixel
    (conv, [(2, 8, 8, 3), (3, 3, 3, 5)], 2 * 2 * 22 * 22 * 3 * 5),
    # equal layers share their machine code, and count all the same
    (lambda x, a, b, c: jnp.tanh(jnp.tanh(jnp.tanh(x @ a) @ b) @ c), [(16, 16)] * 4, 3 * (2 * 16 ** 3 + 256)),
])
def test_cost_of_programs_counted_by_hand(f, shapes, flops):
    compiled = jax.jit(f).lower(*[jax.ShapeDtypeStruct(s, "float32") for s in shapes]).compile()
    assert compiled.cost_analysis()["flops"] == flops


def test_bytes_accessed():
    compiled = jax.jit(lambda x, y: x @ y).lower(jnp.ones((64, 32)), jnp.ones((32, 16))).compile()
    assert compiled.cost_analysis()["bytes accessed"] == 4 * (64 * 32 + 32 * 16 + 64 * 16)


def test_serialized_executable():
    from jax.experimental import serialize_executable

    compiled = jax.jit(lambda x: jnp.sin(x) * 2).lower(jnp.ones(7)).compile()
    loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled),
                                                       execution_devices=jax.devices()[:1])
    np.testing.assert_allclose(loaded(jnp.ones(7)), 2 * np.sin(np.ones(7)), rtol=1e-6)


def test_export_and_import():
    from jax import export

    exported = export.export(jax.jit(lambda x: jnp.cumsum(x) ** 2))(jax.ShapeDtypeStruct((5,), "float32"))
    again = export.deserialize(exported.serialize())
    np.testing.assert_allclose(again.call(jnp.arange(5.0)), np.cumsum(np.arange(5.0)) ** 2)
    symbolic = export.export(jax.jit(lambda x: x.sum(0) / x.shape[0]))(jax.ShapeDtypeStruct(export.symbolic_shape("n, 3"), "float32"))
    np.testing.assert_allclose(symbolic.call(jnp.ones((11, 3))), np.ones(3))


def test_persistent_cache_hits_in_a_second_process(tmp_path):
    code = """
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
import jax
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
print("value", jax.jit(lambda x: jax.numpy.tanh(x) @ x)(jax.numpy.ones((8, 8)))[0, 0])
"""
    outputs = [subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True) for _ in range(2)]
    assert all(o.returncode == 0 for o in outputs), outputs[0].stderr + outputs[1].stderr
    assert "cache hit" not in outputs[0].stdout.lower() and "cache hit" in outputs[1].stdout.lower()


def test_dlpack_both_ways():
    x = jnp.arange(1024.0).reshape(32, 32) + 0
    there = np.from_dlpack(x)
    assert there.__array_interface__["data"][0] == x.unsafe_buffer_pointer()
    source = np.arange(4096, dtype=np.float32)
    y = jnp.from_dlpack(source)
    del source
    gc.collect()
    np.testing.assert_array_equal(y + 1, np.arange(4096, dtype=np.float32) + 1)


def test_numpy_view_is_zero_copy():
    x = jnp.arange(1 << 16) + 0
    assert np.asarray(x).__array_interface__["data"][0] == x.unsafe_buffer_pointer()


def test_memory_kinds():
    device = jax.devices()[0]
    assert {m.kind for m in device.addressable_memories()} >= {"device", "pinned_host", "unpinned_host"}
    from jax.sharding import SingleDeviceSharding
    host = jax.device_put(jnp.arange(8.0), SingleDeviceSharding(device, memory_kind="pinned_host"))
    assert host.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(jax.device_put(host, SingleDeviceSharding(device, memory_kind="device")), np.arange(8.0))


def test_memory_statistics():
    device = jax.devices()[0]
    before = device.memory_stats()["bytes_in_use"]
    x = jax.device_put(jnp.zeros(1 << 20, jnp.float32) + 0, device)
    x.block_until_ready()
    assert device.memory_stats()["bytes_in_use"] - before >= 1 << 22
    del x


def test_devices_and_copies():
    devices = jax.devices()
    assert len(devices) == 8 and all(d.platform == "cpu" for d in devices)
    x = jax.device_put(jnp.arange(5.0), devices[3])
    assert x.devices() == {devices[3]}
    y = jax.jit(lambda x: x * 2)(x)
    assert y.devices() == {devices[3]}
    np.testing.assert_array_equal(jax.device_put(y, devices[5]), np.arange(5.0) * 2)


def test_pmap():
    f = jax.pmap(lambda x: x / jax.lax.psum(x, "i"), axis_name="i")
    np.testing.assert_allclose(f(jnp.arange(1.0, 9.0)), np.arange(1.0, 9.0) / 36)
    g = jax.pmap(lambda x: jax.lax.ppermute(x, "i", [(i, (i + 1) % 8) for i in range(8)]), axis_name="i")
    np.testing.assert_array_equal(g(jnp.arange(8)), np.roll(np.arange(8), 1))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32",
                                   "complex64", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_transfers_of_every_type(dtype):
    values = (np.arange(24) % 7).reshape(2, 3, 4).astype(jnp.dtype(dtype))
    np.testing.assert_array_equal(np.asarray(jnp.asarray(values)), values)
    np.testing.assert_array_equal(np.asarray(jnp.asarray(values.transpose(2, 0, 1)[::-1])), values.transpose(2, 0, 1)[::-1])
    np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x.T)(values)), values.T)


def test_empty_and_scalar():
    assert jnp.zeros((0, 3)).sum() == 0
    assert jax.jit(lambda x: jnp.concatenate([x, x]))(jnp.zeros((0, 2))).shape == (0, 2)
    assert float(jax.jit(lambda x: x + 1)(2.0)) == 3.0
    assert jax.jit(lambda: 5)() == 5


def test_asynchronous_dispatch():
    """The call returns before the value is there."""
    import time

    @jax.jit
    def slow(x):
        return jax.lax.fori_loop(0, 400, lambda _, v: jnp.tanh(v @ v), x)

    x = jnp.ones((256, 256)) * 0.01
    slow(x).block_until_ready()
    begin = time.perf_counter()
    y = slow(x)
    dispatched = time.perf_counter() - begin
    y.block_until_ready()
    whole = time.perf_counter() - begin
    assert dispatched < whole / 2


def test_checks_for_nan():
    with jax.debug_nans(True):
        with pytest.raises(FloatingPointError):
            jnp.log(-jnp.ones(3))
    from jax.experimental import checkify
    error, _ = checkify.checkify(jax.jit(lambda x: jnp.log(x)), errors=checkify.float_checks)(-1.0)
    assert "nan" in str(error.get())


def test_compile_error_names_the_users_line():
    """A custom call that nobody registered: the message has this file and the line of the call."""
    def f(x):
        return jax.ffi.ffi_call("nobody_has_this_target", jax.ShapeDtypeStruct((3,), "float32"))(x)
    with pytest.raises(Exception) as caught:
        jax.jit(f)(jnp.ones(3)).block_until_ready()
    assert "nobody_has_this_target" in str(caught.value) and os.path.basename(__file__) in str(caught.value)


def test_unknown_compiler_option():
    with pytest.raises(Exception, match="no_such_option"):
        jax.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={"no_such_option": "1"})
    assert jax.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={"millrace_fuse": False})(1.0) == 2.0
    third = jax.jit(lambda x: x / 3.0)
    for option in ("millrace_relaxed", "xla_cpu_enable_fast_math"):
        relaxed = third.lower(1.0).compile(compiler_options={option: True})
        assert abs(relaxed(7.0) - 7 / 3) < 1e-6


def test_pure_callback():
    f = jax.jit(lambda x: jax.pure_callback(lambda v: np.sort(v)[::-1].copy(), jax.ShapeDtypeStruct((5,), "float32"), x) * 2)
    np.testing.assert_array_equal(f(jnp.array([3.0, 1, 4, 1, 5])), [10, 8, 6, 2, 2])
    g = jax.vmap(lambda x: jax.pure_callback(np.cbrt, jax.ShapeDtypeStruct((), "float32"), x, vmap_method="sequential"))
    np.testing.assert_allclose(jax.jit(g)(jnp.array([1.0, 8, 27])), [1, 2, 3], rtol=1e-6)


def test_ordered_callbacks_and_prints(capfd):
    from jax.experimental import io_callback

    seen = []

    @jax.jit
    def f(x):
        def body(i, v):
            io_callback(lambda i: seen.append(int(i)), None, i, ordered=True)
            return v + i
        jax.debug.print("start {x}", x=x, ordered=True)
        return jax.lax.fori_loop(0, 5, body, x)

    assert float(f(1.0)) == 11
    jax.effects_barrier()
    assert seen == [0, 1, 2, 3, 4] and "start 1.0" in capfd.readouterr().out


def test_callback_exception_reaches_the_user():
    def bad(x):
        raise ValueError("the well is dry")
    with pytest.raises(Exception, match="the well is dry"):
        jax.jit(lambda x: jax.pure_callback(bad, jax.ShapeDtypeStruct((), "float32"), x))(1.0).block_until_ready()
    assert float(jax.jit(lambda x: x + 1)(1.0)) == 2.0


def test_user_ffi_target(tmp_path):
    """A handler as a user writes it, against the header that jaxlib ships."""
    source = tmp_path / "scale.cc"
    source.write_text("""
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
static ffi::Error Scale(float by, std::string_view what, ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  if (what != "scale") return ffi::Error::InvalidArgument("asked to " + std::string(what));
  for (size_t i = 0; i < x.element_count(); ++i) y->typed_data()[i] = by * x.typed_data()[i];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(ScaleHandler, Scale, ffi::Ffi::Bind().Attr<float>("by").Attr<std::string_view>("what")
  .Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
""")
    library = tmp_path / "libscale.so"
    subprocess.run(["clang++-22", "-std=c++17", "-shared", "-fPIC", f"-I{jax.ffi.include_dir()}", "-o", library, source], check=True)
    import ctypes
    handler = ctypes.CDLL(str(library)).ScaleHandler
    jax.ffi.register_ffi_target("millrace_test_scale", jax.ffi.pycapsule(handler), platform="cpu")
    x = jnp.arange(6.0).reshape(2, 3)
    call = jax.ffi.ffi_call("millrace_test_scale", jax.ShapeDtypeStruct(x.shape, x.dtype))
    np.testing.assert_array_equal(jax.jit(lambda x: call(x, by=np.float32(3), what="scale"))(x), 3 * np.asarray(x))
    with pytest.raises(Exception, match="asked to shrink"):
        jax.jit(lambda x: call(x, by=np.float32(3), what="shrink"))(x).block_until_ready()


def test_later_programs_are_compiled_like_the_first():
    """Pipelines are prepared once: what a pass remembers of one program must not reach another. Here, functions whose calls are inlined."""
    from jax.experimental import serialize_executable

    def turn(step, i, arrays):
        x, y = arrays
        return x.at[i].set(y[i] + step), y.at[i].set(x[i] * 2)
    sizes = []
    for step in range(24):
        program = jax.jit(lambda a: jax.lax.fori_loop(0, 500, functools.partial(turn, step / 3), (a, a + 1)))
        sizes.append(len(serialize_executable.serialize(program.lower(jnp.zeros(500)).compile())[0]))
    assert max(sizes) < 1.1 * min(sizes), sizes
