# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.experimental.pallas on the plug-in, compiled (interpret=False): each feature beside JAX's interpreter of Pallas, or what numpy says."""
import functools
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import NamedSharding, PartitionSpec
from pallas_programs import product_kernel

F32 = jnp.float32
random = np.random.RandomState(0)


def some(*shape):
    return jnp.asarray(random.standard_normal(shape), F32)


def shape(*sizes, dtype=F32):
    return jax.ShapeDtypeStruct(sizes, dtype)


def both(kernel, *arguments, tolerance=1e-5, **options):
    """Compiled and interpreted results agree; the compiled one."""
    result = jax.jit(pl.pallas_call(kernel, **options))(*arguments)
    expected = jax.jit(pl.pallas_call(kernel, interpret=True, **options))(*arguments)
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, tolerance, tolerance), result, expected)
    return result


PRODUCT = dict(grid=(2, 3, 4), in_specs=[pl.BlockSpec((16, 8), lambda i, j, k: (i, k)), pl.BlockSpec((8, 32), lambda i, j, k: (k, j))],
               out_specs=pl.BlockSpec((16, 32), lambda i, j, k: (i, j)), out_shape=shape(32, 96),
               scratch_shapes=[pltpu.VMEM((16, 32), F32)])


@pytest.mark.parametrize("semantics", [None, ("parallel", "parallel", "arbitrary"), ("arbitrary", "arbitrary", "arbitrary")])
def test_product_with_scratch(semantics):
    x, y = some(32, 32), some(32, 96)
    result = both(product_kernel, x, y, compiler_params=pltpu.CompilerParams(dimension_semantics=semantics), **PRODUCT)
    np.testing.assert_allclose(result, x @ y, 1e-4, 1e-4)


def test_parallel_cells_are_one_product():
    """Cells that nobody called parallel are, as they do not read each other's scratch memory: no loop over them, and no branch, is left."""
    text = jax.jit(pl.pallas_call(product_kernel, **PRODUCT)).lower(shape(32, 32), shape(32, 96)).as_text()
    assert "stablehlo.case" not in text and text.count("stablehlo.while") == 1
    assert text.count("stablehlo.dot_general") == 3  # the first, the last, and those between


def test_scratch_that_is_carried_from_cell_to_cell():
    def kernel(x, out, total):
        @pl.when(pl.program_id(0) == 0)
        def _():
            total[...] = jnp.zeros_like(total)

        total[...] += x[...]
        out[...] = total[...]

    x = some(6, 8, 128)
    result = both(kernel, x, grid=(6,), in_specs=[pl.BlockSpec((None, 8, 128), lambda i: (i, 0, 0))],
                  out_specs=pl.BlockSpec((None, 8, 128), lambda i: (i, 0, 0)), out_shape=shape(6, 8, 128),
                  scratch_shapes=[pltpu.VMEM((8, 128), F32)])
    np.testing.assert_allclose(result, np.cumsum(x, 0), 1e-5, 1e-5)


def test_accumulation_in_the_output():
    def kernel(x, out):
        @pl.when(pl.program_id(1) == 0)
        def _():
            out[...] = jnp.zeros_like(out)

        out[...] += x[...].sum(0)

    x = some(32, 256)
    result = both(kernel, x, grid=(2, 4), in_specs=[pl.BlockSpec((8, 128), lambda j, i: (i, j))],
                  out_specs=pl.BlockSpec((128,), lambda j, i: (j,)), out_shape=shape(256))
    np.testing.assert_allclose(result, x.sum(0), 1e-5, 1e-5)


def test_partial_blocks():
    def kernel(x, out):
        out[...] = x[...] * 2

    x = some(50, 70)
    result = both(kernel, x, grid=(4, 3), in_specs=[pl.BlockSpec((16, 32), lambda i, j: (i, j))],
                  out_specs=pl.BlockSpec((16, 32), lambda i, j: (i, j)), out_shape=shape(50, 70))
    np.testing.assert_array_equal(result, x * 2)


def test_empty_arrays():
    def double(x, out):
        out[...] = x[...] * 2
    made = jax.jit(lambda x: pl.pallas_call(double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x))(jnp.ones((0, 8)))
    assert made.shape == (0, 8)


def test_scalar_prefetch_and_index_maps():
    def kernel(order, x, scale, out):
        out[...] = x[...] * scale[order[pl.program_id(0)]] + order[pl.program_id(0)]

    order, x, scale = jnp.asarray([3, 1, 0, 2, 2], jnp.int32), some(4 * 8, 128), some(4)
    spec = pltpu.PrefetchScalarGridSpec(
        num_scalar_prefetch=1, grid=(5,), in_specs=[pl.BlockSpec((8, 128), lambda i, order: (order[i], 0)),
                                                    pl.BlockSpec(memory_space=pltpu.SMEM)],
        out_specs=pl.BlockSpec((8, 128), lambda i, order: (i, 0)))
    result = jax.jit(pl.pallas_call(kernel, grid_spec=spec, out_shape=shape(40, 128)))(order, x, scale)
    np.testing.assert_allclose(result, np.concatenate([x[8 * o:8 * o + 8] * scale[o] + o for o in np.asarray(order)]), 1e-5, 1e-5)


def test_grid_size_known_when_it_runs():
    def kernel(x, out):
        out[...] = x[...] + 1

    def function(count, x):
        return pl.pallas_call(kernel, grid=(count,), in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))], input_output_aliases={0: 0},
                              out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)), out_shape=shape(32, 128))(x)

    for count in (0, 1, 3):
        x = some(32, 128)
        np.testing.assert_array_equal(jax.jit(function)(count, x), np.concatenate([x[:8 * count] + 1, x[8 * count:]]))


def test_aliases_keep_what_is_not_written():
    def kernel(where, x, out):
        out[pl.ds(where[0], 2), :] = x[pl.ds(where[0], 2), :] * 10

    x = some(16, 128)
    spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(1,), in_specs=[pl.BlockSpec((16, 128), lambda i, w: (0, 0))],
                                        out_specs=pl.BlockSpec((16, 128), lambda i, w: (0, 0)))
    result = jax.jit(pl.pallas_call(kernel, grid_spec=spec, out_shape=shape(16, 128), input_output_aliases={1: 0}))(jnp.asarray([5]), x)
    expected = np.array(x)
    expected[5:7] *= 10
    np.testing.assert_array_equal(result, expected)


def test_masks_beyond_the_array():
    from jax._src.pallas import primitives  # pl.load in older versions, pltriton.load in newer ones

    def kernel(x, out):
        rows = pl.program_id(0) * 16 + jnp.arange(16)
        value = primitives.load(x, (pl.ds(pl.program_id(0) * 16, 16),), mask=rows < 40, other=-1.0)
        primitives.store(out, (pl.ds(pl.program_id(0) * 16, 16),), value + 1, mask=rows < 40)

    x = some(40)
    result = both(kernel, x, grid=(3,), out_shape=shape(40))
    np.testing.assert_array_equal(result, x + 1)


def test_loops_with_bounds_of_the_cell():
    def kernel(count, x, out):
        def add(row, total):
            return total + x[row, :]

        out[...] = jax.lax.fori_loop(0, count[pl.program_id(0)], add, jnp.zeros(128, F32))

    counts, x = jnp.asarray([3, 0, 7], jnp.int32), some(8, 128)
    spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=(3,), in_specs=[pl.BlockSpec((8, 128), lambda i, c: (0, 0))],
                                        out_specs=pl.BlockSpec((None, 128), lambda i, c: (i, 0)))
    result = jax.jit(pl.pallas_call(kernel, grid_spec=spec, out_shape=shape(3, 128)))(counts, x)
    np.testing.assert_allclose(result, np.stack([x[:c].sum(0) for c in (3, 0, 7)]), 1e-5, 1e-5)


def test_copies_and_semaphores():
    def kernel(x, out, memory, semaphore):
        for row in range(4):
            copy = pltpu.make_async_copy(x.at[pl.ds(row * 8, 8)], memory.at[row % 2], semaphore.at[row % 2])
            copy.start()
            copy.wait()
            out[pl.ds(row * 8, 8), :] = memory[row % 2] + row

    x = some(32, 128)
    result = jax.jit(pl.pallas_call(kernel, in_specs=[pl.BlockSpec(memory_space=pl.ANY)], out_shape=shape(32, 128),
                                    scratch_shapes=[pltpu.VMEM((2, 8, 128), F32), pltpu.SemaphoreType.DMA((2,))]))(x)
    np.testing.assert_array_equal(result, x + np.repeat(np.arange(4), 8)[:, None])


def test_run_scoped():
    def kernel(x, out):
        def inside(memory):
            memory[...] = x[...] * 3
            out[...] = memory[...] + 1

        pl.run_scoped(inside, pltpu.VMEM((8, 128), F32))

    both(kernel, some(8, 128), out_shape=shape(8, 128))


def test_pipelines_in_a_kernel():
    """pltpu.emit_pipeline chooses its buffers by pltpu.get_tpu_info(), which no other CPU has."""
    pytest.importorskip("jax._src.pallas.mosaic.tpu_info", reason="before JAX 0.9 it wants a TPU")

    def kernel(x, out):
        def inside(x, out):
            out[...] = x[...] * 2

        spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
        pltpu.emit_pipeline(inside, grid=(4,), in_specs=[spec], out_specs=[spec])(x, out)

    x = some(32, 128)
    result = jax.jit(pl.pallas_call(kernel, in_specs=[pl.BlockSpec(memory_space=pl.ANY)], out_specs=pl.BlockSpec(memory_space=pl.ANY),
                                    out_shape=shape(32, 128)))(x)
    np.testing.assert_array_equal(result, x * 2)


def test_elements_and_strides():
    def kernel(x, out):
        out[...] = x[pl.ds(0, 8), :] + x[pl.ds(1, 8), :]

    x = some(17, 128)
    result = both(kernel, x, grid=(2,), in_specs=[pl.BlockSpec((pl.Element(9), pl.Element(128)), lambda i: (i * 8, 0))],
                  out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)), out_shape=shape(16, 128))
    np.testing.assert_allclose(result, x[:16] + x[1:], 1e-6)

    def strided(x, out):
        out[...] = x[pl.ds(0, 4, stride=2), :]

    np.testing.assert_array_equal(jax.jit(pl.pallas_call(strided, out_shape=shape(4, 128)))(x[:8]), x[:8:2])


def test_operations_of_tpus_in_parallel_cells():
    def kernel(x, plain, strided, inverse, rows):
        i = pl.multiple_of(pl.program_id(0) * 8, 8)
        plain[...] = pltpu.roll(x[...], 3, 1)
        strided[...] = pltpu.roll(x[...], 5, 1, stride=2, stride_axis=0)
        inverse[...] = pl.reciprocal(x[...]) if hasattr(pl, "reciprocal") else 1 / x[...]
        rows[...] = x[...][i + jnp.arange(2)[:, None] - i, jnp.arange(4)]

    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    x = some(24, 128)
    plain, strided, inverse, rows = both(kernel, x, grid=(3,), in_specs=[spec], out_specs=[spec] * 3 + [pl.BlockSpec((2, 4), lambda i: (i, 0))],
                                         out_shape=[shape(24, 128)] * 3 + [shape(6, 4)])
    np.testing.assert_array_equal(plain, np.roll(x, 3, 1))
    np.testing.assert_array_equal(strided, np.stack([np.roll(row, 5 + 2 * (i % 8)) for i, row in enumerate(np.asarray(x))]))
    np.testing.assert_allclose(inverse, 1 / x, 1e-6)
    np.testing.assert_array_equal(rows, np.asarray(x).reshape(3, 8, 128)[:, :2, :4].reshape(6, 4))


def test_named_axes_and_loops_that_ask_for_the_cell():
    """Neither works in JAX's interpreter."""
    if not hasattr(pl, "loop"):
        pytest.skip("this JAX has no pl.loop")

    def kernel(x, out):
        out[...] = x[...] + (10 * jax.lax.axis_index("rows") + pl.program_id(1))

        @pl.loop(0, 2)
        def _(row):
            out[row, 0] = pl.program_id(0) + 0.5

    spec = pl.BlockSpec((8, 128), lambda i, j: (i, j))
    call = pl.pallas_call(kernel, grid=(("rows", 2), ("columns", 3)), in_specs=[spec], out_specs=spec, out_shape=shape(16, 384))
    x = some(2, 16, 384)
    expected = np.array(x) + 10 * (np.arange(16) // 8)[:, None] + np.arange(384) // 128
    for row in (0, 1, 8, 9):
        expected[:, row, ::128] = row // 8 + 0.5
    np.testing.assert_allclose(jax.jit(jax.vmap(call))(x), expected, 1e-6)
    np.testing.assert_allclose(jax.jit(call)(x[0]), expected[0], 1e-6)


def test_grid_size_known_when_it_runs_under_vmap():
    """JAX's interpreter says 3, the number of arrays, for pl.num_programs(0)."""
    def kernel(x, out):
        out[...] = x[...] + pl.num_programs(0)

    def function(count, x):
        spec = pl.BlockSpec((8,), lambda i: (i,))
        return pl.pallas_call(kernel, grid=(count,), in_specs=[spec], out_specs=spec, out_shape=shape(16))(x)

    x = some(3, 16)
    np.testing.assert_array_equal(jax.jit(jax.vmap(function, in_axes=(None, 0)))(2, x), x + 2)


def test_kernels_on_a_mesh_of_cores():
    if not hasattr(pl, "kernel") or not hasattr(pltpu, "create_tensorcore_mesh"):
        pytest.skip("this JAX has no pl.kernel")

    def kernel(x, out):
        def inside(memory):
            part = pl.ds(jax.lax.axis_index("core") * 8, 8)
            pltpu.sync_copy(x.at[part], memory)
            memory[...] = memory[...] * 2
            pltpu.sync_copy(memory, out.at[part])

        pl.run_scoped(inside, pltpu.VMEM((8, 128), F32))

    x = some(16, 128)
    call = pl.kernel(kernel, out_type=shape(16, 128), mesh=pltpu.create_tensorcore_mesh("core", num_cores=2))
    np.testing.assert_array_equal(jax.jit(call)(x), x * 2)


def test_prints_and_what_only_a_tpu_has(capfd):
    def kernel(x, out):
        pl.debug_print("cell {}", pl.program_id(0))
        out[...] = x[...]

    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    jax.block_until_ready(pl.pallas_call(kernel, grid=(2,), in_specs=[spec], out_specs=spec, out_shape=shape(16, 128))(some(16, 128)))
    jax.effects_barrier()
    assert sorted(capfd.readouterr().out.split("\n")[:2]) == ["cell 0", "cell 1"]

    def synchronized(out):
        pl.semaphore_wait(pltpu.get_barrier_semaphore(), 1)

    with pytest.raises(NotImplementedError, match="test_pallas.py:.*get_barrier_semaphore is not supported on CPUs"):
        pl.pallas_call(synchronized, out_shape=shape(8, 128))()


def row_softmax(x, out):
    e = jnp.exp(x[...] - x[...].max(-1, keepdims=True))
    out[...] = e / e.sum(-1, keepdims=True)


def softmax(x):
    return pl.pallas_call(row_softmax, grid=(x.shape[0] // 8,), in_specs=[pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0))],
                          out_specs=pl.BlockSpec((8, x.shape[1]), lambda i: (i, 0)), out_shape=shape(*x.shape))(x)


def test_parallel_cells_leave_no_loop():
    text = jax.jit(softmax).lower(shape(64, 100)).as_text()
    assert "while" not in text and "slice" not in text and "gather" not in text


def test_vmap_and_grad():
    @jax.custom_vjp
    def function(x):
        return softmax(x)

    function.defvjp(lambda x: (softmax(x),) * 2, lambda y, g: (y * (g - (g * y).sum(-1, keepdims=True)),))
    x = some(3, 16, 40)
    np.testing.assert_allclose(jax.jit(jax.vmap(softmax))(x), jax.nn.softmax(x, -1), 1e-6, 1e-6)
    weights = some(3, 16, 40)
    result = jax.jit(jax.grad(lambda x: (jax.vmap(function)(x) * weights).sum()))(x)
    expected = jax.grad(lambda x: (jax.nn.softmax(x, -1) * weights).sum())(x)
    np.testing.assert_allclose(result, expected, 1e-5, 1e-6)


def test_shard_map():
    mesh = jax.make_mesh((4,), ("x",), devices=jax.devices()[:4], axis_types=(jax.sharding.AxisType.Auto,))
    function = jax.jit(jax.shard_map(softmax, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x"), check_vma=False))
    x = jax.device_put(some(64, 40), NamedSharding(mesh, PartitionSpec("x")))
    result = function(x)
    assert len(result.sharding.device_set) == 4
    np.testing.assert_allclose(result, jax.nn.softmax(x, -1), 1e-6, 1e-6)


def test_sharded_arrays():
    """Nothing but ordinary operations is left of a kernel: the partitioner cuts them."""
    mesh = jax.make_mesh((4,), ("x",), devices=jax.devices()[:4], axis_types=(jax.sharding.AxisType.Auto,))
    x, y = some(64, 32), some(32, 96)
    sharded = jax.device_put(x, NamedSharding(mesh, PartitionSpec("x")))
    call = pl.pallas_call(product_kernel, grid=(4, 3, 4), out_shape=shape(64, 96), **{
        name: PRODUCT[name] for name in ("in_specs", "out_specs", "scratch_shapes")})
    result = jax.jit(call)(sharded, y)
    np.testing.assert_allclose(result, x @ y, 1e-4, 1e-4)
    result = jax.jit(softmax)(sharded)
    assert result.sharding.spec == PartitionSpec("x")
    np.testing.assert_allclose(result, jax.nn.softmax(x, -1), 1e-6, 1e-6)


def test_remote_copies_are_refused_with_the_users_line():
    def kernel(x, out, send, receive):
        pltpu.make_async_remote_copy(x, out, send, receive, device_id=1, device_id_type=pl.DeviceIdType.LOGICAL).start()  # the line

    call = pl.pallas_call(kernel, in_specs=[pl.BlockSpec(memory_space=pl.ANY)], out_specs=pl.BlockSpec(memory_space=pl.ANY),
                          out_shape=shape(8, 128), scratch_shapes=[pltpu.SemaphoreType.DMA] * 2)
    with open(__file__, encoding="utf-8") as file:
        line = [index for index, text in enumerate(file, 1) if text.rstrip().endswith("# the line")][0]
    with pytest.raises(NotImplementedError, match=rf"test_pallas.py:{line}.*another device's memory"):
        jax.jit(call)(some(8, 128))


def test_writing_an_input_is_refused():
    def kernel(x, out):
        x[...] = x[...] + 1
        out[...] = x[...]

    with pytest.raises(NotImplementedError, match="input_output_aliases"):
        jax.jit(pl.pallas_call(kernel, out_shape=shape(8, 128)))(some(8, 128))


def test_interpreted_calls_and_other_platforms_are_jaxs():
    call = functools.partial(pl.pallas_call, row_softmax, out_shape=shape(8, 40))
    np.testing.assert_allclose(call(interpret=True)(some(8, 40)).sum(-1), np.ones(8), 1e-5)
    program = ("import jax, jax.numpy as jnp\nfrom jax.experimental import pallas as pl\n"
               "def k(x, o): o[...] = x[...]\n"
               "pl.pallas_call(k, out_shape=jax.ShapeDtypeStruct((8, 128), jnp.float32))(jnp.ones((8, 128)))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=dict(os.environ, MILLRACE_JAX="0"))
    assert "Only interpret mode is supported on CPU backend" in done.stderr
