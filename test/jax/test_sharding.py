# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eight virtual devices: shard_map as written, jit with shardings, and what reaches each device."""
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P


@pytest.fixture(scope="module")
def mesh():
    return jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)


def check(f, *arguments):
    """jit of sharded arguments equals the function of the same values on one device."""
    expected = jax.jit(f)(*[jnp.asarray(np.asarray(a)) for a in arguments])
    actual = jax.jit(f)(*arguments)
    for a, e in zip(jax.tree.leaves(actual), jax.tree.leaves(expected)):
        np.testing.assert_allclose(np.asarray(a), np.asarray(e), rtol=2e-5, atol=1e-5)
    return actual


def put(mesh, value, *spec):
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))


def test_collectives_in_shard_map(mesh):
    x = np.arange(32.0, dtype=np.float32).reshape(8, 4)
    def run(f, out, spec=P("x", "y")):
        return np.asarray(jax.jit(jax.shard_map(f, mesh=mesh, in_specs=spec, out_specs=out, check_vma=False))(x))
    np.testing.assert_array_equal(run(lambda v: jax.lax.psum(v, "x"), P(None, "y")), x.reshape(4, 2, 4).sum(0))
    np.testing.assert_array_equal(run(lambda v: jax.lax.pmax(v, ("x", "y")), P()), x.reshape(4, 2, 2, 2).max((0, 2)))
    np.testing.assert_array_equal(run(lambda v: jax.lax.all_gather(v, "x", tiled=True), P(None, "y")), x)
    np.testing.assert_array_equal(run(lambda v: jax.lax.psum_scatter(v, "y", scatter_dimension=0, tiled=True), P(("x", "y"), None)).shape,
                                  (8, 2))
    np.testing.assert_array_equal(run(lambda v: jax.lax.ppermute(v, "x", [(0, 1), (1, 2), (2, 3), (3, 0)]), P("x", "y")),
                                  np.roll(x, 2, 0))
    np.testing.assert_array_equal(run(lambda v: jax.lax.axis_index("x") + jnp.zeros_like(v), P("x", "y")),
                                  np.repeat(np.arange(4.0), 2)[:, None] + np.zeros((8, 4)))
    every = run(lambda v: jax.lax.all_to_all(v, "x", 1, 0, tiled=True), P(None, "x"), P("x", None))
    np.testing.assert_array_equal(every, x)


def test_shard_map_has_only_its_own_collectives(mesh):
    f = jax.jit(jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "y")))
    text = f.lower(put(mesh, jnp.ones((8, 4)), "x", "y")).compile().as_text()
    assert text.count("all_reduce") + text.count("all-reduce") >= 1
    assert "all_gather" not in text and "all-gather" not in text


def test_partly_manual_shard_map(mesh):
    x = put(mesh, np.arange(32.0, dtype=np.float32).reshape(8, 4), "x", "y")
    f = jax.shard_map(lambda v: v / jax.lax.psum(v.sum(), "x"), mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    np.testing.assert_allclose(jax.jit(f)(x), np.asarray(x) / np.asarray(x).sum(), rtol=1e-6)


def test_matrix_products(mesh):
    a, b = np.random.RandomState(0).randn(16, 8).astype("f"), np.random.RandomState(1).randn(8, 12).astype("f")
    for left in [("x", None), ("x", "y"), (None, "y"), (None, None), (("x", "y"), None)]:
        for right in [(None, "y"), ("y", None), ("x", None)]:
            check(lambda a, b: jnp.tanh(a @ b) + 1, put(mesh, a, *left), put(mesh, b, *right))


def test_network_with_data_and_tensor_parallelism(mesh):
    rng = np.random.RandomState(0)
    w1, w2 = put(mesh, rng.randn(8, 32).astype("f"), None, "y"), put(mesh, rng.randn(32, 4).astype("f"), "y", None)
    x, y = put(mesh, rng.randn(16, 8).astype("f"), "x", None), put(mesh, rng.randn(16, 4).astype("f"), "x", None)

    def step(w1, w2, x, y):
        loss = lambda w1, w2: jnp.mean((jax.nn.relu(x @ w1) @ w2 - y) ** 2)
        value, (g1, g2) = jax.value_and_grad(loss, (0, 1))(w1, w2)
        return value, w1 - 0.1 * g1, w2 - 0.1 * g2

    check(step, w1, w2, x, y)


def test_requested_shardings_are_reported(mesh):
    x = put(mesh, np.arange(64.0, dtype=np.float32).reshape(8, 8), "x", None)
    out = NamedSharding(mesh, P("y", "x"))
    y = jax.jit(lambda x: x * 2, out_shardings=out)(x)
    assert y.sharding.is_equivalent_to(out, 2)
    np.testing.assert_array_equal(y, np.asarray(x) * 2)
    z = jax.jit(lambda x: jax.lax.with_sharding_constraint(x + 1, NamedSharding(mesh, P(None, "y"))))(x)
    np.testing.assert_array_equal(z, np.asarray(x) + 1)
    for shard in z.addressable_shards:
        np.testing.assert_array_equal(shard.data, (np.asarray(x) + 1)[shard.index])


def test_inspect_array_sharding(mesh):
    seen = []

    def f(x):
        y = jnp.sin(x)
        jax.debug.inspect_array_sharding(y, callback=seen.append)
        return y * 2
    x = put(mesh, np.ones((8, 4), np.float32), "x", "y")
    check(f, x)
    assert any(s.shard_shape((8, 4)) == (2, 2) for s in seen), seen


def test_everyday_operations(mesh):
    x = put(mesh, np.random.RandomState(0).randn(8, 16).astype("f"), "x", "y")
    check(lambda x: (x.sum(), x.sum(0), x.max(1), jnp.sort(x, 1), jnp.cumsum(x, 0), x.T, x.reshape(16, 8), x[2:5, ::2], x[::-1],
                     jnp.concatenate([x, x], 1), jnp.pad(x, 1), jax.nn.softmax(x, -1), jnp.argmax(x, 1), jnp.take(x, jnp.array([3, 1]), 0),
                     jax.lax.dynamic_slice(x, (1, 2), (3, 4)), jnp.where(x > 0, x, 0), x.at[jnp.array([1, 3])].add(2.0),
                     jax.lax.while_loop(lambda s: s[1] < 3, lambda s: (s[0] * 2, s[1] + 1), (x, 0))[0]), x)


def test_uneven_reduction_of_a_constraint(mesh):
    x = jnp.arange(24.0).reshape(6, 4)
    y = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, NamedSharding(mesh, P("x"))).sum(0))(x)
    np.testing.assert_array_equal(y, (np.arange(24.0).reshape(6, 4) * 2).sum(0))


@pytest.mark.parametrize("left", [("x", "y"), (("x", "y"), None), (None, "y"), ("y", "x"), (None, ("y", "x"))])
@pytest.mark.parametrize("right", [("y", None), (None, None), ("x", "y")])
def test_gspmd_form(mesh, left, right):
    """The older way of writing shardings (jax_use_shardy_partitioner=False): of arguments, results, constraints and manual parts."""
    jax.config.update("jax_use_shardy_partitioner", False)
    try:
        x, w = put(mesh, np.arange(64.0, dtype=np.float32).reshape(8, 8), *left), put(mesh, np.eye(8, k=1, dtype=np.float32) * 2, *right)
        check(lambda x, w: ((x @ w).sum(0), jax.lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c) @ w, x)), x, w)
        kept = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, NamedSharding(mesh, P(*right))),
                       out_shardings=NamedSharding(mesh, P(*left)))
        assert "mhlo.sharding" in kept.lower(x).as_text() and "sdy" not in kept.lower(x).as_text()
        assert kept(x).sharding.is_equivalent_to(NamedSharding(mesh, P(*left)), 2)
        np.testing.assert_array_equal(kept(x), np.asarray(x) * 2)
        f = jax.jit(jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "y")))
        np.testing.assert_array_equal(f(x), np.asarray(x).reshape(4, 2, 8).sum(0))
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)


def test_sharded_donation(mesh):
    x = put(mesh, np.zeros((8, 8), "f"), "x", "y")
    y = jax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=x.sharding)(x)
    assert x.is_deleted()
    np.testing.assert_array_equal(y, np.ones((8, 8)))


def test_random_numbers_do_not_depend_on_the_sharding(mesh):
    plain = jax.random.normal(jax.random.key(3), (8, 8))
    sharded = jax.jit(lambda k: jax.random.normal(k, (8, 8)), out_shardings=NamedSharding(mesh, P("x", "y")))(jax.random.key(3))
    np.testing.assert_array_equal(plain, sharded)


def test_checkpoint_of_sharded_arrays(mesh, tmp_path):
    import orbax.checkpoint as ocp

    tree = {"w": put(mesh, np.arange(64.0, dtype=np.float32).reshape(8, 8), "x", "y"), "b": put(mesh, np.ones(8, "f"), "y")}
    with ocp.StandardCheckpointer() as saver:
        saver.save(tmp_path / "state", tree)
    with ocp.StandardCheckpointer() as loader:
        template = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=a.sharding), tree)
        back = loader.restore(tmp_path / "state", template)
    jax.tree.map(lambda a, b: np.testing.assert_array_equal(a, b), back, tree)
    assert back["w"].sharding == tree["w"].sharding


BYTES = {"f32": 4, "bf16": 2, "s32": 4, "pred": 1}


def collectives(f, *arguments):
    """{name: bytes of its results} of the program that each device runs, counted in its text."""
    text = jax.jit(f).lower(*arguments).compile().as_text()
    found = {}
    for dtype, dims, name in re.findall(r"= (\w+)\[([\d,]*)\]\S* (all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)\(", text):
        size = BYTES[dtype] * int(np.prod([int(d) for d in dims.split(",") if d], dtype=np.int64))
        found[name] = found.get(name, 0) + size
    return found


@pytest.mark.parametrize("body, out, expected", [
    (lambda v: v * 2, P("x", "y"), {}),
    (lambda v: jax.lax.psum(v, "x"), P(None, "y"), {"all-reduce": 2 * 2 * 4}),
    (lambda v: jax.lax.psum(v.sum(), ("x", "y")), P(), {"all-reduce": 4}),
    (lambda v: jax.lax.all_gather(v, "x", tiled=True), P(None, "y"), {"all-gather": 8 * 2 * 4}),
    (lambda v: jax.lax.ppermute(v, "x", [(i, (i + 1) % 4) for i in range(4)]), P("x", "y"), {"collective-permute": 2 * 2 * 4}),
    (lambda v: jax.lax.psum_scatter(v, "y", scatter_dimension=0, tiled=True), P(("x", "y"), None), {"reduce-scatter": 1 * 2 * 4}),
    (lambda v: jax.lax.all_to_all(v, "y", 0, 1, tiled=True), P(("x", "y"), None), {"all-to-all": 2 * 2 * 4}),
], ids=["nothing", "psum", "psum of scalars", "all_gather", "ppermute", "psum_scatter", "all_to_all"])
def test_bytes_moved_by_shard_map(mesh, body, out, expected):
    """What the program says, and nothing else: no operand is gathered silently."""
    f = jax.shard_map(body, mesh=mesh, in_specs=P("x", "y"), out_specs=out, check_vma=False)
    assert collectives(f, put(mesh, np.ones((8, 4), "f"), "x", "y")) == expected


def test_the_optimized_program_says_its_shardings(mesh):
    """hlo_modules() of the executable, which jax.stages and tools ask for the shardings that the partitioner chose."""
    from jax._src.lib import xla_client as xc
    f = jax.jit(lambda v: (v * 2, v.sum()))
    module, = f.lower(put(mesh, np.ones((8, 4), "f"), "x", "y")).compile().runtime_executable().hlo_modules()
    argument, = module.spmd_parameters_shardings
    assert str(xc.HloSharding.from_proto(argument)) == "{devices=[4,2]<=[8]}"
    assert str(xc.HloSharding.from_proto(module.spmd_output_sharding)) == "{{devices=[4,2]<=[8]}, {replicated}}"


def test_all_to_alls_of_several_arrays_can_be_read(mesh):
    """What the pass that combines collectives makes of two: HLO's operation of that name with two operands is another one."""
    def both(a, b):
        return jax.lax.all_to_all(a, "y", 0, 1, tiled=True), jax.lax.all_to_all(b, "y", 0, 1, tiled=True)
    f = jax.shard_map(both, mesh=mesh, in_specs=(P("x", "y"),) * 2, out_specs=(P(("x", "y"), None),) * 2)
    operands = put(mesh, np.ones((8, 4), "f"), "x", "y"), put(mesh, np.ones((16, 4), "f"), "x", "y")
    assert collectives(f, *operands) == {"all-to-all": (2 * 2 + 4 * 2) * 4}


def counts(f, *arguments):
    """{name: how many} of the collectives of the program that each device runs."""
    text = jax.jit(f).lower(*arguments).compile().as_text()
    names = re.findall(r"[ )](all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter)\(", text)
    return {name: names.count(name) for name in sorted(set(names))}


def weights(mesh, first, second):
    rng = np.random.RandomState(0)
    return put(mesh, rng.randn(16, 64).astype("f"), *first), put(mesh, rng.randn(64, 16).astype("f"), *second)


def mlp(x, w1, w2):
    return jax.nn.gelu(x @ w1) @ w2


def loss(x, w1, w2):
    return jnp.mean(mlp(x, w1, w2) ** 2)


@pytest.mark.parametrize("shardy", [True, False])
def test_tensor_parallel_mlp_communicates_once(mesh, shardy):
    """Columns, then rows: one sum forward, one more for the gradient of the input, none for those of the weights."""
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        w1, w2 = weights(mesh, (None, "y"), ("y", None))
        x = put(mesh, np.random.RandomState(1).randn(32, 16).astype("f"))
        assert counts(mlp, x, w1, w2) == {"all-reduce": 1}
        assert counts(jax.value_and_grad(loss, (0, 1, 2)), x, w1, w2) == {"all-reduce": 2}
        check(jax.value_and_grad(loss, (0, 1, 2)), x, w1, w2)
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)


def test_tensor_parallel_attention_communicates_once(mesh):
    rng = np.random.RandomState(0)
    q, k, v = (put(mesh, rng.randn(16, 4, 8).astype("f"), None, "y") for _ in range(3))
    out = put(mesh, rng.randn(4, 8, 16).astype("f"), "y")
    x = put(mesh, rng.randn(2, 8, 16).astype("f"))

    def attention(x, q, k, v, out):
        q, k, v = (jnp.einsum("btd,dhe->bhte", x, w) for w in (q, k, v))
        p = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((8, 8), bool)), q @ k.swapaxes(2, 3), -1e9), -1)
        return jnp.einsum("bhte,hed->btd", p @ v, out)

    assert counts(attention, x, q, k, v, out) == {"all-reduce": 1}
    check(attention, x, q, k, v, out)


@pytest.mark.parametrize("shardy", [True, False])
def test_merged_dimensions_stay_split(mesh, shardy):
    """A sequence that is split, merged with the batch for products, look-ups and losses, in loops and recomputed: only sums are sent."""
    rng = np.random.RandomState(0)
    tokens, classes = rng.randint(0, 13, (4, 16)), rng.randint(0, 13, (4, 16))
    table, layers = rng.randn(13, 8).astype("f"), rng.randn(3, 8, 8).astype("f") / 3

    def loss(parameters, tokens, classes):
        table, layers = parameters
        block = jax.checkpoint(lambda x, w: (x + (jax.nn.gelu(x.reshape(-1, 8) @ w)).reshape(x.shape), None))
        x, _ = jax.lax.scan(block, table[tokens.reshape(-1)].reshape(*tokens.shape, 8), layers)
        logits = jax.nn.log_softmax(x.reshape(-1, 8) @ table.T)
        return -jnp.take_along_axis(logits, classes.reshape(-1, 1), 1).mean()
    before = jax.config.jax_use_shardy_partitioner
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        step, arguments = jax.value_and_grad(loss), ((table, layers), put(mesh, tokens, "y", "x"), put(mesh, classes, "y", "x"))
        wanted = jax.jit(step)((table, layers), tokens, classes)
        for a, e in zip(jax.tree.leaves(jax.jit(step)(*arguments)), jax.tree.leaves(wanted)):
            np.testing.assert_allclose(np.asarray(a), np.asarray(e), rtol=1e-4, atol=1e-5)
        text = jax.jit(step).lower(*arguments).compile().as_text()
        assert re.search("all.reduce", text) and not re.search("all.gather|all.to.all", text)
    finally:
        jax.config.update("jax_use_shardy_partitioner", before)


def test_results_of_nobody_are_split_along_whole_axes(mesh):
    """Ten columns could be on two of the four devices of "x", which no PartitionSpec says."""
    x = put(mesh, np.arange(192.0, dtype=np.float32).reshape(4, 8, 6), "y", "x")
    y = check(lambda x: x.reshape(4, 48)[:, ::5], x)
    assert y.sharding.spec == P("y")


def test_data_parallel_gradients_travel_together(mesh):
    w1, w2 = weights(mesh, (), ())
    x = put(mesh, np.random.RandomState(1).randn(32, 16).astype("f"), ("x", "y"))
    assert counts(jax.value_and_grad(loss, (1, 2)), x, w1, w2) == {"all-reduce": 1}
    check(jax.value_and_grad(loss, (1, 2)), x, w1, w2)


def test_fsdp_gathers_weights_and_scatters_gradients(mesh):
    axes = ("x", "y")
    w1, w2 = weights(mesh, (axes,), (axes,))
    x = put(mesh, np.random.RandomState(1).randn(512, 16).astype("f"), axes)
    gradients = jax.jit(jax.grad(loss, (1, 2)), out_shardings=(w1.sharding, w2.sharding))
    found = counts(gradients, x, w1, w2)
    assert set(found) == {"all-gather", "reduce-scatter"} and found["reduce-scatter"] == 2
    for g, e in zip(gradients(x, w1, w2), jax.grad(loss, (1, 2))(*(jnp.asarray(np.asarray(a)) for a in (x, w1, w2)))):
        np.testing.assert_allclose(np.asarray(g), np.asarray(e), rtol=2e-5, atol=1e-6)


def test_values_without_annotations_stay_split(mesh):
    """A loop that starts from zeros, an embedding and a cache: nobody collects what is split."""
    x = put(mesh, np.random.RandomState(0).randn(8, 16).astype("f"), "x", "y")
    def loop(x):
        return jax.lax.fori_loop(0, 3, lambda i, s: s + x * i, jnp.zeros_like(x))
    assert counts(loop, x) == {}
    assert check(loop, x).sharding.is_equivalent_to(x.sharding, 2)
    table = put(mesh, np.random.RandomState(0).randn(64, 8).astype("f"), "x")
    def look_up(table, words):
        return jnp.take(table, words, axis=0, mode="clip")
    words = jnp.array([3, 63, 17, 3])
    assert counts(look_up, table, words) == {"all-reduce": 1}
    check(look_up, table, words)
    def write(cache, row, at):
        return jax.lax.dynamic_update_slice(cache, row, (at, 0))
    assert counts(write, table, jnp.ones((1, 8)), jnp.int32(5)) == {}
    check(write, table, jnp.ones((1, 8)), jnp.int32(5))


@pytest.mark.parametrize("shardy", [True, False])
def test_shardings_propagate_around_and_through_shard_map(mesh, shardy):
    """In GSPMD's form, too, where a manual part is only what stands between two changes of shape."""
    jax.config.update("jax_use_shardy_partitioner", shardy)
    try:
        x = put(mesh, np.random.RandomState(0).randn(8, 16).astype("f"), "x", "y")
        doubled = jax.shard_map(lambda v: v * 2, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
        def around(x, a, b):  # the product is nowhere said to be split
            return doubled(x) + jnp.sin(a @ b)
        a, b = np.ones((8, 64), np.float32), np.ones((64, 16), np.float32)
        assert jax.jit(around).lower(x, a, b).compile().cost_analysis()["flops"] < 2 * 8 * 64 * 16 / 8 + 100, "every device computes all of it"
        assert counts(around, x, a, b) == {}
        check(lambda x, a, b: x * 2 + jnp.sin(a @ b), x, a, b)
        w1, w2 = weights(mesh, (None, "y"), ("y", None))
        rows = put(mesh, np.random.RandomState(1).randn(32, 16).astype("f"), "x", None)
        def free(v, w1, w2):
            return mlp(v, w1, w2) - jax.lax.pmean(v, "x")
        def partly(v, w1, w2):
            part = jax.shard_map(free, mesh=mesh, in_specs=(P("x"), P(), P()), out_specs=P("x"), axis_names={"x"})
            return jnp.tanh(part(v, w1, w2))
        assert counts(partly, rows, w1, w2) == {"all-reduce": 2}
        expected = jax.nn.gelu(np.asarray(rows) @ np.asarray(w1)) @ np.asarray(w2) - np.tile(np.asarray(rows).reshape(4, 8, 16).mean(0), (4, 1))
        np.testing.assert_allclose(np.asarray(jax.jit(partly)(rows, w1, w2)), np.tanh(expected), rtol=1e-4, atol=1e-5)
    finally:
        jax.config.update("jax_use_shardy_partitioner", True)


def test_arguments_that_nobody_has_sharded(mesh):
    """JAX leaves their shardings to the compiler (allow_spmd_sharding_propagation_to_parameters); parts that do not divide stay whole."""
    rows = NamedSharding(mesh, P("x", "y"))
    f = jax.jit(lambda a, b: jax.lax.with_sharding_constraint(a, rows) * 2 + b[0, 0])
    compiled = f.lower(jax.ShapeDtypeStruct((16, 8), jnp.float32), jax.ShapeDtypeStruct((5, 3), jnp.float32)).compile()
    first, second = compiled.input_shardings[0]
    assert first.is_equivalent_to(rows, 2) and second.is_fully_replicated
    a, b = np.arange(128, dtype=np.float32).reshape(16, 8), np.ones((5, 3), np.float32)
    np.testing.assert_array_equal(np.asarray(compiled(a, b)), a * 2 + 1)
    np.testing.assert_array_equal(np.asarray(f(a, b)), a * 2 + 1)
