# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""compiler_options={"millrace_auto_sharding": "data=2,model=4"}: the compiler chooses what is split where."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

MESH = "data=2,model=4"
OPTIONS = {"millrace_auto_sharding": MESH}


@pytest.fixture
def mesh():
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto, AxisType.Auto))


def compiled(function, arguments, mesh, options=None):
    with jax.set_mesh(mesh):
        return jax.jit(function).lower(*arguments).compile(compiler_options=options or OPTIONS)


def placed(program, arguments):
    return [jax.device_put(argument, sharding) for argument, sharding in zip(arguments, program.input_shardings[0])]


def perceptron(x, up, down):
    return jnp.tanh(x @ up) @ down


def test_large_weights_are_split_and_give_the_same_values(mesh):
    generator = np.random.default_rng(0)
    arguments = [generator.normal(size=shape).astype(np.float32) / 16 for shape in ((8, 512), (512, 2048), (2048, 512))]
    program = compiled(perceptron, arguments, mesh)
    given = placed(program, arguments)
    assert given[1].addressable_shards[0].data.size == 512 * 2048 // 8 and given[2].addressable_shards[0].data.size == 512 * 2048 // 8
    np.testing.assert_allclose(program(*given), perceptron(*arguments), rtol=2e-5, atol=2e-5)


def test_many_rows_are_split(mesh):
    arguments = [np.ones(shape, np.float32) for shape in ((8192, 32), (32, 64), (64, 32))]
    program = compiled(perceptron, arguments, mesh)
    given = placed(program, arguments)
    assert given[0].addressable_shards[0].data.shape == (1024, 32)
    np.testing.assert_allclose(program(*given), perceptron(*arguments), rtol=1e-5)


def test_a_training_step_keeps_its_parameters_where_they_are(mesh):
    def step(weights, x, y):
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - y) ** 2))(weights)
        return weights - 0.1 * gradient, loss

    generator = np.random.default_rng(1)
    weights, x, y = (generator.normal(size=shape).astype(np.float32) for shape in ((256, 256), (64, 256), (64, 256)))
    with jax.set_mesh(mesh):
        program = jax.jit(step, donate_argnums=0).lower(weights, x, y).compile(compiler_options=OPTIONS)
    ours, *batch = placed(program, (weights, x, y))
    expected = weights
    for _ in range(5):
        ours, loss = program(ours, *batch)
        expected, wanted = jax.jit(step)(expected, x, y)
        np.testing.assert_allclose(loss, wanted, rtol=1e-5)
    assert ours.sharding.is_equivalent_to(program.input_shardings[0][0], 2)


def test_annotations_stay(mesh):
    wanted = NamedSharding(mesh, PartitionSpec(None, "model"))
    arguments = [jax.device_put(np.ones((8192, 32), np.float32), wanted), np.ones((32, 64), np.float32), np.ones((64, 32), np.float32)]
    with jax.set_mesh(mesh):
        program = jax.jit(perceptron).lower(*arguments).compile(compiler_options={"millrace_auto_sharding": True})
    assert program.input_shardings[0][0].is_equivalent_to(wanted, 2)
    np.testing.assert_allclose(program(arguments[0], *placed(program, arguments)[1:]), perceptron(*map(np.asarray, arguments)), rtol=1e-5)


def test_the_machine_decides(mesh):
    arguments = [jax.ShapeDtypeStruct(shape, np.float32) for shape in ((64, 256), (256, 256), (256, 256))]
    texts = {str(compiled(perceptron, arguments, mesh, dict(OPTIONS, millrace_machine=machine)).input_shardings) for machine in ("virtual", "ethernet")}
    assert len(texts) == 2  # messages between hosts cost more than the little work that there is


def test_a_limit_is_one_of_the_compiled_program(mesh, monkeypatch):
    """What a program takes is less than all of its values, and more than the values of a plan where parts of the compiled program share no memory."""
    def loss(weights, x):
        for up, down in weights:
            x = x + jnp.tanh(jax.nn.gelu(x @ up)) @ down
        return jnp.mean(x * x)

    def taken(options):
        with jax.set_mesh(mesh):
            memory = jax.jit(jax.grad(loss)).lower(*arguments).compile(compiler_options=options).memory_analysis()
        return memory.argument_size_in_bytes + memory.output_size_in_bytes + memory.temp_size_in_bytes - memory.alias_size_in_bytes
    up, down, x = (jax.ShapeDtypeStruct(shape, np.float32) for shape in ((128, 512), (512, 128), (4096, 128)))
    arguments = [(up, down)] * 6, x
    asked = dict(OPTIONS, millrace_machine="h100")
    limit = int(0.8 * taken(asked))
    assert taken(dict(asked, millrace_memory_per_device=str(limit))) <= limit
    for name, value in (("", "1"), ("_MESH", "2,4"), ("_MACHINE", "h100"), ("_MEMORY", str(limit))):
        monkeypatch.setenv("XLA_AUTO_SPMD" + name, value)
    assert taken(None) <= limit
    monkeypatch.setenv("XLA_AUTO_SPMD_MACHINE", "abacus")
    with pytest.raises(jax.errors.JaxRuntimeError, match="millrace_machine: expects a file or one of .* but got 'abacus'"):
        taken(None)


def test_manual_computations_among_tensors_without_annotations(mesh):
    """The body of shard_map is what it says, with all axes or some of them; what is around it is planned."""
    generator = np.random.default_rng(2)
    x, up, down = (generator.normal(size=shape).astype(np.float32) / 16 for shape in ((4096, 64), (64, 256), (256, 64)))

    def normalized(value):
        return value / jax.lax.psum(jnp.sum(value * value, axis=1, keepdims=True), "model")

    for axes in ({"data", "model"}, {"model"}):
        rows = "data" if "data" in axes else None
        spec = PartitionSpec(rows, "model")

        def step(x, up, down):
            inner = jax.shard_map(normalized, mesh=mesh, in_specs=spec, out_specs=spec, axis_names=axes)
            return jnp.tanh(inner(jnp.tanh(x @ up))) @ down

        program = compiled(step, (x, up, down), mesh, {"millrace_auto_sharding": True, "millrace_machine": "h100"})
        given = placed(program, (x, up, down))
        hidden = np.tanh(x @ up)
        expected = np.tanh(hidden / np.sum(hidden * hidden, axis=1, keepdims=True)) @ down
        np.testing.assert_allclose(program(*given), expected, rtol=2e-5, atol=2e-5)
        assert given[0].addressable_shards[0].data.shape[0] < 4096  # rows of the batch


def test_the_environment_asks_for_all_programs(mesh, monkeypatch):
    shapes = (8192, 64), (64, 256), (256, 64)
    arguments = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
    own = [jax.ShapeDtypeStruct(shapes[0], np.float32, sharding=NamedSharding(mesh, PartitionSpec(None, "model"))), *arguments[1:]]

    def found(values, **environment):
        for name in ("XLA_AUTO_SPMD", "XLA_AUTO_SPMD_MESH", "XLA_AUTO_SPMD_MACHINE", "XLA_AUTO_SPMD_MEMORY"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with jax.set_mesh(mesh):
            return jax.jit(lambda *given: perceptron(*given)).lower(*values).compile().input_shardings[0]

    def split(shardings):
        return [sharding.shard_shape(shape) != shape for sharding, shape in zip(shardings, shapes)]
    assert split(found(arguments)) == [False, False, False]
    assert split(found(arguments, XLA_AUTO_SPMD="1"))[0]  # all devices in a row
    assert split(found(arguments, XLA_AUTO_SPMD="1", XLA_AUTO_SPMD_MESH="2,4"))[0]
    with pytest.warns(UserWarning, match="XLA_AUTO_SPMD_MESH=2,2 is a mesh of 4 devices, but there are 8: programs of 8 devices are not sharded"):
        assert split(found(arguments, XLA_AUTO_SPMD="1", XLA_AUTO_SPMD_MESH="2,2")) == [False, False, False]
    assert split(found(arguments, XLA_AUTO_SPMD="0", XLA_AUTO_SPMD_MESH="2,4")) == [False, False, False]
    assert found(own, XLA_AUTO_SPMD="1")[0].is_equivalent_to(own[0].sharding, 2)  # over its own mesh, as annotated
    with pytest.raises(ValueError, match='XLA_AUTO_SPMD_MESH expects the sizes of a mesh, as "2,4", but is \'two\''):
        found(arguments, XLA_AUTO_SPMD="1", XLA_AUTO_SPMD_MESH="two")
    monkeypatch.setenv("XLA_AUTO_SPMD", "1")
    assert jax.jit(lambda x: x + 1)(np.float32(1)) == 2  # one device


def test_a_program_of_one_device_is_an_error():
    """It would run as if nobody had asked."""
    function = jax.jit(lambda x: x @ x, compiler_options=OPTIONS)
    with pytest.raises(jax.errors.JaxRuntimeError, match="expects a program of the 8 devices of 'data=2,model=4', but got one of a single device"):
        function(np.ones((64, 64), np.float32))
    assert jax.jit(lambda x: x @ x, compiler_options={"millrace_auto_sharding": True})(np.ones((4, 4), np.float32))[0, 0] == 4


@pytest.mark.parametrize("options, message", [
    ({"millrace_auto_sharding": "data=2,model=2"}, "expects a mesh of the program's 8 devices, but got 'data=2,model=2'"),
    ({"millrace_auto_sharding": True}, "automatic sharding expects a mesh"),
    (dict(OPTIONS, millrace_machine="abacus"), "expects a file or one of ethernet, h100, server, tpu-v4, virtual, but got 'abacus'"),
    (dict(OPTIONS, millrace_memory_per_device="1K"), "automatic sharding finds no plan"),
    (dict(OPTIONS, millrace_memory_per_device="much"), "expects a number of bytes"),
    ({"millrace_auto_sharding": "auto:8"}, "expects a mesh like data=4,model=2, auto, True or False, but got 'auto:8'"),
    ({"millrace_auto_sharding": "data:2,model:4"}, "expects a mesh like data=4,model=2, auto, True or False, but got 'data:2,model:4'"),
    ({"millrace_memory_per_device": "1K"}, "millrace_memory_per_device requires millrace_auto_sharding"),
    ({"millrace_auto_sharding": False, "millrace_machine": "h100"}, "millrace_machine requires millrace_auto_sharding"),
])
def test_what_cannot_be_is_said(mesh, options, message):
    arguments = [np.ones(shape, np.float32) for shape in ((64, 32), (32, 64), (64, 32))]
    with pytest.raises(jax.errors.JaxRuntimeError, match=message):
        compiled(perceptron, arguments, mesh, options)
