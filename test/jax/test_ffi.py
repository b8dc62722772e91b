# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handlers of jax.ffi, compiled as a user compiles them, and those of jaxlib, called by Millrace's runtime."""
import ctypes
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

HERE = os.path.dirname(os.path.abspath(__file__))


@pytest.fixture(scope="module")
def handlers(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("ffi") / "handlers.so")
    subprocess.run(["g++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-I", jax.ffi.include_dir(), "-o", path,
                    os.path.join(HERE, "ffi_handlers.cc")], check=True)
    library = ctypes.CDLL(path)
    for name in ("Scale", "MemoryOrder", "InPlace", "Threads", "Later"):
        jax.ffi.register_ffi_target(f"test_{name}", jax.ffi.pycapsule(getattr(library, name)), platform="cpu")
    library.counterTypeId.restype = library.counterTypeInfo.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    type_id, type_info = capsule(library.counterTypeId(), None, None), capsule(library.counterTypeInfo(), None, None)
    if hasattr(jax.ffi, "register_ffi_type"):
        jax.ffi.register_ffi_type("TestCounter", {"type_id": type_id, "type_info": type_info}, platform="cpu")
    else:  # JAX 0.8
        jax.ffi.register_ffi_type_id("TestCounter", type_id, platform="cpu")
    jax.ffi.register_ffi_target("test_Counter", {"instantiate": jax.ffi.pycapsule(library.CounterInstantiate),
                                                 "execute": jax.ffi.pycapsule(library.CounterExecute)}, platform="cpu")
    jax.ffi.register_ffi_target("test_untyped", jax.ffi.pycapsule(library.untypedAdd), platform="cpu", api_version=0)
    return library


def scale(x, mode="", **attributes):
    call = jax.ffi.ffi_call("test_Scale", jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="broadcast_all")
    attributes = dict(dict(power=2, negate=False, offsets=np.array([0.25, 0.5], np.float32)), **attributes)
    return call(x, factor=np.float32(3), mode=mode, more=dict(bias=np.int32(1)), **attributes)


def test_attributes(handlers):
    x = jnp.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(jax.jit(scale)(x), 3 * x ** 2 + 1.75)
    np.testing.assert_allclose(jax.jit(lambda x: scale(x, negate=True, power=1))(x), -(3 * x + 1.75))
    np.testing.assert_allclose(jax.jit(lambda x: scale(x, offsets=np.zeros(0, np.float32)))(x), 3 * x ** 2 + 1)
    np.testing.assert_allclose(jax.vmap(scale)(x), 3 * x ** 2 + 1.75)


def test_error_has_code_message_and_line(handlers):
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"(?s)OUT_OF_RANGE.*test_Scale.*this mode is refused: refuse"):
        jax.block_until_ready(jax.jit(lambda x: scale(x, mode="refuse"))(jnp.ones(3)))
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"test_ffi\.py:\d+"):
        jax.block_until_ready(jax.jit(lambda x: scale(x, mode="refuse"))(jnp.ones(3)))


def test_wrong_attribute_is_reported(handlers):
    with pytest.raises(jax.errors.JaxRuntimeError, match="(?s)INVALID_ARGUMENT.*expected S64 but got S32"):
        jax.block_until_ready(jax.jit(lambda x: scale(x, power=np.int32(2)))(jnp.ones(3)))


def test_unknown_target_names_the_line_and_a_neighbour(handlers):
    call = jax.ffi.ffi_call("test_Scala", jax.ShapeDtypeStruct((3,), np.float32))
    with pytest.raises(jax.errors.JaxRuntimeError, match="test_Scala' is not registered; did you mean 'test_Scale'"):
        jax.block_until_ready(jax.jit(call)(jnp.ones(3)))


@pytest.mark.parametrize("layout", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)], ids=str)
def test_operand_layouts(handlers, layout):
    """`layout` is major to minor: the handler sees the elements in that order, and the logical sizes."""
    x = jnp.arange(24.0).reshape(2, 3, 4)
    call = jax.ffi.ffi_call("test_MemoryOrder", (jax.ShapeDtypeStruct((24,), np.float32),
                                                 jax.ShapeDtypeStruct((3,), np.int64)), input_layouts=[layout])
    with jax.enable_x64(True):
        order, dims = jax.jit(call)(x)
    np.testing.assert_array_equal(order, np.transpose(np.asarray(x), layout).reshape(-1))
    assert list(dims) == [2, 3, 4]


def test_result_layout(handlers):
    x = jnp.arange(6.0)
    call = jax.ffi.ffi_call("test_MemoryOrder", (jax.ShapeDtypeStruct((2, 3), np.float32),
                                                 jax.ShapeDtypeStruct((1,), np.int64)), output_layouts=[(1, 0), (0,)])
    with jax.enable_x64(True):
        got, _ = jax.jit(call)(x)
    np.testing.assert_array_equal(got, np.arange(6.0).reshape(3, 2).T)


def test_aliased_result(handlers):
    call = jax.ffi.ffi_call("test_InPlace", jax.ShapeDtypeStruct((5,), np.float32), input_output_aliases={0: 0})
    x = jnp.arange(5.0)
    got, x_after = jax.jit(lambda x: (call(x), x * 1))(x)
    np.testing.assert_array_equal(got, np.arange(5.0) + 1)
    np.testing.assert_array_equal(x_after, np.arange(5.0))
    np.testing.assert_array_equal(x, np.arange(5.0))


def test_state_lives_with_the_executable(handlers):
    with jax.enable_x64(True):
        call = jax.ffi.ffi_call("test_Counter", jax.ShapeDtypeStruct((1,), np.int64), has_side_effect=True)
        f = jax.jit(lambda: call(start=np.int64(100))).lower().compile()
        assert handlers.countersAlive() == 1
        assert [int(f()[0]) for _ in range(3)] == [101, 102, 103]
    del f
    jax.clear_caches()
    assert handlers.countersAlive() == 0


def test_threads_and_run(handlers):
    call = jax.ffi.ffi_call("test_Threads", (jax.ShapeDtypeStruct((), np.float32), jax.ShapeDtypeStruct((2,), np.int64)))
    with jax.enable_x64(True):
        f = jax.jit(call)
        runs = []
        for _ in range(5):
            got, about = f(jnp.arange(100, dtype=np.float32))
            assert got == np.sum(np.arange(100.0) ** 2) and about[0] >= 1
            runs.append(int(about[1]))
    assert len(set(runs)) == 5


def test_future(handlers):
    call = jax.jit(jax.ffi.ffi_call("test_Later", jax.ShapeDtypeStruct((1,), np.float32)))
    np.testing.assert_array_equal(call(jnp.full(1, 21.0)), [42])
    with pytest.raises(Exception, match="negative, as it turned out"):
        jax.block_until_ready(call(jnp.full(1, -1.0)))


def test_untyped_function(handlers):
    call = jax.ffi.ffi_call("test_untyped", jax.ShapeDtypeStruct((4,), np.float32), custom_call_api_version=1)
    np.testing.assert_array_equal(jax.jit(call)(jnp.arange(4.0), jnp.ones(4)), np.arange(4.0) + 1)


# jaxlib's own handlers win over ours: without OpenBLAS nothing is missing.
LINALG = """
import jax, jax.numpy as jnp, numpy as np
from jax.experimental import sparse
jax.config.update("jax_enable_x64", True)
assert "illrace" in jax.devices()[0].client.platform_version
rng = np.random.default_rng(0)
for dtype in (np.float32, np.float64, np.complex64, np.complex128):
    a = (rng.standard_normal((3, 5, 5)) + (1j * rng.standard_normal((3, 5, 5)) if np.issubdtype(dtype, complex) else 0)).astype(dtype)
    h = a + np.swapaxes(a, -1, -2).conj()
    tolerance = dict(atol=2e-4 if dtype in (np.float32, np.complex64) else 1e-10)
    w, v = jax.jit(jnp.linalg.eigh)(h)
    np.testing.assert_allclose(h @ v, v * w[..., None, :], **tolerance)
    u, s, vt = jax.jit(lambda x: jnp.linalg.svd(x, full_matrices=False))(a)
    np.testing.assert_allclose((u * s[..., None, :]) @ vt, a, **tolerance)
    q, r = jax.jit(jnp.linalg.qr)(a)
    np.testing.assert_allclose(q @ r, a, **tolerance)
    np.testing.assert_allclose(a @ jax.jit(jnp.linalg.inv)(a), np.broadcast_to(np.eye(5), a.shape), atol=1e-2 if dtype in (np.float32, np.complex64) else 1e-9)
    e, x = jax.jit(jnp.linalg.eig)(a)
    np.testing.assert_allclose(a @ x, x * e[..., None, :], **tolerance)
    dense = np.where(rng.random((6, 4)) < 0.5, 0, rng.standard_normal((6, 4))).astype(dtype)
    m = sparse.BCSR.fromdense(jnp.asarray(dense))
    b = rng.standard_normal((4, 2)).astype(dtype)
    np.testing.assert_allclose(jax.jit(lambda m, b: m @ b)(m, b), dense @ b, **tolerance)
print("fine")
"""


def test_jaxlib_handlers_are_used():
    process = subprocess.run([sys.executable, "-c", LINALG], capture_output=True, text=True, timeout=300,
                             env=dict(os.environ, MILLRACE_OPENBLAS="/nowhere/libopenblas.so"))
    assert process.stdout.strip() == "fine", process.stderr[-3000:]
