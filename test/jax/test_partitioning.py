# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eight virtual devices: features of JAX around programs that the partitioner splits."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

X = np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)


@pytest.fixture(scope="module")
def mesh():
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def put(mesh, value, *spec):
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))


def close(actual, expected, tolerance=1e-4):
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=tolerance, atol=tolerance)


def test_a_callback_runs_once(mesh):
    seen = []

    def twice(a):
        seen.append(1)
        return np.asarray(a) * 2

    shape = jax.ShapeDtypeStruct(X.shape, X.dtype)

    def f(x):
        jax.debug.callback(lambda total: seen.append(float(total)), x.sum())
        return io_callback(twice, shape, x) + jax.pure_callback(lambda a: np.asarray(a) * 3, shape, x)

    close(jax.jit(f)(put(mesh, X, "data", "model")), X * 5)
    jax.effects_barrier()
    assert len(seen) == 2
    close(max(seen, key=lambda value: value != 1), X.sum(), 1e-3)


def test_batched_linear_algebra(mesh):
    a = np.random.default_rng(1).standard_normal((8, 4, 4)).astype(np.float32)
    spd = a @ a.swapaxes(1, 2) + 4 * np.eye(4, dtype=np.float32)
    found = jax.jit(lambda s: (jnp.linalg.cholesky(s), jnp.linalg.eigh(s)[0], jnp.linalg.inv(s), jnp.linalg.svd(s)[1],
                               jnp.linalg.det(s)))(put(mesh, spd, "model"))
    wanted = np.linalg.cholesky(spd), np.linalg.eigvalsh(spd), np.linalg.inv(spd), np.linalg.svd(spd)[1], np.linalg.det(spd)
    for actual, expected in zip(found, wanted):
        close(actual, expected, 2e-3)


def test_explicit_axes(mesh):
    explicit = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(explicit):
        a, b = jax.device_put(X, P("data", "model")), jax.device_put(X.T.copy(), P("model", None))
        result = jax.jit(lambda a, b: jnp.einsum("ij,jk->ik", jnp.sin(a), b, out_sharding=P("data", None)))(a, b)
        close(result, np.sin(X) @ X.T, 1e-3)
        assert result.sharding.spec == P("data", None)


def test_training_keeps_the_weights_sharded(mesh):
    random = np.random.default_rng(2)
    weights = [put(mesh, random.standard_normal((16, 32)).astype(np.float32) * 0.1, None, "model"),
               put(mesh, random.standard_normal((32, 16)).astype(np.float32) * 0.1, "model", None)]

    @jax.jit
    def step(weights, x):
        loss = lambda w: jnp.mean((jax.nn.gelu(x @ w[0]) @ w[1] - x) ** 2)
        value, gradients = jax.value_and_grad(loss)(weights)
        return [w - 0.5 * g for w, g in zip(weights, gradients)], value

    x, losses = put(mesh, X, "data", None), []
    for _ in range(20):
        weights, loss = step(weights, x)
        losses.append(float(loss))
    assert losses[-1] < 0.8 * losses[0]
    assert weights[0].sharding.is_equivalent_to(NamedSharding(mesh, P(None, "model")), 2)
    assert weights[1].sharding.is_equivalent_to(NamedSharding(mesh, P("model", None)), 2)


def test_random_numbers_do_not_depend_on_the_sharding(mesh):
    key = jax.random.key(0)
    sharded = NamedSharding(mesh, P("data", "model"))
    close(jax.jit(lambda k: jax.random.normal(k, (8, 16)), out_shardings=sharded)(key), jax.random.normal(key, (8, 16)))


def test_pmap():
    close(jax.pmap(lambda v: lax.psum(v, "i") * 2, axis_name="i")(X), np.tile(X.sum(0) * 2, (8, 1)))


def test_gradient_and_vmap_of_shard_map(mesh):
    @partial(jax.shard_map, mesh=mesh, in_specs=(P("data", "model"), P("model")), out_specs=P("data"))
    def f(a, w):
        return lax.psum(a @ w, "model")

    w = np.random.default_rng(3).standard_normal(16).astype(np.float32)
    gradient = jax.jit(jax.grad(lambda w: (f(put(mesh, X, "data", "model"), w) ** 2).sum()))(put(mesh, w, "model"))
    close(gradient, 2 * X.T @ (X @ w), 1e-3)
    close(jax.jit(jax.vmap(f, (0, None)))(np.stack([X, X + 1]), w)[1], (X + 1) @ w, 1e-3)


def test_some_of_the_devices():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[2:6]).reshape(2, 2), ("a", "b"))
    close(jax.jit(lambda v: (v @ v.T).sum(0))(put(mesh, X, "a", "b")), (X @ X.T).sum(0), 1e-3)


def test_donation_of_sharded_arrays(mesh):
    x = put(mesh, X, "data", "model")
    y = jax.jit(lambda a: a * 2, donate_argnums=0)(x)
    assert x.is_deleted() and y.sharding.spec == P("data", "model")
    close(y, X * 2)
