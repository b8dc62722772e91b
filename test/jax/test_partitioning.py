# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eight virtual devices: features of JAX around programs that the partitioner splits."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import io_callback
from jax.experimental.custom_partitioning import custom_partitioning
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


def test_donated_lists_keep_their_memory(mesh):
    """Without out_shardings JAX says only that memory may be had; each result takes that of an argument."""
    arrays = [put(mesh, X + i, "data", "model") for i in range(3)]
    places = lambda a: [shard.data.unsafe_buffer_pointer() for shard in a.addressable_shards]
    before = [places(a) for a in arrays]
    after = jax.jit(lambda each: [a + 1 for a in each], donate_argnums=0)(arrays)
    assert [places(a) for a in after] == before
    close(after[2], X + 3)


def partitioned_fft(seen):
    """Splits its first dimension only, and says so to both partitioners."""
    @custom_partitioning
    def fft(x):
        return jnp.fft.fft(x)

    def placed(sharding):
        return NamedSharding(sharding.mesh, P(*sharding.spec[:1], None))

    def partition(mesh, arguments, result):
        seen.append(arguments[0].sharding.spec)
        return mesh, jnp.fft.fft, placed(arguments[0].sharding), (placed(arguments[0].sharding),)
    fft.def_partition(partition=partition, infer_sharding_from_operands=lambda mesh, arguments, result: placed(arguments[0].sharding),
                      sharding_rule="i j -> i j", need_replication_factors=("j",))
    return fft


@pytest.mark.parametrize("shardy", [True, False])
def test_custom_partitioning(mesh, shardy):
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        seen, x = [], put(mesh, X, "data", None)
        compiled = jax.jit(partitioned_fft(seen)).lower(x).compile()
        close(compiled(x), np.fft.fft(X), 1e-3)
        assert seen and seen[0][0] == "data"
        assert compiled.output_shardings.spec[0] == "data"
        assert "all-gather" not in compiled.as_text()
        close(jax.jit(partitioned_fft(seen))(put(mesh, X, "data", "model")), np.fft.fft(X), 1e-3)
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)


def test_custom_partitioning_with_collectives_and_two_results(mesh):
    @custom_partitioning
    def moments(x):
        return x.sum(), (x * x).sum(1)

    def partition(mesh, arguments, result):
        rows, columns = arguments[0].sharding.spec
        whole, parts = NamedSharding(mesh, P()), NamedSharding(mesh, P(rows))
        lower = lambda x: (lax.psum(x.sum(), (rows, columns)), lax.psum((x * x).sum(1), columns))
        return mesh, lower, (whole, parts), (arguments[0].sharding,)
    moments.def_partition(partition=partition, sharding_rule="i j -> , i", reduction_factors=("j",))
    total, squares = jax.jit(moments)(put(mesh, X, "data", "model"))
    close(total, X.sum(), 1e-3)
    close(squares, (X * X).sum(1), 1e-3)
    assert squares.sharding.spec[0] == "data"


def test_a_mistake_in_custom_partitioning_is_an_error(mesh):
    @custom_partitioning
    def wrong(x):
        return x

    def partition(mesh, arguments, result):
        raise ValueError("no way to split this")
    wrong.def_partition(partition=partition, sharding_rule="i j -> i j")
    with pytest.raises(jax.errors.JaxRuntimeError, match="no way to split this"):
        jax.jit(wrong)(put(mesh, X, "data", "model"))


def test_unreduced_values():
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(mesh):
        a, b = jax.device_put(X, P("data", "model")), jax.device_put(X.T.copy(), P("model", None))
        product = lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=P("data", None, unreduced={"model"}))
        twice = lambda a, b: jax.sharding.reshard(product(a, b) + product(a, b), P("data", "model"))
        close(jax.jit(twice)(a, b), 2 * X @ X.T, 1e-3)
        text = jax.jit(twice).lower(a, b).compile().as_text()
        assert " reduce-scatter(" in text and " all-reduce(" not in text
        # Through the signature of a program.
        apart = jax.jit(product)(a, b)
        assert apart.sharding.spec.unreduced == {"model"}
        close(jax.jit(lambda u: jax.sharding.reshard(u, P("data", None)))(apart), X @ X.T, 1e-3)


def test_checkpoint_is_restored_on_another_mesh(mesh, tmp_path):
    import orbax.checkpoint as ocp

    tree = {"w": put(mesh, X, "data", "model"), "b": put(mesh, X[0], "model"), "half": put(mesh, jnp.asarray(X, jnp.bfloat16), ("data", "model"))}
    with ocp.StandardCheckpointer() as saver:
        saver.save(tmp_path / "state", tree)
    few = jax.sharding.Mesh(np.array(jax.devices()[5:1:-1]).reshape(4, 1), ("r", "c"))
    wanted = {"w": NamedSharding(few, P("c", "r")), "b": NamedSharding(few, P()), "half": NamedSharding(few, P(None, "r"))}
    template = jax.tree.map(lambda a, s: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=s), tree, wanted)
    with ocp.StandardCheckpointer() as loader:
        back = loader.restore(tmp_path / "state", template)
    for name, value in tree.items():
        np.testing.assert_array_equal(np.asarray(back[name]), np.asarray(value))
        assert back[name].sharding.is_equivalent_to(wanted[name], value.ndim)
