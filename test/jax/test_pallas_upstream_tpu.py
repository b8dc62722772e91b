# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the test classes of JAX's own tpu_*_test.py ask, compiled on the plug-in (interpret=False): programs of ours, one class per class there, beside
the same operation outside of a kernel or numpy. docs/guide/kernels.md counts them."""
import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.sharding import PartitionSpec
from pallas_programs import ANY, BF16, F32, I32, SMEM, VMEM, count, equal, of, plain, random, run, same, shape, some


class TestScalarPrefetch:
    """tpu_pallas_test.py, PallasCallScalarPrefetchTest."""

    @pytest.mark.parametrize("dtype, index", [(BF16, 0), (BF16, 129), (jnp.int16, 257), (jnp.int8, 11), (F32, 3)])
    def test_types(self, dtype, index):
        s = count(512, dtype=dtype)
        got = run(lambda s, out: out.__setitem__(..., jnp.broadcast_to(s[index], out.shape)), s, out_shape=shape(4, 8, dtype=dtype),
                  grid_spec=pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1))
        equal(got, np.broadcast_to(plain(s)[index], (4, 8)))

    @pytest.mark.parametrize("batch", [None, "array", "both"])
    def test_blocks_by_scalars(self, batch):
        order = jnp.asarray([4, 3, 2, 5, 3, 5, 2, 7])
        spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=8, in_specs=[pl.BlockSpec((8, 16), lambda i, s: (s[i], 0))],
                                            out_specs=pl.BlockSpec((8, 16), lambda i, s: (i, 0)))
        call = pl.pallas_call(lambda s, x, out: out.__setitem__(..., x[...]), out_shape=shape(64, 16), grid_spec=spec)
        if batch is None:
            x = some(64, 16)
            equal(jax.jit(call)(order, x), x.reshape(8, 8, 16)[order].reshape(64, 16))
        else:
            x = some(2, 64, 16)
            orders = jnp.stack([order, order[::-1]]) if batch == "both" else order
            got = jax.jit(jax.vmap(call, in_axes=(0 if batch == "both" else None, 0)))(orders, x)
            for i in range(2):
                equal(got[i], x[i].reshape(8, 8, 16)[orders[i] if batch == "both" else order].reshape(64, 16))

    def test_two_of_them(self):
        a, b = jnp.asarray([4, 3, 2, 5, 3, 5, 2, 7]), jnp.asarray([7, 6, 5, 4, 3, 2, 1, 0])
        spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=2, grid=8, in_specs=[pl.BlockSpec((8, 16), lambda i, a, b: (a[i], 0))],
                                            out_specs=pl.BlockSpec((8, 16), lambda i, a, b: (b[i], 0)))
        x = some(64, 16)
        equal(run(lambda a, b, x, out: out.__setitem__(..., x[...]), a, b, x, out_shape=shape(64, 16), grid_spec=spec),
              x.reshape(8, 8, 16)[a][::-1].reshape(64, 16))

    @pytest.mark.parametrize("has_scratch, is_batched, is_dynamic", list(itertools.product([False, True], repeat=3)))
    def test_pytrees_of_scalars(self, has_scratch, is_batched, is_dynamic):
        def kernel(scalars, x, new, out, *scratch):
            first, second, third = scalars
            assert first.shape == (2,) and second.shape == (3,) and third is None
            out[pl.ds(first[pl.program_id(0)], 1), :] = new[...]
        spec = pltpu.PrefetchScalarGridSpec
        def function(x, size):
            call = pl.pallas_call(kernel, out_shape=shape(64, 16), grid_spec=spec(
                num_scalar_prefetch=1, grid=(size,), in_specs=[pl.BlockSpec((8, 16), lambda i, s: (s[0][i], 0)), pl.BlockSpec((1, 16), lambda i, s: (0, 0))],
                out_specs=pl.BlockSpec((32, 16), lambda i, s: (s[0][i], 0)),
                scratch_shapes=[pltpu.SemaphoreType.REGULAR((3,))] if has_scratch else []))
            return call((jnp.asarray([1, 0]), jnp.arange(3), None), x, count(1, 16))
        x = some(4, 16, 16)
        if is_batched:
            got = jax.jit(jax.vmap(function, in_axes=(0, None)))(x, 2) if is_dynamic else jax.vmap(lambda x: function(x, 2))(x)
        else:
            got = (jax.jit(function)(x[0], 2) if is_dynamic else function(x[0], 2))[None]
        for each in got:
            equal(each[0], np.arange(16))
            equal(each[33], np.arange(16))

    def test_a_program_of_scalars(self):
        program = jnp.asarray([0, 0, 1, 0, 1, 1])
        def kernel(program, x, out, state):
            state[...] = x[...]
            def step(i, nothing):
                def add(i):
                    state[...] += i.astype(F32)
                def times(i):
                    state[...] *= i.astype(F32)
                lax.switch(program[i], (add, times), i)
            lax.fori_loop(0, 6, step, None)
            out[...] = state[...]
        x, want = some(64, 16), 0
        want = np.asarray(x)
        for i, p in enumerate((0, 0, 1, 0, 1, 1)):
            want = want * i if p else want + i
        spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, grid=8, in_specs=[pl.BlockSpec((8, 16), lambda i, p: (i, 0))],
                                            out_specs=pl.BlockSpec((8, 16), lambda i, p: (i, 0)), scratch_shapes=[pltpu.VMEM((8, 16), F32)])
        equal(run(kernel, program, x, out_shape=shape(64, 16), grid_spec=spec), want, 1e-5)


class TestDynamicGrid:
    """tpu_pallas_test.py, PallasCallDynamicGridTest."""

    @pytest.mark.parametrize("steps", [0, 1, 4])
    @pytest.mark.parametrize("dims", [1, 3])
    def test_sums(self, steps, dims):
        def kernel(x, out):
            out[...] += 1
        def function(steps, x):
            return pl.pallas_call(kernel, grid=(steps * 2, steps + 1, 3)[:dims], in_specs=[pl.BlockSpec((8, 16), lambda *i: (0, 0))],
                                  out_specs=pl.BlockSpec((8, 16), lambda *i: (0, 0)), out_shape=shape(8, 16), input_output_aliases={0: 0})(x)
        times = math.prod((steps * 2, steps + 1, 3)[:dims])
        equal(jax.jit(function)(jnp.int32(steps), jnp.zeros((8, 16))), np.full((8, 16), times))

    def test_what_is_known_about_its_size(self):
        def kernel(out):
            assert isinstance(pl.num_programs(0), int) and pl.num_programs(0) == 2
            assert isinstance(pl.num_programs(1), jax.Array)
            out[0, 0] = pl.num_programs(1)
        def function(size):
            return pl.pallas_call(kernel, grid=(2, size), out_specs=SMEM, out_shape=shape(1, 1, dtype=I32))()
        assert jax.jit(function)(5)[0, 0] == 5

    def test_blocks_by_its_size(self):
        def function(size, x):
            return pl.pallas_call(lambda x, out: out.__setitem__(..., x[...]), grid=(size,), out_shape=shape(8, 16),
                                  in_specs=[pl.BlockSpec((8, 16), lambda i: (9 - pl.num_programs(0), 0))], out_specs=pl.BlockSpec((8, 16), lambda i: (0, 0)))(x)
        x = some(32, 16)
        equal(jax.jit(function)(8, x), x[8:16])

    @pytest.mark.parametrize("axes", [(None, 0), (0, 0)])
    def test_vmap(self, axes):
        def kernel(x, out):
            @pl.when(pl.program_id(0) == 0)
            def _():
                out[...] = x[...]
            out[...] += 1
        def function(steps, x):
            spec = pl.BlockSpec((8, 16), lambda i: (0, 0))
            return pl.pallas_call(kernel, grid=(steps * 2,), in_specs=[spec], out_specs=spec, out_shape=shape(8, 16))(x)
        x = some(2, 8, 16)
        steps = jnp.int32(4) if axes[0] is None else jnp.asarray([4, 2])
        equal(jax.jit(jax.vmap(function, in_axes=axes))(steps, x), x + 2 * jnp.broadcast_to(steps, 2)[:, None, None], 1e-5)

    @pytest.mark.parametrize("times", [1, 2, 3])
    def test_number_of_cells_under_vmap(self, times):
        call = pl.pallas_call(lambda out: out.__setitem__(..., jnp.full_like(out, pl.num_programs(0))), grid=(8,), out_shape=shape(8, 16, dtype=I32),
                              out_specs=pl.BlockSpec((8, 16), lambda i: (0, 0)))
        function = call
        for _ in range(times):
            function = functools.partial(lambda inner: jax.vmap(inner, axis_size=2)(), function)
        equal(jax.jit(function)(), np.full((2,) * times + (8, 16), 8))


class TestDMA:
    """tpu_pallas_test.py, PallasCallDMATest and PallasCallDynamicDMATest."""

    @pytest.mark.parametrize("source, target", list(itertools.product(["hbm", "vmem", "smem"], repeat=2)))
    def test_between_memories(self, source, target):
        spaces = dict(hbm=ANY, vmem=VMEM, smem=SMEM)
        def kernel(x, out, semaphore):
            pltpu.async_copy(x, out, semaphore).wait()
        x = some(8, 128)
        equal(run(kernel, x, in_specs=[spaces[source]], out_specs=spaces[target], out_shape=shape(8, 128), scratch_shapes=[pltpu.SemaphoreType.DMA]), x)

    @pytest.mark.parametrize("priority", [0, 1])
    def test_both_ways_through_scratch(self, priority):
        def kernel(x, out, memory, semaphore):
            pltpu.async_copy(x, memory, semaphore.at[0], priority=priority).wait()
            memory[...] = memory[...] * 2
            pltpu.async_copy(memory, out, semaphore.at[1], priority=1 - priority).wait()
        x = some(8, 128)
        equal(run(kernel, x, in_specs=[ANY], out_specs=ANY, out_shape=shape(8, 128),
                  scratch_shapes=[pltpu.VMEM((8, 128), F32), pltpu.SemaphoreType.DMA((2,))]), 2 * x)

    @pytest.mark.parametrize("view, want", [(lambda x: x.at[0], lambda x: x[0]), (lambda x: x.at[pl.ds(1, 1)].at[0], lambda x: x[1]),
                                            (lambda x: x.at[:, 0:1].at[1].at[0], lambda x: x[1, 0])])
    def test_views(self, view, want):
        x = some(2, 2, 8, 16)
        equal(run(lambda x, out: pltpu.sync_copy(view(x), out), x, in_specs=[ANY], out_specs=ANY, out_shape=shape(*want(x).shape)), want(x))

    def test_cells_copy_their_parts(self):
        def kernel(x, out, semaphore):
            i = pl.program_id(0)
            pltpu.async_copy(x.at[pl.ds(i, 1)], out.at[pl.ds(i, 1)], semaphore).wait()
        x = some(4, 8, 16)
        equal(run(kernel, x, grid=(4,), in_specs=[ANY], out_specs=ANY, out_shape=shape(4, 8, 16), scratch_shapes=[pltpu.SemaphoreType.DMA]), x)

    @pytest.mark.parametrize("start, size", [(3, 5), (0, 8), (60, 4), (7, 0)])
    @pytest.mark.parametrize("offset", [0, 2])
    def test_sizes_that_a_run_knows(self, start, size, offset):
        def kernel(old, new, start, size, out, semaphore):
            pltpu.async_copy(new.at[pl.ds(offset, size[0])], out.at[pl.ds(start[0], size[0])], semaphore).wait()
        old, new = some(64, 16), some(12, 16)
        want = np.array(old)
        want[start:start + size] = new[offset:offset + size]
        equal(run(kernel, old, new, jnp.asarray([start]), jnp.asarray([size]), in_specs=[ANY, VMEM, SMEM, SMEM], out_specs=ANY, out_shape=shape(64, 16),
                  scratch_shapes=[pltpu.SemaphoreType.DMA], input_output_aliases={0: 0}), want)

    def test_sizes_of_two_dimensions(self):
        def kernel(old, new, size, out):
            pltpu.sync_copy(new.at[1, pl.ds(1, size[0]), pl.ds(0, size[1])], out.at[pl.ds(2, size[0]), 3, pl.ds(4, size[1])])
        old, new = some(8, 5, 16), some(2, 6, 10)
        want = np.array(old)
        want[2:5, 3, 4:9] = new[1, 1:4, 0:5]
        equal(run(kernel, old, new, jnp.asarray([3, 5]), in_specs=[ANY, ANY, SMEM], out_specs=ANY, out_shape=shape(8, 5, 16), input_output_aliases={0: 0}),
              want)

    @pytest.mark.parametrize("number", [1, 3])
    def test_semaphores_count(self, number):
        def kernel(out, semaphores):
            i = pl.program_id(0)
            pl.semaphore_signal(semaphores.at[i, 1], number)
            out[i, 0] = pl.semaphore_read(semaphores.at[i, 1])
            pl.semaphore_wait(semaphores.at[i, 1], number)
            out[i, 1] = pl.semaphore_read(semaphores.at[i, 1])
        got = run(kernel, grid=(2,), out_specs=SMEM, out_shape=shape(2, 2, dtype=I32), scratch_shapes=[pltpu.SemaphoreType.REGULAR((2, 2))])
        equal(got, [[number, 0]] * 2)

    def test_a_copy_leaves_its_semaphore_at_zero(self):
        def kernel(x, out, value, semaphore):
            pltpu.async_copy(x, out, semaphore).wait()
            value[0, 0] = pl.semaphore_read(semaphore)
        x = some(8, 128)
        out, value = run(kernel, x, in_specs=[ANY], out_specs=[ANY, SMEM], out_shape=[shape(8, 128), shape(1, 1, dtype=I32)],
                         scratch_shapes=[pltpu.SemaphoreType.DMA])
        equal(out, x)
        assert value[0, 0] == 0

    @pytest.mark.parametrize("sizes", [(8, 128), (17, 128), (1, 2)])
    def test_memory_of_a_scope(self, sizes):
        def kernel(out):
            def body(memory):
                memory[...] = jnp.zeros_like(memory)
                def inner(other):
                    other[...] = jnp.ones_like(other)
                    memory[...] += other[...]
                pl.run_scoped(inner, pltpu.VMEM(sizes, F32))
                return memory[...] + 1
            out[...] = pl.run_scoped(body, pltpu.VMEM(sizes, F32))
        equal(run(kernel, out_shape=shape(*sizes)), np.full(sizes, 2))

    def test_scopes_as_decorators(self):
        def kernel(out):
            @pl.with_scoped(pltpu.VMEM((8, 16), F32), other=pltpu.VMEM((8, 16), F32))
            def body(out, memory, other):
                memory[...] = jnp.ones_like(memory)
                other[...] = memory[...] * 4
                out[...] = other[...]
            body(out)
        equal(run(kernel, out_shape=shape(8, 16)), np.full((8, 16), 4))

    @pytest.mark.parametrize("in_loop", [False, True])
    def test_empty_and_new_references(self, in_loop):
        def kernel(x, out):
            memory, other = jax.empty_ref(jax.ShapeDtypeStruct((8, 16), F32), memory_space=pltpu.VMEM), jax.new_ref(x[...])
            memory[...] = jnp.zeros_like(memory)
            if in_loop:
                @pl.loop(0, 3)
                def _(i):
                    memory[...] += other[...]
            else:
                memory[...] = 3 * other[...]
            out[...] = memory[...]
        x = some(8, 16)
        equal(run(kernel, x, out_shape=shape(8, 16)), 3 * x, 1e-6)

    def test_columns_of_scratch(self):
        def kernel(x, out, memory):
            for column in range(4):
                memory[:, column] = x[...] + column
            out[...] = memory[...]
        x = some(8)
        equal(run(kernel, x, out_shape=shape(8, 4), scratch_shapes=[pltpu.VMEM((8, 4), F32)]), x[:, None] + jnp.arange(4))

    @pytest.mark.parametrize("is_nested", [False, True])
    def test_one_of_several_references(self, is_nested):
        def kernel(a, b, c, out, semaphores):
            @pl.loop(0, 3)
            def _(i):
                refs = (a, b, c)
                if is_nested:
                    refs = tuple(pl.select_ref(1, r.at[:, 8:], r.at[:, :8]) for r in refs)
                    source = pl.select_ref(i, *refs)
                else:
                    source = pl.select_ref(i, *refs).at[:, :8]
                pltpu.async_copy(source, out.at[pl.ds(8 * i, 8)], pl.select_ref(i % 2, semaphores.at[0], semaphores.at[1])).wait()
        xs = [some(8, 16) for _ in range(3)]
        equal(run(kernel, *xs, in_specs=[ANY] * 3, out_specs=ANY, out_shape=shape(24, 8), scratch_shapes=[pltpu.SemaphoreType.DMA((2,))]),
              np.concatenate([x[:, :8] for x in xs]))

    def test_scratch_that_stays(self):
        def kernel(x, out, memory):
            i = pl.program_id(0)
            @pl.when(i == 0)
            def _():
                memory[...] = x[...]
            memory[...] += 1
            @pl.when(i == 2)
            def _():
                out[...] = memory[...]
        x, spec = some(8, 16), pl.BlockSpec((8, 16), lambda i: (0, 0))
        equal(run(kernel, x, grid=(3,), in_specs=[spec], out_specs=spec, out_shape=shape(8, 16), scratch_shapes=[pltpu.VMEM((8, 16), F32)]), x + 3, 1e-6)

    def test_a_memory_space_is_a_wish(self):
        def function(x):
            return pl.pallas_call(lambda x, out: out.__setitem__(..., x[...] + 1), out_shape=shape(8, 16))(pltpu.with_memory_space_constraint(x, pltpu.HBM))
        equal(jax.jit(function)(jnp.zeros((8, 16))), np.ones((8, 16)))

    def test_values_that_are_looked_at(self):
        def kernel(x, out):
            pltpu.touch(x)
            pltpu.trace_value("x", x[0, 0])
            out[...] = x[...]
        equal(run(kernel, count(2, 2), out_shape=shape(2, 2)), [[0, 1], [2, 3]])


class TestRefTransforms:
    """tpu_pallas_test.py, PallasCallRefTransformTest; ops with pltpu.bitcast of tpu_ops_test.py."""

    @pytest.mark.parametrize("slice_first", [False, True])
    @pytest.mark.parametrize("by_function", [False, True])
    def test_reads_of_other_types(self, slice_first, by_function):
        from jax._src.state import utils
        def kernel(x, out):
            ref = x.at[:8, :16].bitcast(jnp.int16) if slice_first else x.bitcast(jnp.int16).at[:16, :16]
            if by_function:
                pltpu.store(out, pltpu.load(ref))
            else:
                out[...] = ref[...]
        x = count(16, 32, dtype=I32)
        equal(run(kernel, x, out_shape=shape(16, 16, dtype=jnp.int16)), utils.bitcast(x, jnp.int16)[:16, :16])

    @pytest.mark.parametrize("slice_first", [False, True])
    @pytest.mark.parametrize("by_function", [False, True])
    def test_writes_of_other_types(self, slice_first, by_function):
        from jax._src.state import utils
        def kernel(x, out):
            out[...] = jnp.zeros_like(out)
            ref = out.at[:8, :16].bitcast(BF16) if slice_first else out.bitcast(BF16).at[:16, :16]
            if by_function:
                pltpu.store(ref, pltpu.load(x))
            else:
                ref[...] = x[...]
        x = count(16, 16, dtype=BF16)
        got = run(kernel, x, out_shape=shape(16, 32, dtype=I32))
        np.testing.assert_array_equal(got[:8, :16], utils.bitcast(x, I32))
        assert not got[8:].any()

    @pytest.mark.parametrize("slice_first", [False, True])
    @pytest.mark.parametrize("kind", ["read", "write", "copy"])
    def test_other_shapes(self, slice_first, kind):
        x = count(16, 1, 8, dtype=I32)
        def view(ref):
            return ref.at[:8].reshape(8, 8) if slice_first else ref.reshape(16, 8).at[:8]
        def kernel(x, out):
            if kind == "read":
                out[...] = view(x)[...]
            elif kind == "copy":
                pltpu.sync_copy(view(x), out)
            else:
                out[...] = jnp.zeros_like(out)
                view(out)[...] = x[:8, 0]
        want = x[:8, 0] if kind != "write" else jnp.concatenate([x[:8], jnp.zeros((8, 1, 8), I32)])
        equal(run(kernel, x, out_shape=shape(*want.shape, dtype=I32)), want)

    def test_many_transforms(self):
        def kernel(x, out):
            out[...] = (x.at[:16, :64].bitcast(jnp.int16).reshape((2, 16, 64)).bitcast(jnp.float16).at[1:, :, :].reshape((16, 64)).at[:, :32]
                        .bitcast(I32))[...]
        x = count(32, 64, dtype=I32)
        equal(run(kernel, x, out_shape=shape(8, 32, dtype=I32)), x[8:16, :32])

    @pytest.mark.parametrize("source, target", [(F32, jnp.int16), (jnp.int16, F32), (BF16, jnp.uint32), (jnp.int8, I32), (I32, jnp.int8), (I32, F32)])
    def test_bitcast(self, source, target):
        from jax._src.state import utils
        x = some(16, 8, dtype=source)
        got = of(lambda x: pltpu.bitcast(x, target), x)
        np.testing.assert_array_equal(np.asarray(got).view(np.uint8), np.asarray(utils.bitcast(x, target)).view(np.uint8))


class TestBooleans:
    """tpu_pallas_test.py, PallasCallTPUBooleanTest."""

    @pytest.mark.parametrize("value", [False, True])
    @pytest.mark.parametrize("is_scoped", [False, True])
    def test_scalars(self, value, is_scoped):
        def kernel(x, out):
            if is_scoped:
                def inside(memory):
                    memory[0, 0] = jnp.logical_not(x[0, 0])
                    out[0, 0] = memory[0, 0]
                pl.run_scoped(inside, pltpu.SMEM((1, 1), jnp.bool_))
            else:
                out[0, 0] = jnp.logical_not(x[0, 0])
        assert run(kernel, jnp.asarray([[value]]), in_specs=[SMEM], out_specs=SMEM, out_shape=shape(1, 1, dtype=jnp.bool_))[0, 0] == (not value)

    def test_masks(self):
        mask, x, y = some(1, 16, 16, dtype=jnp.bool_), some(1, 16, 16), some(1, 16, 16)
        def kernel(mask, x, y, out):
            out[0, ...] = jnp.where(mask[0, ...], x[0, ...], y[0, ...])
        equal(run(kernel, mask, x, y, out_shape=shape(1, 16, 16)), jnp.where(mask, x, y))
        same(lambda m: (m > 0).astype(jnp.int8), x)


class TestMiscellaneous:
    """tpu_pallas_test.py, MiscellaneousTest, PallasCallTest and the pipeline's modes."""

    @pytest.mark.parametrize("sizes, axis", [((5, 8, 16), 0), ((3, 16), 0), ((3, 16), 1), ((64, 8), 1)])
    @pytest.mark.parametrize("shift", [0, 2, 19])
    @pytest.mark.parametrize("dtype", [F32, BF16, jnp.int8])
    def test_roll(self, sizes, axis, shift, dtype):
        x = count(*sizes, dtype=dtype)
        equal(of(lambda x: pltpu.roll(x, shift, axis), x), np.roll(plain(x), shift, axis))
        got = run(lambda x, s, out: out.__setitem__(..., pltpu.roll(x[...], s[0], axis)), x, jnp.asarray([shift]), out_shape=shape(*sizes, dtype=dtype))
        equal(got, np.roll(plain(x), shift, axis))

    @pytest.mark.parametrize("stride", [1, 2, 9])
    @pytest.mark.parametrize("axis", [1, 2])
    def test_roll_with_a_stride(self, stride, axis):
        x = count(4, 8, 16)
        equal(of(lambda x: pltpu.roll(x, 3, axis, stride=stride, stride_axis=0), x), np.stack([np.roll(x[i], 3 + i * stride, axis - 1) for i in range(4)]))

    @pytest.mark.parametrize("wide, narrow", [(F32, BF16), (I32, jnp.int16), (I32, jnp.int8), (I32, jnp.int4), (jnp.int16, jnp.int8)])
    def test_packing(self, wide, narrow):
        number = jnp.dtype(wide).itemsize * 8 // (16 if narrow == BF16 else jnp.iinfo(narrow).bits)
        xs = [some(4, 8, dtype=wide) for _ in range(number)]
        def pack(*xs):
            return pltpu.pack_elementwise(xs, packed_dtype=narrow)
        words = of(pack, *xs)
        assert words.dtype == jnp.dtype(f"uint{jnp.dtype(wide).itemsize * 8}")
        for index, x in enumerate(xs):
            got = of(lambda w, index=index: pltpu.unpack_elementwise(w, index=index, packed_dtype=narrow, unpacked_dtype=wide), words)
            equal(got, x.astype(narrow).astype(wide))

    @pytest.mark.parametrize("target", [BF16, jnp.float8_e5m2, jnp.float8_e4m3fn])
    def test_stochastic_rounding(self, target):
        x = jnp.concatenate([some(64, 64), jnp.full((1, 64), 1.0)])
        bits = jnp.asarray(random.randint(0, 2 ** 32, x.shape, np.uint64).astype(np.uint32))
        got = of(lambda x, b: pltpu.stochastic_round(x, b, target_dtype=target), x, bits)
        nearest, far = x.astype(target).astype(F32), got.astype(F32)
        step = jnp.abs(x) * 2.0 ** -(7 if target == BF16 else 2 if target == jnp.float8_e5m2 else 3) + 2.0 ** -(16 if target != jnp.float8_e4m3fn else 9)
        assert got.dtype == target and (jnp.abs(far - x) <= step).all() and (far[-1] == 1).all()
        assert (far != nearest).any() and abs(float((far - x).mean())) < float(step.mean()) / 8

    @pytest.mark.parametrize("buffers", [1, 2])
    def test_modes_of_the_pipeline(self, buffers):
        spec = pl.BlockSpec((64,), lambda i: (i,), pipeline_mode=pl.Buffered(buffers))
        x = some(256)
        equal(run(lambda x, y, out: out.__setitem__(..., x[:] + y[:]), x, x, grid=(4,), in_specs=[spec, spec], out_specs=pl.BlockSpec((64,), lambda i: (i,)),
                  out_shape=shape(256)), 2 * x)

    def test_blocks_that_come_back(self):
        def kernel(x, out):
            @pl.when(pl.program_id(0) == 0)
            def _():
                out[...] = jnp.zeros_like(out)
            out[...] += x[...]
        x = count(24, 48)
        equal(run(kernel, x, grid=(3, 3), in_specs=[pl.BlockSpec((8, 16), lambda i, j: (i, j))], out_specs=pl.BlockSpec((8, 16), lambda i, j: (0, j)),
                  out_shape=shape(8, 48)), x.reshape(3, 8, 48).sum(0))

    def test_masked_stores(self):
        def kernel(start, x, out):
            out[...] = jnp.full_like(out, -1)
            rows, columns = lax.broadcasted_iota(I32, x.shape, 0), lax.broadcasted_iota(I32, x.shape, 1)
            pltpu.store(out, x[...], mask=(rows >= start[0]) & (columns >= start[1]))
        x = some(16, 32)
        want = np.full((16, 32), -1, np.float32)
        want[4:, 5:] = x[4:, 5:]
        equal(run(kernel, jnp.asarray([4, 5]), x, out_shape=shape(16, 32), grid_spec=pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1)), want)

    def test_indices_that_are_read(self):
        def kernel(x, out):
            out[0, 0] = x[0, x[0, 0]]
        assert run(kernel, jnp.asarray([[3, 0, 0, 1]]), in_specs=[SMEM], out_specs=SMEM, out_shape=shape(1, 1, dtype=I32))[0, 0] == 1

    @pytest.mark.parametrize("shift", [0, 1, 5, 7])
    @pytest.mark.parametrize("dtype", [jnp.int8, jnp.uint8, jnp.int16, jnp.uint16])
    def test_shifts(self, shift, dtype):
        x = some(11, 20, dtype=dtype)
        same(lambda x: x << shift, x)
        same(lambda x: x >> shift, x)

    def test_fusion_of_inputs_is_a_hint(self):
        spec = pl.BlockSpec((1, 8, 16), lambda i: (i, 0, 0))
        call = pl.pallas_call(lambda x, out: out.__setitem__(..., x[...]), grid=(3,), in_specs=[spec], out_specs=spec, out_shape=shape(3, 8, 16),
                              compiler_params=pltpu.CompilerParams(allow_input_fusion=[True], vmem_limit_bytes=1 << 20))
        x = some(3, 8, 16)
        equal(jax.jit(lambda x: call(x + x))(x), 2 * x)

    def test_two_vmaps_of_a_product(self):
        def kernel(x, y, out):
            @pl.when(pl.program_id(2) == 0)
            def _():
                out[...] = jnp.zeros_like(out)
            out[...] += x[...] @ y[...]
        x, y = some(3, 3, 32, 32), some(3, 3, 32, 32)
        call = pl.pallas_call(kernel, out_shape=shape(32, 32), grid=(2, 2, 2), out_specs=pl.BlockSpec((16, 16), lambda i, j, k: (i, j)),
                              in_specs=[pl.BlockSpec((16, 16), lambda i, j, k: (i, k)), pl.BlockSpec((16, 16), lambda i, j, k: (k, j))])
        equal(jax.jit(jax.vmap(jax.vmap(call)))(x, y), x @ y, 1e-4)

    def test_shard_map_with_checks(self):
        mesh = jax.make_mesh((4,), ("x",), devices=jax.devices()[:4], axis_types=(jax.sharding.AxisType.Auto,))
        def inner(x):
            return pl.pallas_call(lambda x, out: out.__setitem__(..., x[...] * 2), out_shape=jax.typeof(x))(x)
        x = some(16, 8)
        equal(jax.jit(jax.shard_map(inner, mesh=mesh, in_specs=PartitionSpec("x"), out_specs=PartitionSpec("x")))(x), 2 * x)


class TestPipelines:
    """tpu_pallas_pipeline_test.py and EmitPipelineTest."""

    @pytest.mark.parametrize("dtype", [F32, I32, jnp.int16])
    @pytest.mark.parametrize("rows", [8, 32])
    def test_two_inputs(self, dtype, rows):
        def kernel(x, y, out):
            spec = pl.BlockSpec((rows, 128), lambda i, j: (i, j))
            pltpu.emit_pipeline(lambda x, y, out: out.__setitem__(..., x[...] + y[...]), grid=(64 // rows, 2), in_specs=(spec, spec), out_specs=spec)(x, y, out)
        x, y = some(64, 256, dtype=dtype), some(64, 256, dtype=dtype)
        equal(run(kernel, x, y, in_specs=[ANY, ANY], out_specs=ANY, out_shape=shape(64, 256, dtype=dtype)), x + y)

    def test_without_inputs(self):
        def kernel(out):
            pltpu.emit_pipeline(lambda out: out.__setitem__(..., jnp.full(out.shape, 42, out.dtype)), grid=(4,),
                                out_specs=pl.BlockSpec((8, 128), lambda i: (0, i)))(out)
        equal(run(kernel, out_specs=ANY, out_shape=shape(8, 512, dtype=I32)), np.full((8, 512), 42))

    def test_a_product_with_its_sum_in_scratch(self):
        def kernel(x, y, out, total):
            def inside(x, y, out):
                k = pl.program_id(2)
                @pl.when(k == 0)
                def _():
                    total[...] = jnp.zeros_like(total)
                total[...] += x[...] @ y[...]
                @pl.when(k == pl.num_programs(2) - 1)
                def _():
                    out[...] = total[...]
            pltpu.emit_pipeline(inside, grid=(2, 2, 2), in_specs=[pl.BlockSpec((16, 128), lambda i, j, k: (i, k)), pl.BlockSpec((128, 128), lambda i, j, k: (k, j))],
                                out_specs=[pl.BlockSpec((16, 128), lambda i, j, k: (i, j))])(x, y, out)
        x, y = some(32, 256), some(256, 256)
        equal(run(kernel, x, y, in_specs=[ANY, ANY], out_specs=ANY, out_shape=shape(32, 256), scratch_shapes=[pltpu.VMEM((16, 128), F32)]), x @ y, 1e-3)

    def test_blocks_that_stay_in_hbm(self):
        def kernel(x, out):
            def inside(x, out):
                pltpu.sync_copy(x, out.at[:, pl.ds(pl.program_id(0) * 128, 128)])
            pltpu.emit_pipeline(inside, grid=(4,), in_specs=pl.BlockSpec((8, 128), lambda i: (0, i)),
                                out_specs=pl.BlockSpec((8, 512), lambda i: (0, 0), memory_space=pltpu.HBM))(x, out)
        x = some(8, 512)
        equal(run(kernel, x, in_specs=[ANY], out_specs=ANY, out_shape=shape(8, 512)), x)

    def test_allocations(self):
        def kernel(x, out):
            spec = pl.BlockSpec((8, 128), lambda i: (0, i))
            pipeline, make = pltpu.emit_pipeline_with_allocations(lambda x, out: out.__setitem__(..., x[...] + 2), grid=(4,), in_specs=[spec], out_specs=spec)
            pl.run_scoped(lambda memory: pipeline(x, out, allocations=memory), make(x, out))
        x = some(8, 512)
        equal(run(kernel, x, in_specs=[ANY], out_specs=ANY, out_shape=shape(8, 512)), x + 2)

    @pytest.mark.parametrize("steps", [1, 3])
    def test_a_grid_that_a_run_knows(self, steps):
        def kernel(steps, x, out):
            spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
            out[...] = jnp.zeros_like(out)
            pltpu.emit_pipeline(lambda x, out: out.__setitem__(..., x[...] + 1), grid=(steps[0],), in_specs=[spec], out_specs=[spec])(x, out)
        x = some(32, 128)
        want = np.zeros((32, 128), np.float32)
        want[:8 * steps] = x[:8 * steps] + 1
        equal(run(kernel, jnp.asarray([steps]), x, in_specs=[SMEM, ANY], out_specs=VMEM, out_shape=shape(32, 128)), want)


class TestRandom:
    """tpu_pallas_random_test.py: PRNGTest and BlockInvarianceTest. The numbers are not those of a TPU."""

    def test_seeds(self):
        def seeded(*seeds):
            def kernel(out):
                pltpu.prng_seed(*seeds)
                out[...] = pltpu.prng_random_bits(out.shape)
            return run(kernel, out_shape=shape(32, 256, dtype=I32))
        first = seeded(0)
        np.testing.assert_array_equal(first, seeded(0))
        for other in (seeded(1), seeded(0, 0), seeded(0, 1)):
            assert (first != other).mean() > 0.99
        assert len(np.unique(first)) > 0.99 * first.size

    @pytest.mark.parametrize("is_seeded_by_all", [False, True])
    def test_cells(self, is_seeded_by_all):
        """A cell that seeds has numbers of its own; others go on where the cell before them ended."""
        def kernel(out):
            i = pl.program_id(0)
            if is_seeded_by_all:
                pltpu.prng_seed(7, i)
            else:
                @pl.when(i == 0)
                def _():
                    pltpu.prng_seed(7)
            out[...] = pltpu.prng_random_bits(out.shape)
        call = pl.pallas_call(kernel, grid=(4,), out_specs=pl.BlockSpec((8, 16), lambda i: (i, 0)), out_shape=shape(32, 16, dtype=I32))
        got = np.asarray(jax.jit(call)()).reshape(4, -1)
        assert len(np.unique(got)) > 0.99 * got.size
        np.testing.assert_array_equal(got.reshape(32, 16), jax.jit(call)())
        text = jax.jit(call).lower().as_text()
        assert ("dynamic_update_slice" in text) != is_seeded_by_all  # cells that seed do not follow each other

    def test_draws_in_a_loop(self):
        def kernel(out):
            pltpu.prng_seed(3)
            def body(i, nothing):
                out[i] = pltpu.prng_random_bits((64,))
            lax.fori_loop(0, 4, body, None)
            out[4] = pltpu.prng_random_bits((64,))
        got = np.asarray(run(kernel, out_shape=shape(5, 64, dtype=I32)))
        assert len(np.unique(got)) > 0.99 * got.size

    @pytest.mark.parametrize("sampler", [pltpu.stateful_uniform, pltpu.stateful_normal, pltpu.stateful_bernoulli], ids=["uniform", "normal", "bernoulli"])
    def test_samplers_with_a_state(self, sampler):
        def kernel(key, out):
            pltpu.prng_seed(key[...])
            out[...] = sampler(shape=out.shape).astype(F32)
        key = pltpu.to_pallas_key(jax.random.key(0))
        got = run(kernel, key, in_specs=[SMEM], out_shape=shape(64, 64))
        assert abs(float(got.mean()) - (0 if sampler is pltpu.stateful_normal else 0.5)) < 0.1 and float(got.std()) > 0.1

    @pytest.mark.parametrize("sampler", [jax.random.uniform, jax.random.normal, jax.random.bits], ids=["uniform", "normal", "bits"])
    @pytest.mark.parametrize("sizes", [(), (1, 1)])
    def test_samplers_with_a_key(self, sampler, sizes):
        def kernel(key, out):
            key = key[(0,) * len(sizes)] if sizes else key[...]
            out[0] = sampler(key, out.shape[1:]).astype(F32)
            out[1] = sampler(jax.random.fold_in(key, jnp.uint32(2)), out.shape[1:]).astype(F32)
            out[2] = sampler(key, out.shape[1:]).astype(F32)
        key = pltpu.to_pallas_key(jax.random.key(0)).reshape(sizes)
        got = run(kernel, key, in_specs=[SMEM], out_shape=shape(3, 32, 32))
        assert (got[0] != got[1]).mean() > 0.9
        equal(got[0], got[2])

    def test_words_of_a_key(self):
        from jax._src.pallas.mosaic import random as mosaic_random
        def kernel(key, out):
            out[0, 0], out[0, 1] = mosaic_random.unwrap_pallas_seed(key[...])
        key = pltpu.to_pallas_key(jax.random.key(0))
        np.testing.assert_array_equal(run(kernel, key, in_specs=[SMEM], out_specs=SMEM, out_shape=shape(1, 2, dtype=jnp.uint32)), jax.random.key_data(key))

    def test_blocks_do_not_matter(self):
        def sampled(rows, columns, is_swapped):
            def kernel(key, out):
                i, j = pl.program_id(0), pl.program_id(1)
                out[...] = pltpu.sample_block(jax.random.uniform, key[...], block_size=out.shape, tile_size=(8, 16), total_size=(32, 64),
                                              block_index=(j, i) if is_swapped else (i, j))
            grid = (32 // rows, 64 // columns)
            return run(kernel, jax.random.key(0, impl="pallas_tpu"), grid=grid[::-1] if is_swapped else grid, in_specs=[SMEM], out_shape=shape(32, 64),
                       out_specs=pl.BlockSpec((rows, columns), (lambda i, j: (j, i)) if is_swapped else (lambda i, j: (i, j))))
        equal(sampled(8, 16, False), sampled(16, 32, True))

    @pytest.mark.parametrize("sampler", [jax.random.uniform, jax.random.normal, jax.random.bits], ids=["uniform", "normal", "bits"])
    def test_jaxs_own_keys(self, sampler):
        key = jax.random.key(0)
        got = run(lambda key, out: out.__setitem__(..., sampler(key[...], out.shape)), key, out_shape=jax.eval_shape(lambda: sampler(key, (8, 16))))
        np.testing.assert_array_equal(got, sampler(key, (8, 16)))
