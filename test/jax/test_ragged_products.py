# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.lax.ragged_dot() on the plug-in: values, gradients, and that the work does not grow with the number of groups."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding, PartitionSpec

random = np.random.RandomState(0)
SIZES = [[4, 0, 9, 3], [16], [1] * 16, [0, 0, 16], [3, 0, 5, 0], [0, 0], [100, 0, 0, 37, 5, 60]]


def some(*shape, dtype=jnp.float32):
    return jnp.asarray(random.standard_normal(shape), dtype)


def close(got, want, tolerance=1e-4):
    np.testing.assert_allclose(np.asarray(got, np.float32), np.asarray(want, np.float32), tolerance, tolerance)


def by_groups(x, matrices, sizes):
    ends = np.cumsum([0, *sizes])
    parts = [np.asarray(x[a:b], np.float32) @ np.asarray(matrices[i], np.float32) for i, (a, b) in enumerate(zip(ends, ends[1:]))]
    return np.concatenate([*parts, np.zeros((x.shape[0] - ends[-1], matrices.shape[2]), np.float32)])


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_values(sizes, dtype):
    x, matrices = some(max(16, sum(sizes)), 24, dtype=dtype), some(len(sizes), 24, 10, dtype=dtype)
    got = jax.jit(jax.lax.ragged_dot)(x, matrices, jnp.asarray(sizes, jnp.int32))
    assert got.dtype == dtype
    close(got, by_groups(x, matrices, sizes), 1e-4 if dtype == jnp.float32 else 5e-2)


@pytest.mark.parametrize("sizes", SIZES)
def test_gradients(sizes):
    x, matrices = some(max(16, sum(sizes)), 24), some(len(sizes), 24, 10)
    ends = np.cumsum([0, *sizes])

    def reference(x, matrices):
        return sum((jnp.dot(x[a:b], matrices[i]) ** 2).sum() for i, (a, b) in enumerate(zip(ends, ends[1:])))

    got = jax.jit(jax.grad(lambda x, m: (jax.lax.ragged_dot(x, m, jnp.asarray(sizes, jnp.int32)) ** 2).sum(), (0, 1)))(x, matrices)
    for a, b in zip(got, jax.grad(reference, (0, 1))(x, matrices)):
        close(a, b, 1e-3)


def test_one_loop():
    text = jax.jit(jax.lax.ragged_dot).lower(some(64, 8), some(32, 8, 4), jnp.full(32, 2, jnp.int32)).as_text()
    assert text.count("stablehlo.while") == 1 and "tensor<32x64x" not in text
    text = jax.jit(jax.grad(lambda x, m: jax.lax.ragged_dot(x, m, jnp.full(32, 2, jnp.int32)).sum(), (0, 1))).lower(some(64, 8), some(32, 8, 4)).as_text()
    assert "tensor<32x64x" not in text


def test_preferred_types_and_wide_integers():
    x, matrices, sizes = some(16, 8, dtype=jnp.bfloat16), some(2, 8, 4, dtype=jnp.bfloat16), jnp.asarray([5, 11])
    got = jax.jit(lambda *a: jax.lax.ragged_dot(*a, preferred_element_type=jnp.float32))(x, matrices, sizes)
    assert got.dtype == jnp.float32
    close(got, by_groups(x, matrices, [5, 11]))
    with jax.enable_x64(True):
        close(jax.jit(jax.lax.ragged_dot)(some(16, 8).astype(jnp.float64), matrices.astype(jnp.float64), jnp.asarray([5, 11], jnp.int64)).shape, (16, 4))


def test_batches_and_devices_are_jaxs():
    """Under vmap, and where the partitioner cuts the rows, JAX's own lowering stays."""
    x, matrices, sizes = some(3, 16, 8), some(2, 8, 4), jnp.asarray([5, 11])
    got = jax.jit(jax.vmap(jax.lax.ragged_dot))(x, jnp.stack([matrices] * 3), jnp.stack([sizes] * 3))
    close(got, np.stack([by_groups(each, matrices, [5, 11]) for each in x]))
    mesh = jax.make_mesh((4,), ("x",), devices=jax.devices()[:4], axis_types=(jax.sharding.AxisType.Auto,))
    sharded = jax.device_put(x[0], NamedSharding(mesh, PartitionSpec("x")))
    close(jax.jit(jax.lax.ragged_dot)(sharded, matrices, sizes), by_groups(x[0], matrices, [5, 11]))
    parts = jax.jit(jax.shard_map(jax.lax.ragged_dot, mesh=mesh, in_specs=(PartitionSpec("x"), PartitionSpec(), PartitionSpec()),
                                  out_specs=PartitionSpec("x"), check_vma=False))(sharded, matrices, jnp.asarray([1, 3]))
    close(parts, np.concatenate([by_groups(x[0][4 * i:4 * i + 4], matrices, [1, 3]) for i in range(4)]))


@pytest.mark.parametrize("wrong", [2**31 - 1, -2**31, 10**9])
def test_wrong_sizes(wrong):
    """What reaches beyond the rows is not there, and costs no more than all rows."""
    x, matrices = some(40, 16), some(3, 16, 8)
    got = jax.jit(jax.lax.ragged_dot)(x, matrices, jnp.asarray([10, wrong, 10**9], jnp.int32))
    close(got[:10], x[:10] @ matrices[0], 1e-3)
    small = jax.jit(jax.lax.ragged_dot)(some(300, 16), matrices, jnp.asarray([100, 20, 0], jnp.int8))
    close(small[120:], np.zeros((180, 8)))
