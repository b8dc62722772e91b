# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the test classes of JAX's own tpu_pallas_state_test.py, tpu_pallas_async_test.py, pallas_shape_poly_test.py and the later classes of
tpu_pallas_pipeline_test.py ask, compiled on the plug-in: programs of ours, one class per class there. docs/guide/kernels.md counts them."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from pallas_programs import ANY, F32, I32, SMEM, count, equal, product_kernel, run, shape, some

MESH = pltpu.create_tensorcore_mesh("core", num_cores=2)


class TestStateful:
    """tpu_pallas_state_test.py, PallasCallStatefulTest: kernels that close over references."""

    @pytest.mark.parametrize("has_index", [False, True])
    def test_copies_between_references(self, has_index):
        def stateful(refs):
            x, y = refs

            def kernel(*args):
                index, semaphore = args if has_index else (None, *args)
                source = x.at[index[0]] if has_index else x.at[0]
                copy = pltpu.make_async_copy(source, y, semaphore)
                copy.start()
                copy.wait()

            if has_index:
                spec = pltpu.PrefetchScalarGridSpec(num_scalar_prefetch=1, scratch_shapes=[pltpu.SemaphoreType.DMA])
                pl.pallas_call(kernel, grid_spec=spec, out_shape=[])(jnp.asarray([1]))
            else:
                pl.pallas_call(kernel, scratch_shapes=[pltpu.SemaphoreType.DMA], out_shape=[])()

        x = some(2, 8, 128)
        _, y = jax.jit(pl.run_state(stateful))((x, jnp.zeros((8, 128))))
        equal(y, x[int(has_index)])

    def test_a_pipeline_over_references(self):
        def stateful(refs):
            x, y, out = refs

            def inside(total, x, y, out):
                product_kernel(x, y, out, total)

            def kernel(total):
                pltpu.emit_pipeline(functools.partial(inside, total), grid=(2, 2, 2), out_specs=pl.BlockSpec((16, 128), lambda i, j, k: (i, j)), in_specs=[
                    pl.BlockSpec((16, 128), lambda i, j, k: (i, k)), pl.BlockSpec((128, 128), lambda i, j, k: (k, j))])(x, y, out)

            pl.pallas_call(kernel, out_shape=[], scratch_shapes=[pltpu.VMEM((16, 128), F32)])()

        x, y = some(32, 256), some(256, 256)
        equal(jax.jit(lambda x, y: pl.run_state(stateful)((x, y, jnp.ones((32, 256))))[2])(x, y), x @ y, 1e-3)


class TestCores:
    """tpu_pallas_state_test.py, CoreMapTest."""

    @pytest.mark.parametrize("is_decorator", [False, True])
    def test_both_forms(self, is_decorator):
        def body(x, first, second, memory):
            pltpu.sync_copy(x, first)
            pltpu.sync_copy(x, memory)
            memory[...] += 1
            pltpu.sync_copy(memory, second)

        x = some(8, 128)
        options = dict(out_type=[shape(8, 128)] * 2, mesh=MESH, scratch_types=[pltpu.VMEM((8, 128), F32)])
        first, second = jax.jit(pl.kernel(**options)(body) if is_decorator else pl.kernel(body, **options))(x)
        equal(first, x)
        equal(second, x + 1, 1e-6)

    def test_cores_know_their_number(self):
        @pl.kernel(out_type=shape(16, 128), mesh=MESH, scratch_types=[pltpu.VMEM((8, 128), F32)])
        def kernel(x, out, memory):
            assert lax.axis_size("core") == 2
            part = pl.ds(lax.axis_index("core") * 8, 8)
            pltpu.sync_copy(x.at[part], memory)
            memory[...] = memory[...] + lax.axis_index("core")
            pltpu.sync_copy(memory, out.at[part])

        x = some(16, 128)
        equal(jax.jit(kernel)(x), x + (np.arange(16) // 8)[:, None], 1e-6)

    def test_scalars_from_outside(self):
        def function(x, i):
            def kernel(x, out):
                pltpu.sync_copy(x.at[pl.ds(i, 2)], out)

            return pl.kernel(kernel, out_type=shape(2, 8, 128), mesh=pltpu.create_tensorcore_mesh("core", num_cores=1))(x)

        x = some(4, 8, 128)
        for i in range(3):
            equal(jax.jit(function)(x, i), x[i:i + 2])

    @pytest.mark.parametrize("times", [0, 3])
    def test_references_from_outside(self, times):
        def function(x):
            source, target = jax.new_ref(x), jax.empty_ref(jax.typeof(x))
            pl.kernel(pltpu.sync_copy, mesh=pltpu.create_tensorcore_mesh("core", num_cores=1))(source, target)
            return jax.freeze(target)

        x = count(8, 128) + times
        equal(jax.jit(function)(x), x)

    @pytest.mark.parametrize("dims", [(64, 128, 256), (48, 256, 128)])
    def test_a_product_on_all_cores(self, dims):
        m, k, n = dims

        @pl.kernel(out_type=shape(m, n), mesh=MESH)
        def kernel(x, y, out):
            def inside(x, y, out):
                @pl.when(pl.program_id(2) == 0)
                def _():
                    out[...] = jnp.zeros_like(out)

                out[...] += x[...] @ y[...]

            pltpu.emit_pipeline(inside, grid=(m // 8, n // 128, k // 128), core_axis_name="core", dimension_semantics=(
                pltpu.PARALLEL, pltpu.PARALLEL, pltpu.ARBITRARY), out_specs=pl.BlockSpec((8, 128), lambda i, j, k: (i, j)), in_specs=[
                    pl.BlockSpec((8, 128), lambda i, j, k: (i, k)), pl.BlockSpec((128, 128), lambda i, j, k: (k, j))])(x, y, out)

        x, y = some(m, k), some(k, n)
        equal(jax.jit(kernel)(x, y), x @ y, 1e-3)


class TestAsyncCopies:
    """tpu_pallas_async_test.py, PallasCallAsyncCopyTest: a copy starts in one kernel and ends in another, which gets its semaphore."""

    @staticmethod
    def start(x, index=None, space=pl.ANY):
        def kernel(x, same, out, semaphore):
            pltpu.make_async_copy(x if index is None else x.at[index], out, semaphore).start()

        target = x.shape if index is None else x.shape[1:]
        return pl.pallas_call(kernel, in_specs=[ANY], out_shape=(shape(*x.shape), shape(*target), pltpu.SemaphoreType.DMA(())), out_specs=(
            ANY, pl.BlockSpec(memory_space=space), pl.BlockSpec(memory_space=pltpu.SEMAPHORE)), input_output_aliases={0: 0})(x)

    @staticmethod
    def done(x, out, semaphore, index=None, space=pl.ANY):
        def kernel(x, out, semaphore, same):
            pltpu.make_async_copy(x if index is None else x.at[index], out, semaphore).wait()

        spec = pl.BlockSpec(memory_space=space)
        return pl.pallas_call(kernel, in_specs=[ANY, spec, pl.BlockSpec(memory_space=pltpu.SEMAPHORE)], out_specs=spec, out_shape=shape(*out.shape),
                              input_output_aliases={1: 0})(x, out, semaphore)

    @pytest.mark.parametrize("index", [None, 2])
    @pytest.mark.parametrize("space", [pl.ANY, pltpu.VMEM])
    def test_one(self, index, space):
        def function(x):
            x, out, semaphore = self.start(x, index, space)
            return self.done(x, out, semaphore, index, space)

        x = some(4, 8, 128)
        equal(jax.jit(function)(x), x if index is None else x[index])

    def test_two_at_once(self):
        def function(x):
            x, first, semaphore = self.start(x, 1)
            x, second, other = self.start(x, 3)
            return self.done(x, first, semaphore, 1), self.done(x, second, other, 3)

        x = some(4, 8, 128)
        first, second = jax.jit(function)(x)
        equal(first, x[1])
        equal(second, x[3])

    @pytest.mark.parametrize("is_staggered", [False, True])
    def test_in_a_loop(self, is_staggered):
        def function(x):
            if not is_staggered:
                return lax.fori_loop(0, 4, lambda _, x: self.done(*self.start(x)), x)

            def body(_, state):
                return self.start(self.done(*state))

            return self.done(*lax.fori_loop(0, 4, body, self.start(x), unroll=2))

        x = some(4, 8, 128)
        equal(jax.jit(function)(x), x)


class TestBoundedSlices:
    """tpu_pallas_pipeline_test.py, PallasCallBoundedSliceIndexingTest and its neighbours: blocks of pltpu.emit_pipeline whose size a run knows."""

    def test_a_short_last_block(self):
        def kernel(x, out):
            def index(i):
                return pl.ds(i * 8, jnp.minimum(8, 20 - i * 8)), 0, 0

            blocks = (pl.BoundedSlice(8), 8, 128)
            pltpu.emit_pipeline(lambda x, out: out.__setitem__(..., x[...] + 1), grid=(3,),
                                in_specs=(pl.BlockSpec(blocks, index),), out_specs=pl.BlockSpec(blocks, index))(x, out)

        x = count(24, 8, 128, dtype=I32)
        equal(run(kernel, x, in_specs=[ANY], out_specs=ANY, out_shape=shape(24, 8, 128, dtype=I32))[:20], x[:20] + 1)

    @pytest.mark.parametrize("axis", [0, 1, 2])
    def test_slices_of_an_array(self, axis):
        sizes, parts = [(16, 8, 128), (2, 64, 128), (2, 8, 512)][axis], [[[11, 16], [3, 8], [0, 3]], [[32, 48], [8, 17], [0, 3]], [[256, 456], [0, 254]]][axis]
        bound = (16, 24, 256)[axis]
        blocks = tuple(pl.BoundedSlice(bound) if d == axis else size for d, size in enumerate(sizes))

        def kernel(parts, x, out):
            def index(i):
                found = [0, 0, 0]
                found[axis] = pl.ds(parts[i, 0], parts[i, 1] - parts[i, 0])
                return tuple(found)

            spec = pl.BlockSpec(blocks, index)
            pltpu.emit_pipeline(lambda x, out: out.__setitem__(..., x[...]), grid=(len(parts_),), in_specs=(spec,), out_specs=spec)(x, out)

        parts_ = parts
        x = count(*sizes)
        got = run(kernel, jnp.asarray(parts), x, in_specs=[SMEM, ANY], out_specs=ANY, out_shape=shape(*sizes))
        for start, end in parts:
            where = tuple(slice(start, end) if d == axis else slice(None) for d in range(3))
            equal(got[where], x[where])

    @pytest.mark.parametrize("count_, lookahead", [(2, False), (3, False), (2, True)])
    def test_buffers(self, count_, lookahead):
        def kernel(x, out):
            spec = pl.BlockSpec((8, 128), lambda i, j: (i, j), pipeline_mode=pl.Buffered(count_, use_lookahead=lookahead))
            pltpu.emit_pipeline(lambda x, out: out.__setitem__(..., x[...]), grid=(4, 4), in_specs=[spec], out_specs=pl.BlockSpec((8, 128), lambda i, j: (i, j)))(
                x, out)

        x = some(32, 512)
        equal(run(kernel, x, in_specs=[ANY], out_specs=ANY, out_shape=shape(32, 512)), x)

    @pytest.mark.parametrize("sizes", [(40, 200, 130), (33, 128, 300)])
    def test_a_product_of_any_sizes(self, sizes):
        m, k, n = sizes

        def kernel(x, y, out, total):
            def inside(x, y, out):
                step = pl.program_id(2)

                @pl.when(step == 0)
                def _():
                    total[...] = jnp.zeros_like(total)

                inside_ = step * 128 + jnp.arange(128) < k
                total[...] += jnp.where(inside_[None, :], x[...], 0) @ jnp.where(inside_[:, None], y[...], 0)

                @pl.when(step == pl.num_programs(2) - 1)
                def _():
                    out[...] = total[...]

            pltpu.emit_pipeline(inside, grid=(-(-m // 32), -(-n // 128), -(-k // 128)), out_specs=pl.BlockSpec((32, 128), lambda i, j, k: (i, j)), in_specs=[
                pl.BlockSpec((32, 128), lambda i, j, k: (i, k)), pl.BlockSpec((128, 128), lambda i, j, k: (k, j))])(x, y, out)

        x, y = some(m, k), some(k, n)
        equal(run(kernel, x, y, in_specs=[ANY, ANY], out_specs=ANY, out_shape=shape(m, n), scratch_shapes=[pltpu.VMEM((32, 128), F32)]), x @ y, 1e-3)


class TestShapePolymorphism:
    """pallas_shape_poly_test.py: what exported programs leave open."""

    def test_sizes_of_arrays_are_known(self):
        w, = export.symbolic_shape("w")
        call = jax.jit(lambda x: pl.pallas_call(lambda x, out: out.__setitem__(..., x[...]), out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x))
        with pytest.raises((ValueError, NotImplementedError), match="dynamic"):
            export.export(call, platforms=["cpu"])(jax.ShapeDtypeStruct((w, 128), F32))
