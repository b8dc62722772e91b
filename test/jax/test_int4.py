# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of four bits: as arguments, results and constants, in products, and packed in bytes, against NumPy."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

DTYPES = [jnp.int4, jnp.uint4]
LIMITS = {jnp.int4: (-8, 8), jnp.uint4: (0, 16)}


def draw(dtype, *shape, seed=0):
    low, high = LIMITS[dtype]
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def wide(array):
    return np.asarray(array).astype(np.int64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 64), (0, 4)])
def test_there_and_back(dtype, shape):
    x = draw(dtype, *shape)
    there = jax.device_put(x)
    assert there.dtype == dtype and there.shape == shape
    np.testing.assert_array_equal(wide(there), wide(x))
    again = jax.jit(lambda x: x)(there)
    assert again.dtype == dtype
    np.testing.assert_array_equal(wide(again), wide(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic_wraps(dtype):
    x, y = draw(dtype, 5, 33), draw(dtype, 5, 33, seed=1)
    total = jax.jit(lambda x, y: x + y * x)(x, y)
    assert total.dtype == dtype
    low = LIMITS[dtype][0]
    np.testing.assert_array_equal(wide(total), (wide(x) + wide(y) * wide(x) - low) % 16 + low)
    np.testing.assert_array_equal(jax.jit(lambda x, y: x < y)(x, y), wide(x) < wide(y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_conversions(dtype):
    x = draw(dtype, 64)
    for to in (jnp.int8, jnp.int32, jnp.float32, jnp.bfloat16):
        np.testing.assert_array_equal(np.asarray(jax.jit(lambda x: x.astype(to))(x)).astype(np.float64), wide(x))
    bytes_ = np.arange(-128, 128).astype(np.int8)
    low = LIMITS[dtype][0]
    np.testing.assert_array_equal(wide(jax.jit(lambda x: x.astype(dtype))(bytes_)), (bytes_.astype(int) - low) % 16 + low)


@pytest.mark.parametrize("dtype", DTYPES)
def test_movement(dtype):
    x = draw(dtype, 4, 6)
    got = jax.jit(lambda x: (x.T, x[1:3, ::2], jnp.concatenate([x, x], 1), x.reshape(3, 8), lax.dynamic_update_slice(x, x[:2, :2], (1, 1)), x[jnp.array([3, 0])]))(x)
    changed = wide(x)
    changed[1:3, 1:3] = wide(x)[:2, :2]
    want = (wide(x).T, wide(x)[1:3, ::2], np.concatenate([wide(x)] * 2, 1), wide(x).reshape(3, 8), changed, wide(x)[[3, 0]])
    for one, other in zip(got, want, strict=True):
        assert one.dtype == dtype
        np.testing.assert_array_equal(wide(one), other)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("element", [jnp.int32, jnp.float32])
def test_product(dtype, rows, element):
    x, w = draw(dtype, rows, 192), draw(dtype, 192, 256, seed=1)
    got = jax.jit(lambda x, w: jnp.matmul(x, w, preferred_element_type=element))(x, w)
    assert got.dtype == element
    np.testing.assert_array_equal(np.asarray(got).astype(np.int64), wide(x) @ wide(w))
    mixed = np.random.default_rng(2).integers(-128, 128, (rows, 192)).astype(np.int8)
    got = jax.jit(lambda x, w: lax.dot_general(x, w, (((1,), (1,)), ((), ())), preferred_element_type=element))(mixed, np.asarray(w).T.copy())
    np.testing.assert_array_equal(np.asarray(got).astype(np.int64), mixed.astype(np.int64) @ wide(w))


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_of_bytes(dtype):
    pairs = np.random.default_rng(3).integers(0, 256, (5, 16)).astype(np.uint8)
    codes = jax.jit(lambda x: lax.bitcast_convert_type(x, dtype))(pairs)
    assert codes.shape == (5, 16, 2) and codes.dtype == dtype
    low = LIMITS[dtype][0]
    want = (np.stack([pairs & 15, pairs >> 4], -1).astype(int) - low) % 16 + low
    np.testing.assert_array_equal(wide(codes), want)
    back = jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.uint8))(codes)
    np.testing.assert_array_equal(back, pairs)


def quantized(x):
    scale = jnp.max(jnp.abs(x), -1, keepdims=True) / 127
    return jnp.round(x / scale).astype(jnp.int8), scale


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("group", [32, 64, 128])
def test_weights_with_rounded_rows(rows, group):
    """Weights of four bits times rows that the program rounds to eight: sums of integers, then scales."""
    generator = np.random.default_rng(4)
    x = generator.standard_normal((rows, 256)).astype(np.float32)
    codes = draw(jnp.int4, 256, 256 // group, group)
    scales = generator.uniform(0.01, 0.02, (256, 256 // group)).astype(np.float32)

    def product(x, codes, scales):
        q, scale = quantized(x)
        weights = (codes.astype(jnp.float32) * scales[:, :, None]).reshape(256, 256)
        return lax.dot_general(q.astype(jnp.float32) * scale, weights, (((1,), (1,)), ((), ())))

    q, scale = (np.asarray(part) for part in jax.jit(quantized)(x))
    weights = (wide(codes) * scales.astype(np.float64)[:, :, None]).reshape(256, 256)
    want = q.astype(np.float64) * scale @ weights.T
    np.testing.assert_allclose(jax.jit(product)(x, codes, scales), want, rtol=1e-5, atol=1e-5)
