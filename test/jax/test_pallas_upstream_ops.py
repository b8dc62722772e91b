# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the test classes of JAX's own ops_test.py, indexing_test.py and pallas_vmap_test.py ask, compiled on the plug-in (interpret=False): programs of ours, one class per class there, beside
the same operation outside of a kernel or numpy. docs/guide/kernels.md counts them."""
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton as pltriton
from pallas_programs import BF16, F32, I32, SMEM, VMEM, count, equal, of, random, run, same, shape, some


UNARY = [jnp.abs, jnp.negative, jnp.ceil, jnp.floor, jnp.exp, jnp.exp2, jnp.sin, jnp.cos, jnp.log, jnp.sqrt, jnp.expm1, jnp.log1p, jnp.cbrt,
         lax.rsqrt, jnp.tan, jnp.arcsin, jnp.arccos, jnp.arctan, jnp.sinh, jnp.cosh, jnp.tanh, jnp.arcsinh, jnp.arccosh, jnp.arctanh,
         jax.nn.sigmoid, jax.nn.relu, jnp.square, jnp.reciprocal, jnp.round, jnp.rint, jnp.sign, lax.erf_inv, lax.is_finite, jnp.isnan]
BINARY = [jnp.add, jnp.subtract, jnp.multiply, jnp.floor_divide, jnp.remainder, jnp.bitwise_and, jnp.bitwise_or, jnp.bitwise_xor,
          jnp.left_shift, jnp.right_shift, jnp.equal, jnp.not_equal, jnp.less, jnp.less_equal, jnp.greater, jnp.greater_equal, jnp.maximum,
          jnp.minimum]
INTEGERS_ONLY = {jnp.bitwise_and, jnp.bitwise_or, jnp.bitwise_xor, jnp.left_shift, jnp.right_shift}
DTYPES = ["float32", "int32", "uint32", "bfloat16", "float16", "int16", "int8", "uint16", "uint8", "int4", "uint4", "bool", "float8_e5m2",
          "float8_e4m3fn", "float8_e4m3b11fnuz"]


class TestOps:
    """ops_test.py, OpsTest."""

    @pytest.mark.parametrize("dtype", [F32, BF16])
    @pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
    def test_unary(self, function, dtype):
        x = jnp.asarray([0.42, 0.9, 0.1, 0.77] * 32).reshape(8, 16).astype(dtype)
        same(function, 1 + x if function is jnp.arccosh else x, tolerance=1e-6 if dtype == F32 else 8e-3)

    @pytest.mark.parametrize("function", [jnp.abs, jnp.negative, lax.population_count, lax.clz, jnp.invert, jnp.sign], ids=lambda f: f.__name__)
    @pytest.mark.parametrize("dtype", [I32, jnp.int16, jnp.uint32])
    def test_unary_of_integers(self, function, dtype):
        same(function, some(8, 16, dtype=dtype))

    @pytest.mark.parametrize("value", [-3.2, -0.0, 0.0, 5.1, np.nan, np.inf, -np.inf])
    def test_special_values(self, value):
        x = jnp.full((8, 16), value, F32)
        for function in (jnp.sign, lax.is_finite, jnp.isnan, lax.erf_inv, jnp.exp, lambda x: jnp.nextafter(x, jnp.float32(1))):
            same(function, x)

    @pytest.mark.parametrize("dtype", [F32, I32, jnp.uint32, jnp.int16])
    @pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
    def test_binary(self, function, dtype):
        if dtype == F32 and function in INTEGERS_ONLY:
            dtype = jnp.bool_ if "shift" not in function.__name__ else jnp.int8
        x = jnp.asarray([1, 3, -4, -6, 2, 5, 4, -7]).astype(dtype)
        y = jnp.asarray([3, 1, 4, 5, 2, 2, 2, 4] if "shift" in function.__name__ else [3, 1, -4, -5, 2, -2, 2, 4]).astype(dtype)
        same(function, x, y)

    @pytest.mark.parametrize("function", BINARY[-8:], ids=lambda f: f.__name__)
    @pytest.mark.parametrize("pair", [(1, 16), (-1, 1), (1.0, np.inf), (np.nan, 1.0), (np.nan, np.inf)])
    def test_comparisons_of_scalars(self, function, pair):
        x, y = jnp.asarray([pair[0]]), jnp.asarray([pair[1]])
        def kernel(x, y, out):
            out[0] = function(x[0], y[0]).astype(out.dtype)
        like = function(x, y)
        got = run(kernel, x, y, in_specs=[SMEM, SMEM], out_specs=SMEM, out_shape=shape(1, dtype=like.dtype))
        np.testing.assert_array_equal(got, like)

    @pytest.mark.parametrize("source", DTYPES)
    @pytest.mark.parametrize("target", DTYPES)
    def test_conversions(self, source, target):
        if source == target:
            pytest.skip("nothing is converted")
        x = (some(8, 16) * 3).astype(source)
        if jnp.issubdtype(jnp.dtype(source), jnp.floating) and target.startswith("uint"):
            x = jnp.abs(x.astype(F32)).astype(source)
        got, want = of(lambda x: x.astype(target), x), x.astype(target)
        assert got.dtype == want.dtype
        equal(got, want)

    @pytest.mark.parametrize("function", [jnp.sum, jnp.max, jnp.min, jnp.argmax, jnp.argmin, jnp.all, jnp.any], ids=lambda f: f.__name__)
    @pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
    @pytest.mark.parametrize("dtype", [F32, I32, BF16])
    def test_reductions(self, function, axis, dtype):
        if function in (jnp.argmax, jnp.argmin) and isinstance(axis, tuple):
            axis = -1
        x = some(31, 30, dtype=dtype)
        if function in (jnp.all, jnp.any):
            same(lambda x: function(x > 0, axis=axis), x)
        else:
            same(lambda x: function(x, axis=axis), x, tolerance=1e-5 if dtype == F32 else 2e-2 if dtype == BF16 else 0)

    @pytest.mark.parametrize("axis", [0, 1])
    @pytest.mark.parametrize("dtype", [F32, jnp.float16, I32])
    def test_running_sums(self, axis, dtype):
        same(lambda x: jnp.cumsum(x, axis), some(32, 8, dtype=dtype), tolerance=1e-2 if dtype == jnp.float16 else 1e-5)

    @pytest.mark.parametrize("x, y, numbers", [
        ((8, 8, 32), (32, 16), (([2], [0]), ([], []))), ((3, 4, 32), (16, 32), (([2], [1]), ([], []))), ((32, 8, 16), (16, 32), (([0], [1]), ([], []))),
        ((8, 16), (8, 32, 16), (([1], [2]), ([], []))), ((11, 16, 32), (11, 32, 8), (([2], [1]), ([0], [0]))),
        ((3, 4, 32), (4, 2, 32), (([2], [2]), ([1], [0]))), ((4, 3, 2, 32), (2, 16, 32, 2), (([3], [2]), ([2], [3]))),
        ((8, 32), (32,), (([1], [0]), ([], []))), ((2, 8, 32), (2, 1, 32), (([2], [2]), ([0], [0])))])
    def test_contractions(self, x, y, numbers):
        same(lambda x, y: lax.dot_general(x, y, numbers, preferred_element_type=F32), some(*x), some(*y), tolerance=1e-4)

    @pytest.mark.parametrize("dtype", [F32, jnp.float16, BF16])
    @pytest.mark.parametrize("transposed", list(itertools.product([False, True], [False, True])))
    def test_dot(self, dtype, transposed):
        x, y = some(*((24, 64)[::-1] if transposed[0] else (24, 64)), dtype=dtype), some(*((64, 32)[::-1] if transposed[1] else (64, 32)), dtype=dtype)
        got = of(lambda x, y: pltriton.dot(x, y, *transposed).astype(dtype), x, y)
        equal(got, (x.T if transposed[0] else x).astype(F32) @ (y.T if transposed[1] else y).astype(F32), 5e-2)

    @pytest.mark.parametrize("before, after", [((2, 4), (8,)), ((2, 4), (1, 8)), ((64,), (32, 2)), ((), (1, 1)), ((1, 2, 1, 4, 1), (2, 4)),
                                              ((9, 5, 32), (9, 160)), ((3, 8, 500), (24, 500)), ((16, 128), (2048,))])
    @pytest.mark.parametrize("dtype", [F32, BF16, jnp.int8])
    def test_reshapes(self, before, after, dtype):
        same(lambda x: x.reshape(after), count(*before, dtype=dtype))

    @pytest.mark.parametrize("axes", [(0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
    @pytest.mark.parametrize("dtype", [F32, jnp.bool_])
    def test_transpositions(self, axes, dtype):
        same(lambda x: jnp.transpose(x, axes), some(4, 5, 6, dtype=dtype))

    @pytest.mark.parametrize("before, after, axes", [((), (2,), ()), ((1,), (2,), (0,)), ((1, 16), (8, 16), (0, 1)), ((8,), (8, 4), (0,))])
    @pytest.mark.parametrize("dtype", [I32, jnp.int16, jnp.int8, jnp.bool_])
    def test_broadcasts(self, before, after, axes, dtype):
        same(lambda x: lax.broadcast_in_dim(x, after, axes), some(*before, dtype=dtype))

    @pytest.mark.parametrize("function", [
        lambda x: jnp.pad(x, ((1, 2), (0, 3))), lambda x: jnp.pad(x, ((1, 1), (1, 1)), mode="wrap"), lambda x: jnp.triu(x, 1), jnp.diagonal,
        lambda x: jnp.concatenate([x, x + 1], 0), lambda x: jnp.stack([x, x + 1], 1), lambda x: jnp.tile(x, (2, 3)), lambda x: jnp.swapaxes(x, 0, 1),
        lambda x: jnp.where(jnp.arange(8)[:, None] > 3, x, 0), lambda x: lax.select(x > 0, x, -x), lambda x: jnp.flip(x, 1),
        lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1), lambda x: lax.dynamic_slice(x, (2, 1), (3, 4)),
        lambda x: lax.broadcasted_iota(I32, x.shape, 1), lambda x: lax.integer_pow(x, -3), lambda x: jnp.unstack(x)[3], lambda x: x ** 3.0,
        lambda x: lax.bitcast_convert_type(x, I32), lambda x: jnp.einsum("ij,ik->jk", x, x), lambda x: lax.stop_gradient(x + 1)])
    def test_functions_of_an_array(self, function):
        same(function, jnp.abs(some(8, 8)), tolerance=1e-4)

    def test_reads_with_strides(self):
        def kernel(x, out):
            out[...] = x[::4]
        x = count(16, 4)
        equal(run(kernel, x, out_shape=shape(4, 4)), x[::4])

    @pytest.mark.parametrize("is_masked", [False, True])
    def test_exchange(self, is_masked):
        from jax._src.pallas import primitives
        def kernel(a, b, mask, x, y):
            new = primitives.swap(y, (slice(None),), x[:], mask=mask[:] if is_masked else None)
            x[:] = new
        x, y, mask = some(16, 32), some(16, 32), some(16, 32, dtype=jnp.bool_)
        a, b = run(kernel, x, y, mask, out_shape=[shape(16, 32)] * 2, input_output_aliases={0: 0, 1: 1})
        flags = mask if is_masked else jnp.ones_like(mask)
        equal(a, jnp.where(flags, y, x))
        equal(b, jnp.where(flags, x, y))

    def test_masked_exchange_beyond_the_end(self):
        from jax._src.pallas import primitives
        def kernel(a, b, mask, start, x, y):
            x[:] = primitives.swap(y, (pl.ds(start[()], 16),), x[:], mask=mask[:])
        x, y, start = some(16), some(32), 20
        mask = jnp.arange(16) + start < 32
        a, b = run(kernel, x, y, mask, jnp.int32(start), out_shape=[shape(16), shape(32)], input_output_aliases={0: 0, 1: 1})
        equal(a, np.concatenate([y[20:], x[12:]]))
        equal(b, np.concatenate([y[:20], x[:12]]))

    def test_number_of_cells(self):
        def kernel(out):
            out[pl.program_id(0)] = pl.num_programs(0)
        equal(run(kernel, grid=(4,), out_shape=shape(4, dtype=I32)), [4] * 4)

    def test_delays_and_prints(self, capfd):
        def kernel(x, out):
            pl.delay(1000)
            jax.debug.print("x = {}", x[0])
            out[...] = x[...]
        equal(run(kernel, count(4), out_shape=shape(4)), np.arange(4))
        jax.effects_barrier()
        assert "x = 0.0" in capfd.readouterr().out

    @pytest.mark.parametrize("is_approximate", [False, True])
    def test_reciprocals(self, is_approximate):
        x = some(8, 16) + 4
        equal(of(lambda x: pl.reciprocal(x, approx=is_approximate), x), 1 / x, 1e-6)

    def test_what_the_kernel_is_can_be_printed(self, capfd):
        pl.pallas_call(lambda x, out: out.__setitem__(..., x[...]), out_shape=shape(4), debug=True)(count(4))
        assert "kernel jaxpr for pallas_call" in capfd.readouterr().out


class TestAtomics:
    """triton's atomic operations (gpu_ops_test.py and pallas_test.py of earlier versions)."""

    @pytest.mark.parametrize("name, function", [("add", np.add), ("max", np.maximum), ("min", np.minimum), ("and", np.bitwise_and),
                                                ("or", np.bitwise_or), ("xor", np.bitwise_xor), ("xchg", None)])
    @pytest.mark.parametrize("is_masked", [False, True])
    @pytest.mark.parametrize("has_arrays", [False, True])
    def test_operations(self, name, function, is_masked, has_arrays):
        x, y = some(8, dtype=I32), some(8, dtype=I32)
        mask = np.arange(8) % 3 != 1 if is_masked else np.ones(8, bool)
        def kernel(x, y, flags, out, old):
            where = jnp.arange(8) if has_arrays else pl.ds(0, 8)
            old[...] = getattr(pltriton, f"atomic_{name}")(out, (where,), y[...], mask=flags[...] if is_masked else None)
        out, old = run(kernel, x, y, jnp.asarray(mask), out_shape=[shape(8, dtype=I32)] * 2, input_output_aliases={0: 0})
        equal(out, np.where(mask, y if function is None else function(x, y), x))
        equal(np.where(mask, old, 0), np.where(mask, x, 0))

    def test_cells_that_add_to_the_same_elements(self):
        def kernel(where, x, out):
            @pl.when(pl.program_id(0) == 0)
            def _():
                out[...] = jnp.zeros_like(out)
            pltriton.atomic_add(out, (where[...],), x[...])
        where, x = jnp.asarray(random.randint(0, 4, 32)), some(32)
        spec = pl.BlockSpec((8,), lambda i: (i,))
        got = run(kernel, where, x, grid=(4,), in_specs=[spec, spec], out_specs=pl.BlockSpec((4,), lambda i: (0,)), out_shape=shape(4))
        equal(got, np.asarray([x[where == i].sum() for i in range(4)]), 1e-5)

    @pytest.mark.parametrize("expected", [3, 4])
    def test_compare_and_swap(self, expected):
        def kernel(x, out, old):
            pltriton.debug_barrier()
            old[()] = pltriton.atomic_cas(out, jnp.int32(expected), jnp.int32(9))
        out, old = run(kernel, jnp.int32(3), out_shape=[shape(dtype=I32)] * 2, input_output_aliases={0: 0})
        assert old == 3 and out == (9 if expected == 3 else 3)


VIEWS = [((4, 8, 16), (...,)), ((4, 8, 16), (0,)), ((4, 8, 16), (pl.ds(1, 2),)), ((4, 8, 16), (pl.ds(2, 2), 1)), ((4, 8, 16), (slice(2, 4), 1)),
         ((4, 8, 16), (slice(2, 4), slice(0, 1), 0)), ((4, 8, 16), ((0, pl.ds(0, 8), pl.ds(0, 16)), ...)),
         ((4, 8, 16), ((slice(None), 3), (pl.ds(1, 2), pl.ds(4, 8)))), ((4, 8, 16), ((slice(None), slice(1, 7, 2)), 2)),
         ((4, 8, 16), ((pl.ds(1, 3), pl.ds(0, 4), 5), (1, slice(None)), pl.ds(1, 2)))]


def indexed(x, index):
    index = index if isinstance(index, tuple) else (index,)
    return x[tuple(slice(i.start, i.start + i.size * i.stride, i.stride) if isinstance(i, pl.Slice) else i for i in index)]


class TestIndexing:
    """indexing_test.py, IndexerOpsTest."""

    @pytest.mark.parametrize("sizes, views", VIEWS)
    def test_reads_through_views(self, sizes, views):
        def kernel(x, out):
            for view in views[:-1]:
                x = x.at[view]
            out[...] = x[views[-1]]
        x = some(*sizes)
        want = functools.reduce(indexed, views, np.asarray(x))
        equal(run(kernel, x, out_shape=shape(*want.shape)), want)

    @pytest.mark.parametrize("sizes, views", VIEWS)
    def test_writes_through_views(self, sizes, views):
        want = np.zeros(sizes, np.float32)
        part = functools.reduce(indexed, views, want)
        new = some(*part.shape)
        part[...] = new
        def kernel(x, out):
            out[...] = jnp.zeros_like(out)
            for view in views[:-1]:
                out = out.at[view]
            out[views[-1]] = x[...]
        equal(run(kernel, new, out_shape=shape(*sizes)), want)

    @pytest.mark.parametrize("first, second", list(itertools.product(["int", "slice", "array", "all", "strided"], repeat=2)))
    @pytest.mark.parametrize("is_dynamic", [False, True])
    def test_kinds_of_indices(self, first, second, is_dynamic):
        def index(kind, one, numbers):
            return {"int": one, "slice": pl.ds(one, 3), "array": numbers, "all": slice(None), "strided": slice(1, 7, 2)}[kind]
        def reference(kind, numbers):
            return {"int": 2, "slice": slice(2, 5), "array": numbers, "all": slice(None), "strided": slice(1, 7, 2)}[kind]
        x, numbers = some(8, 8), np.asarray([5, 0, 3])
        want = np.asarray(x)[reference(first, numbers), reference(second, numbers)]
        def kernel(x, one, numbers_, out):
            value = one[0] if is_dynamic else 2
            out[...] = x[index(first, value, numbers_[...]), index(second, value, numbers_[...])]
        got = run(kernel, x, jnp.asarray([2]), jnp.asarray(numbers), in_specs=[VMEM, SMEM, VMEM], out_shape=shape(*want.shape))
        equal(got, want)

    @pytest.mark.parametrize("kind", ["int", "slice", "array", "strided"])
    @pytest.mark.parametrize("is_parallel", [False, True])
    def test_writes_by_numbers_of_cells(self, kind, is_parallel):
        def kernel(x, out):
            i = pl.program_id(0)
            where = {"int": i, "slice": pl.ds(i, 1), "array": i + jnp.arange(1), "strided": slice(0, 4, 2)}[kind]
            base = out if not is_parallel else out.at[pl.ds(0, 4)]
            if kind == "strided":
                base[where] = x[pl.ds(0, 2)] + i
            elif kind == "int":
                base[where] = x[i]
            else:
                base[where] = x[where]
        x = some(4, 8)
        got = run(kernel, x, grid=(4,), in_specs=[pl.BlockSpec((4, 8), lambda i: (0, 0))], out_specs=pl.BlockSpec((4, 8), lambda i: (0, 0)),
                  out_shape=shape(4, 8))
        if kind == "strided":
            equal(got[::2], x[:2] + 3)
        else:
            equal(got, x)


class TestVmap:
    """pallas_vmap_test.py, PallasCallVmapTest."""

    @pytest.mark.parametrize("times", [1, 2, 4])
    @pytest.mark.parametrize("has_grid", [False, True])
    def test_nested(self, times, has_grid):
        def kernel(x, out):
            if has_grid:
                i = pl.program_id(0)
                out[i] = x[i] + 1
            else:
                out[...] = x[...] + 1
        call = pl.pallas_call(kernel, out_shape=shape(7, dtype=I32), **(dict(grid=(7,)) if has_grid else {}))
        for _ in range(times):
            call = jax.vmap(call)
        x = count(*(5, 3, 4, 2)[:times], 7, dtype=I32)
        equal(jax.jit(call)(x), x + 1)

    def test_one_argument_only(self):
        call = jax.vmap(pl.pallas_call(lambda x, y, out: out.__setitem__((), x[()] + y[()]), out_shape=shape(dtype=I32)), in_axes=(0, None))
        equal(call(jnp.arange(8), 1), np.arange(1, 9))

    @pytest.mark.parametrize("axis, out_axis", list(itertools.product([0, 1], [0, 1])))
    def test_axes(self, axis, out_axis):
        def kernel(x, out):
            i = pl.program_id(0)
            out[i] = jnp.sin(x[i])
        call = pl.pallas_call(kernel, out_shape=shape(4), grid=(4,))
        x = some(4, 4)
        equal(jax.jit(jax.vmap(call, in_axes=axis, out_axes=out_axis))(x), jax.vmap(jnp.sin, in_axes=axis, out_axes=out_axis)(x), 1e-6)

    @pytest.mark.parametrize("axis", [0, 1])
    def test_in_place(self, axis):
        call = pl.pallas_call(lambda x, out: out.__setitem__(..., x[...] + out[...] + 1), out_shape=shape(4, dtype=I32), input_output_aliases={0: 0})
        x = count(4, 4, dtype=I32)
        equal(jax.jit(jax.vmap(call, in_axes=axis))(x), 2 * (x if axis == 0 else x.T) + 1)

    def test_scratch_memory(self):
        def kernel(x, out, memory):
            memory[...] = jnp.ones_like(memory)
            out[...] = x[...] + memory[...]
        spec = pl.BlockSpec((8, 16), lambda i, j: (i, j))
        call = pl.pallas_call(kernel, out_shape=shape(16, 32), in_specs=[spec], out_specs=spec, grid=(2, 2), scratch_shapes=[pltpu.VMEM((8, 16), F32)])
        x = some(10, 16, 32)
        equal(jax.jit(jax.vmap(call))(x), x + 1, 1e-6)

    def test_many_small_ones(self):
        call = pl.pallas_call(lambda x, out: out.__setitem__(..., x[...] + 1), out_shape=shape(2, dtype=I32), grid=(2,))
        x = count(4, 4096, 2, dtype=I32)
        equal(jax.jit(jax.vmap(jax.vmap(call)))(x), x + 1)
