# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs for eight devices as users of JAX write them, against NumPy: every collective, pmap, shard_alike, arrays made of parts, typed shardings,
and mistakes, which JAX must see before the plug-in does."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax._src.core import ShardingTypeError
from jax._src.named_sharding import DuplicateSpecError
from jax.experimental import multihost_utils
from jax.experimental.shard_alike import shard_alike
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

X = np.random.RandomState(0).randn(8, 16).astype("f")
GROUPS = [[0, 2, 4, 6], [1, 3, 5, 7]]


@pytest.fixture(params=[True, False], ids=["shardy", "gspmd"])
def shardy(request):
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", request.param)
    yield request.param
    jax.config.update("jax_use_shardy_partitioner", before)


def grid(*sizes, kind=AxisType.Auto):
    return jax.make_mesh(sizes, ("x", "y")[:len(sizes)], axis_types=(kind,) * len(sizes))


def put(mesh, value, *spec):
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))


def on_devices(f, mesh, inside, outside, **options):
    return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=inside, out_specs=outside, **options))


def close(actual, expected):
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=1e-5, atol=1e-5)


#===-- Collectives -----------------------------------------------------------===


def of_groups(values, f):
    """f of the rows of each group, given to its members."""
    made = [None] * 8
    for group in GROUPS:
        for place, member in enumerate(group):
            made[member] = f(values[group], place)
    return np.stack(made)


@pytest.mark.parametrize("collective, expected", [
    (lambda v: lax.psum(v, "x"), lambda rows, place: rows.sum(0)),
    (lambda v: lax.pmean(v, "x"), lambda rows, place: rows.mean(0)),
    (lambda v: lax.pmax(v, "x"), lambda rows, place: rows.max(0)),
    (lambda v: lax.pmin(v, "x"), lambda rows, place: rows.min(0)),
    (lambda v: lax.all_gather(v, "x"), lambda rows, place: rows),
    (lambda v: lax.psum_scatter(v, "x", tiled=True), lambda rows, place: rows.sum(0)[4 * place:4 * place + 4]),
    (lambda v: lax.all_to_all(v, "x", 0, 0, tiled=True), lambda rows, place: rows[:, 4 * place:4 * place + 4].reshape(-1)),
    (lambda v: lax.pswapaxes(v.reshape(4, 4), "x", 0), lambda rows, place: rows[:, 4 * place:4 * place + 4]),
    (lambda v: lax.ppermute(v, "x", [(i, (i + 1) % 4) for i in range(4)]), lambda rows, place: rows[place - 1]),
    (lambda v: lax.pshuffle(v, "x", [2, 0, 1, 3]), lambda rows, place: rows[[2, 0, 1, 3][place]]),
    (lambda v: v + lax.axis_index("x") * lax.axis_size("x"), lambda rows, place: rows[place] + 4 * place),
], ids="psum pmean pmax pmin all_gather psum_scatter all_to_all pswapaxes ppermute pshuffle axis_index".split())
def test_collective_among_rows_of_a_mesh(shardy, collective, expected):
    """Along the first axis of a 4x2 mesh: the groups are GROUPS."""
    made = on_devices(lambda v: collective(v[0])[None], grid(4, 2), P(("x", "y")), P(("x", "y")), check_vma=False)(X)
    close(made, of_groups(X, expected))


@pytest.mark.parametrize("collective, expected", [
    (partial(lax.psum, axis_name="i"), lambda rows, place: rows.sum(0)),
    (partial(lax.pmax, axis_name="i"), lambda rows, place: rows.max(0)),
    (partial(lax.all_gather, axis_name="i"), lambda rows, place: rows),
    (partial(lax.psum_scatter, axis_name="i", tiled=True), lambda rows, place: rows.sum(0)[4 * place:4 * place + 4]),
    (partial(lax.all_to_all, axis_name="i", split_axis=0, concat_axis=0, tiled=True), lambda rows, place: rows[:, 4 * place:4 * place + 4].reshape(-1)),
], ids="psum pmax all_gather psum_scatter all_to_all".split())
def test_axis_index_groups_of_pmap(collective, expected):
    close(jax.pmap(partial(collective, axis_index_groups=GROUPS), axis_name="i")(X), of_groups(X, expected))


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float16, jnp.bfloat16, np.complex64])
def test_element_types_of_collectives(dtype):
    v = (np.arange(16) % 5).astype(dtype)
    gathered, total = on_devices(lambda v: (lax.all_gather(v, "x", tiled=True), lax.psum(v, "x")), grid(8), P("x"), (P(), P()), check_vma=False)(v)
    assert gathered.dtype == total.dtype == v.dtype
    np.testing.assert_array_equal(np.asarray(gathered), v)
    np.testing.assert_array_equal(np.asarray(total), sum(v.reshape(8, 2).astype(dtype)[1:], start=v.reshape(8, 2)[0]))


@pytest.mark.parametrize("dtype", [np.float16, jnp.bfloat16])
def test_sums_of_16_bits_are_rounded_once(dtype):
    v = np.random.RandomState(5).randn(8, 512).astype(dtype)
    total = on_devices(lambda v: lax.psum(v, "x"), grid(8), P("x"), P())(v)
    np.testing.assert_array_equal(np.asarray(total), v.astype(np.float32).sum(0, keepdims=True).astype(dtype))


def test_rows_of_different_counts():
    """ragged_all_to_all, which XLA:CPU does not run: device s sends s + t rows to device t."""
    send = np.add.outer(np.arange(8), np.arange(8)).astype(np.int32)
    begin = np.cumsum(send, 1, dtype=np.int32) - send
    target = np.cumsum(send, 0, dtype=np.int32) - send
    rows = np.random.RandomState(1).randn(8, 84, 3).astype("f")
    f = jax.shard_map(lambda *a: lax.ragged_all_to_all(*[v[0] for v in a], axis_name="x")[None], mesh=grid(8), in_specs=P("x"), out_specs=P("x"),
                      check_vma=False)
    expected = -np.ones((8, 90, 3), "f")
    for s in range(8):
        for t in range(8):
            expected[t, target[s, t]:target[s, t] + send[s, t]] = rows[s, begin[s, t]:begin[s, t] + send[s, t]]
    arguments = rows, -np.ones((8, 90, 3), "f"), begin, send, target, np.ascontiguousarray(send.T)
    np.testing.assert_array_equal(np.asarray(jax.jit(f)(*arguments)), expected)
    gradient = jax.jit(jax.grad(lambda rows: (f(rows, *arguments[1:]) * 3).sum()))(rows)
    np.testing.assert_array_equal(np.asarray(gradient), np.where(np.arange(84)[None, :, None] < send.sum(1)[:, None, None], 3, 0) * np.ones_like(rows))


def test_text_of_gathers_of_several_types(shardy):
    mesh = grid(8)
    split, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
    f = jax.jit(lambda x, y: (x * 2, y + 1, jnp.argmax(x)), in_shardings=(split, split), out_shardings=whole)
    x, y = np.arange(64, dtype="f"), np.arange(64, dtype=np.int32)
    assert "all-gather" in f.lower(x, y).compile().as_text()
    for got, want in zip(f(x, y), (x * 2, y + 1, 63)):
        np.testing.assert_array_equal(got, want)


def test_gradients_of_collectives():
    v = np.random.RandomState(2).randn(8, 8).astype("f")
    for f, out, times in ((lambda v: lax.all_gather(v, "x", tiled=True), P(None, "y"), 1), (lambda v: lax.ppermute(v, "x", [(0, 1), (1, 0), (2, 3), (3, 2)]), P("x", "y"), 1),
                          (lambda v: lax.all_to_all(v, "y", 0, 1, tiled=True), P(("x", "y"), None), 1)):
        whole = jax.shard_map(f, mesh=grid(4, 2), in_specs=P("x", "y"), out_specs=out, check_vma=False)
        gradient = jax.jit(jax.grad(lambda v: (whole(v) ** 2).sum()))(v)
        close(gradient, 2 * v * times)
    total = jax.shard_map(lambda v: lax.psum(jnp.sin(v), "x"), mesh=grid(4, 2), in_specs=P("x"), out_specs=P())
    close(jax.jit(jax.grad(lambda v: (total(v) ** 2).sum()))(v), 2 * np.tile(np.sin(v).reshape(4, 2, 8).sum(0), (4, 1)) * np.cos(v))


def test_control_flow_and_collectives(shardy):
    mesh, ring = grid(4, 2), [(i, (i + 1) % 4) for i in range(4)]

    def body(v):
        turned, sums = lax.scan(lambda c, _: (lax.ppermute(c, "x", ring), c.sum()), v, None, length=4)
        grown = lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, lax.pmean(s[1], "x") + s[1]), (0, v))[1]
        return lax.cond(lax.axis_index("x") > 1, lambda: turned * 2, lambda: turned - 1), grown, sums[None]
    chosen, grown, sums = on_devices(body, mesh, P("x", "y"), (P("x", "y"), P("x", "y"), P("x", "y")), check_vma=False)(X)
    close(chosen, np.concatenate([X[:4] - 1, X[4:] * 2]))
    step = lambda v: v + np.tile(v.reshape(4, 2, 16).mean(0), (4, 1))
    close(grown, step(step(step(X))))
    parts = X.reshape(4, 2, 2, 8).sum((1, 3))
    close(sums, np.stack([np.concatenate([np.roll(parts[:, c], k)[::1][[r]] for c in range(2) for k in range(4)]) for r in range(4)]))


@pytest.mark.skipif(jax.__version_info__ < (0, 10), reason="older JAX cannot lower axis_index there")
def test_manual_inside_of_partly_manual(shardy):
    mesh = grid(4, 2)
    if not shardy:
        pytest.skip("JAX's other form has no partly manual parts inside of one another")
    inner = jax.shard_map(lambda v: v * 2 + lax.axis_index("y"), in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"})
    made = on_devices(lambda v: inner(v) + lax.axis_index("x"), mesh, P("x"), P("x"), axis_names={"x"})(X)
    close(made, X * 2 + np.repeat(np.arange(2), 8) + np.repeat(np.arange(4), 2)[:, None])


def test_automatic_axes_of_a_partly_manual_part(shardy):
    w = np.random.RandomState(3).randn(16, 16).astype("f")
    made = on_devices(lambda v, w: jnp.tanh(v @ w) + lax.pmean(v.sum(), "x"), grid(4, 2), (P("x"), P()), P("x"), axis_names={"x"})(
        X, put(grid(4, 2), w, None, "y"))
    close(made, np.tanh(X @ w) + X.sum() / 4)


#===-- pmap ------------------------------------------------------------------===


def test_pmap_arguments():
    close(jax.pmap(lambda a, b: a[:, None] * b, in_axes=(1, None), out_axes=2)(X.T.copy(), X[0]), (X[:, :, None] * X[0]).transpose(1, 2, 0))
    close(jax.pmap(lambda d: d["a"] + d["b"].sum(), in_axes=({"a": 0, "b": None},))({"a": X, "b": X}), X + X.sum())
    close(jax.pmap(lambda n, v: v ** n, static_broadcasted_argnums=0)(3, X), X ** 3)
    close(jax.pmap(lambda v: lax.psum(v, "i"), axis_name="i", out_axes=None)(X), X.sum(0))
    close(jax.pmap(lambda v: lax.psum(v, "i") + lax.axis_index("i"), axis_name="i", devices=jax.devices()[2:5])(X[:3]), X[:3].sum(0) + np.arange(3)[:, None])
    held = jax.pmap(lambda v: v)(X)
    close(jax.pmap(lambda v: v + 1, donate_argnums=0)(held), X + 1)
    assert held.is_deleted()
    with pytest.raises(ValueError, match="partitioned 8 times, but the dimension size is 4|one axis had size 8.*\n.*one axis had size 4"):
        jax.pmap(lambda a, b: a + b)(np.ones((8, 2)), np.ones((4, 2)))


def test_pmap_with_other_transformations():
    w = np.random.RandomState(4).randn(16, 4).astype("f")
    gradient = jax.grad(lambda w: jax.pmap(lambda v, w: jnp.tanh(v @ w), in_axes=(0, None))(X, w).sum())(w)
    close(gradient, X.T @ (1 - np.tanh(X @ w) ** 2))
    close(jax.vmap(jax.pmap(lambda v: lax.psum(v, "i") * 2, axis_name="i"))(X.reshape(2, 8, 8)), np.tile(X.reshape(2, 8, 8).sum(1, keepdims=True) * 2, (1, 8, 1)))
    close(jax.pmap(jax.vmap(lambda v: lax.psum(v, "i")), axis_name="i")(X.reshape(8, 4, 4)), np.tile(X.reshape(8, 4, 4).sum(0), (8, 1, 1)))
    end, sums = jax.pmap(lambda v: lax.scan(lambda c, _: (c * 0.5 + lax.pmean(c, "i"), c.sum()), v, None, length=2), axis_name="i")(X)
    first = X * 0.5 + X.mean(0)
    close(end, first * 0.5 + first.mean(0)), close(sums, np.stack([X.sum(1), first.sum(1)], 1))


#===-- shard_alike, arrays of parts ----------------------------------------------===


def test_shard_alike(shardy):
    a = put(grid(4, 2), X, "x", "y")
    made = jax.jit(lambda a: shard_alike(a, jnp.arange(128.).reshape(8, 16)))(a)[1]
    assert made.sharding.is_equivalent_to(a.sharding, 2), made.sharding
    close(made, np.arange(128.).reshape(8, 16))
    looped = jax.jit(lambda a, b: lax.fori_loop(0, 3, lambda i, c: shard_alike(a, c * 1.5)[1], b))(a, X)
    assert looped.sharding.is_equivalent_to(a.sharding, 2), looped.sharding
    close(looped, X * 1.5 ** 3)

    def loss(a, b):
        a, b = shard_alike(jnp.sin(a), b * 2)
        return (a * b).sum()
    of_a, of_b = jax.jit(jax.grad(loss, (0, 1)))(a, X)
    assert of_b.sharding.is_equivalent_to(a.sharding, 2), of_b.sharding
    close(of_a, 2 * X * np.cos(X)), close(of_b, 2 * np.sin(X))


def test_arrays_of_parts():
    sharding = NamedSharding(grid(4, 2), P("x", "y"))
    called = jax.make_array_from_callback(X.shape, sharding, lambda index: X[index])
    parts = [jax.device_put(X[index], device) for device, index in sharding.addressable_devices_indices_map(X.shape).items()]
    joined = jax.make_array_from_single_device_arrays(X.shape, sharding, parts)
    local = jax.make_array_from_process_local_data(sharding, X)
    for made in (called, joined, local):
        assert made.sharding == sharding
        close(jax.jit(lambda a: a @ a.T)(made), X @ X.T)
        for shard in made.addressable_shards:
            np.testing.assert_array_equal(shard.data, X[shard.index])
    copies = put(grid(4, 2), X, "x")
    assert sorted(shard.replica_id for shard in copies.addressable_shards) == [0] * 4 + [1] * 4
    with pytest.raises(ValueError):
        jax.make_array_from_single_device_arrays(X.shape, sharding, [jax.device_put(X, device) for device in jax.devices()])


def test_multihost_utilities_in_one_process():
    mesh = grid(4, 2)
    close(multihost_utils.process_allgather(put(mesh, X, "x", "y"), tiled=True), X)
    close(multihost_utils.broadcast_one_to_all(X), X)
    whole = multihost_utils.host_local_array_to_global_array(X, mesh, P("x"))
    assert whole.sharding.is_equivalent_to(NamedSharding(mesh, P("x")), 2)
    close(multihost_utils.global_array_to_host_local_array(whole, mesh, P("x")), X)
    multihost_utils.sync_global_devices("here"), multihost_utils.assert_equal(X, "equal")


def test_moves_between_meshes():
    first, second = grid(4, 2), Mesh(np.array(jax.devices()[::-1]).reshape(2, 4), ("x", "y"))
    a = put(first, X, "x", "y")
    for sharding in (NamedSharding(second, P("y", "x")), NamedSharding(first, P()), jax.sharding.SingleDeviceSharding(jax.devices()[6]),
                     NamedSharding(first, P(("y", "x")))):
        a = jax.device_put(a, sharding, donate=True)
        assert a.sharding == sharding
        close(a, X)
    some = Mesh(np.array(jax.devices()[1:7]).reshape(3, 2), ("x", "y"))
    b = np.arange(72, dtype="f").reshape(6, 12)
    close(jax.jit(lambda a: a @ a.T)(put(some, b, "x", "y")), b @ b.T)


def test_donated_arrays_and_other_shardings():
    mesh = grid(4, 2)
    a = put(mesh, X, "x", "y")
    made = jax.jit(lambda a: a + 1, donate_argnums=0, out_shardings=NamedSharding(mesh, P("y", "x")))(a)
    assert made.sharding.spec == P("y", "x")
    close(made, X + 1)
    b = put(mesh, X, "x")
    with pytest.raises(jax.errors.JaxRuntimeError, match="the buffer of argument 0 is donated, but is argument 1 too"):
        jax.jit(lambda a, b: a + b, donate_argnums=(0, 1))(b, b)


#===-- Shardings in types ------------------------------------------------------===


def test_explicit_axes():
    with jax.set_mesh(grid(4, 2, kind=AxisType.Explicit)):
        a, w = jax.device_put(X, P("x", None)), jax.device_put(X.T.copy(), P(None, "y"))
        gradient = jax.jit(jax.grad(lambda w: (jnp.tanh(a @ w) ** 2).sum()))(w)
        t = np.tanh(X @ X.T)
        assert jax.typeof(gradient).sharding.spec == P(None, "y")
        np.testing.assert_allclose(np.asarray(gradient), X.T @ (2 * t * (1 - t * t)), rtol=1e-3, atol=1e-3)
        turned = jax.jit(lambda a: jax.sharding.reshard(a, P("y", None)) * 2)(a)
        assert jax.typeof(turned).sharding.spec == P("y", None)
        close(turned, X * 2)
        automatic = jax.jit(jax.sharding.auto_axes(lambda a: a @ a.T, out_sharding=P("x", None)))(a)
        assert jax.typeof(automatic).sharding.spec == P("x", None)
        np.testing.assert_allclose(np.asarray(automatic), X @ X.T, rtol=1e-4, atol=1e-4)
        both = jax.device_put(X, P("x", "y"))
        summed = jax.jit(jax.shard_map(lambda v: lax.psum(v, "x"), in_specs=P("x", "y"), out_specs=P(None, "y")))(both)
        assert jax.typeof(summed).sharding.spec == P(None, "y")
        close(summed, X.reshape(4, 2, 16).sum(0))
        close(jax.jit(lambda: jax.random.normal(jax.random.key(0), (8, 16), out_sharding=P("x", "y")))(), np.asarray(jax.random.normal(jax.random.key(0), (8, 16))))
        with pytest.raises(ShardingTypeError):
            jax.jit(lambda a, b: a @ b)(both, jax.device_put(X.T.copy(), P("y", None)))


#===-- Mistakes ----------------------------------------------------------------===


# JAX 0.10, or 0.8 and 0.9.
UNEVEN = "partitioned {0} times, but the dimension size is 6|should be divisible by {0}, but it is equal to 6"


def mistakes():
    mesh = grid(4, 2)
    odd = np.ones((6, 4), "f")
    rows = NamedSharding(mesh, P("x"))
    elsewhere = Mesh(np.array(jax.devices()[:4]), ("x",))
    return {
        "uneven argument": (lambda: jax.jit(lambda a: a, in_shardings=rows)(odd), UNEVEN.format(4)),
        "uneven result": (lambda: jax.jit(lambda a: a * 2, out_shardings=rows)(odd), UNEVEN.format(4)),
        "uneven array": (lambda: put(grid(8), odd, "x"), UNEVEN.format(8)),
        "rank": (lambda: put(mesh, np.ones(8, "f"), "x", None, None), "rank"),
        "axis twice": (lambda: put(mesh, X, "x", "x"), "duplicate"),
        "unknown axis": (lambda: put(mesh, X, "q"), "q"),
        "constraint's rank": (lambda: jax.jit(lambda a: lax.with_sharding_constraint(a, NamedSharding(mesh, P("x", None, "y"))))(X), "rank"),
        "constraint on other devices": (lambda: jax.jit(lambda a: lax.with_sharding_constraint(a, NamedSharding(Mesh(np.array(jax.devices()[4:]), ("x",)), P("x"))))(
            put(elsewhere, X, "x")), "incompatible devices"),
        "arguments on different devices": (lambda: jax.device_put(X, jax.devices()[0]) + jax.device_put(X, jax.devices()[1]), "incompatible devices"),
        "mesh larger than devices": (lambda: jax.make_mesh((16,), ("x",)), "16"),
        "donated before": (lambda: consumed(mesh) + 1, "deleted"),
        "another sharding than compiled for": (lambda: jax.jit(lambda a: a).lower(put(mesh, X, "x", "y")).compile()(put(mesh, X, "y")), "sharding"),
    }


def consumed(mesh):
    a = put(mesh, X, "x", "y")
    jax.jit(lambda a: a + 1, donate_argnums=0)(a)
    return a


@pytest.mark.parametrize("name", ["uneven argument", "uneven result", "uneven array", "rank", "axis twice", "unknown axis", "constraint's rank",
                                  "constraint on other devices", "arguments on different devices", "mesh larger than devices", "donated before",
                                  "another sharding than compiled for"])
def test_mistakes_are_jax_errors(name):
    act, message = mistakes()[name]
    with pytest.raises((ValueError, RuntimeError, DuplicateSpecError), match=f"(?is){message}"):
        act()
