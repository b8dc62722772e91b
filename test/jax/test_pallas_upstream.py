# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the test classes of JAX's own pallas_test.py ask, compiled on the plug-in (interpret=False): programs of ours, one class per class there, beside
the same operation outside of a kernel or numpy. docs/guide/kernels.md counts them."""
import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import checkify
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu
from jax.experimental.pallas import triton as pltriton
from pallas_programs import BF16, F32, I32, SMEM, count, equal, of, run, same, shape, some


class TestPallasCall:
    """pallas_test.py, PallasCallTest."""

    @pytest.mark.parametrize("sizes", [(), (1,), (8,), (3, 5)])
    @pytest.mark.parametrize("dtype", [F32, I32, BF16, jnp.int8])
    def test_plus_one(self, sizes, dtype):
        same(lambda x: x + 1, some(*sizes, dtype=dtype))

    def test_without_results_and_without_arguments(self):
        assert pl.pallas_call(lambda x: None, ())(jnp.arange(8)) == ()
        def constant(out):
            assert out.shape == (8, 128)
            out[...] = jnp.full(out.shape, 42, I32)
        equal(run(constant, out_shape=shape(8, 128, dtype=I32)), np.full((8, 128), 42))

    @pytest.mark.parametrize("kind", [tuple, list])
    def test_results_are_a_tuple(self, kind):
        made = run(lambda x, y: y.__setitem__(..., x[...]), count(4), out_shape=kind([shape(4)]))
        assert isinstance(made, (tuple, list)) and len(made) == 1

    @pytest.mark.parametrize("whole, block", [((), ()), ((2,), (2,)), ((128,), (64,)), ((1024,), (256,)), ((3, 3), (3, 3)), ((4, 2), (2, 2)),
                                             ((6, 2, 2), (3, 2, 2)), ((6, 16, 128), (2, 8, 128)), ((16, 64), (8, 64)), ((16, 128), (2, 128)),
                                             ((9, 128), (9, 64)), ((18, 128), (9, 128)), ((9, 129), (8, 129)), ((1, 128), (4, 128)),
                                             ((3, 128), (4, 128)), ((5, 128), (8, 128)), ((8,), (3,)), ((3,), (8,))])
    @pytest.mark.parametrize("dtype", [I32, jnp.int16])
    def test_block_shapes(self, whole, block, dtype):
        def kernel(x, out):
            assert out.shape == block
            out[...] = x[...]
        spec = pl.BlockSpec(block, lambda *cell: cell)
        x = count(*whole, dtype=dtype)
        equal(run(kernel, x, grid=[-(-size // length) for size, length in zip(whole, block)], in_specs=[spec], out_specs=spec,
                  out_shape=shape(*whole, dtype=dtype)), x)

    @pytest.mark.parametrize("spec", [pl.BlockSpec(), pl.BlockSpec(None, lambda i: (i,)), pl.BlockSpec((8,))])
    def test_parts_of_a_specification(self, spec):
        def kernel(out):
            out[...] = jnp.full(out.shape, pl.program_id(0))
        equal(run(kernel, out_shape=shape(8, dtype=I32), out_specs=spec, grid=(1,)), np.zeros(8))

    def test_mapped_dimensions(self):
        x = count(2, 4)
        specs = [pl.BlockSpec((None, 4), lambda i: (0, 0)), pl.BlockSpec((None, 4), lambda i: (1, 0))]
        def kernel(x, y, out):
            out[:] = x[:] + y[:]
        equal(run(kernel, x, x, in_specs=specs, grid=1, out_shape=shape(4)), x[0] + x[1])

    @pytest.mark.parametrize("index", range(5))
    def test_scalar_indices(self, index):
        x = count(5)
        def kernel(x, i, out):
            out[()] = x[i[()]]
        equal(run(kernel, x, jnp.int32(index), out_shape=shape()), index)

    def test_array_indices(self):
        x, where = some(5), jnp.asarray([3, 1])
        def kernel(x, where, out):
            out[:] = x[where[...]]
        equal(run(kernel, x, where, out_shape=shape(2)), x[where])

    @pytest.mark.parametrize("dtype", [F32, jnp.float16])
    @pytest.mark.parametrize("size", [32, 64])
    def test_product_by_arrays_of_indices(self, dtype, size):
        m, n, k = 64, 128, 96
        def kernel(x, y, out):
            rows = (pl.program_id(0) // (n // size)) * size + jnp.arange(size)
            columns = lax.rem(pl.program_id(0), jnp.int32(n // size)) * size + jnp.arange(size)
            def body(i, total):
                middle = i * 32 + jnp.arange(32)
                return total + jnp.dot(x[rows[:, None], middle[None, :]], y[middle[:, None], columns[None, :]], preferred_element_type=F32)
            out[rows[:, None], columns[None, :]] = lax.fori_loop(0, k // 32, body, jnp.zeros((size, size), F32))
        x, y = some(m, k, dtype=dtype), some(k, n, dtype=dtype)
        equal(run(kernel, x, y, grid=((m // size) * (n // size),), out_shape=shape(m, n)), x.astype(F32) @ y.astype(F32), 2e-2)

    @pytest.mark.parametrize("dtype", [F32, BF16, jnp.float16])
    @pytest.mark.parametrize("blocks", [(32, 32), (64, 128)])
    def test_product_with_a_loop_inside(self, dtype, blocks):
        m, n, k = 64, 128, 96
        def kernel(x, y, out):
            def body(i, total):
                part = pl.ds(i * 32, 32)
                return total + jnp.dot(x[:, part], y[part, :], preferred_element_type=F32)
            out[:, :] = lax.fori_loop(0, k // 32, body, jnp.zeros(out.shape, F32))
        x, y = some(m, k, dtype=dtype), some(k, n, dtype=dtype)
        equal(run(kernel, x, y, grid=(m // blocks[0], n // blocks[1]), out_shape=shape(m, n),
                  in_specs=[pl.BlockSpec((blocks[0], k), lambda i, j: (i, 0)), pl.BlockSpec((k, blocks[1]), lambda i, j: (0, j))],
                  out_specs=pl.BlockSpec(blocks, lambda i, j: (i, j))), x.astype(F32) @ y.astype(F32), 2e-2)

    @pytest.mark.parametrize("batch, size, block", [(1, 1, 2), (2, 129, 256), (4, 255, 256), (23, 2, 32)])
    def test_masked_softmax(self, batch, size, block):
        def kernel(x, out):
            row, columns = pl.program_id(0), jnp.arange(block)
            mask = columns < size
            values = pltriton.load(x.at[row, columns], mask=mask, other=-float("inf"))
            e = jnp.exp(values - values.max())
            pltriton.store(out.at[row, columns], e / e.sum(), mask=mask)
        x = some(batch, size)
        equal(run(kernel, x, grid=(batch,), out_shape=shape(batch, size)), jax.nn.softmax(x, -1), 1e-5)

    def test_a_reference_that_is_not_used(self):
        def kernel(x, out):
            out[jnp.arange(16)[:, None], jnp.arange(32)[None, :]] = jnp.ones_like(out)
        equal(run(kernel, some(16, 32), out_shape=shape(16, 32)), np.ones((16, 32)))

    def test_in_place(self):
        def kernel(x, out):
            where = pl.program_id(0) * 2 + jnp.arange(2)
            mask = where < 7
            pltriton.store(out.at[where], pltriton.load(out.at[where], mask=mask) + 1, mask=mask)
        x = some(7)
        equal(run(kernel, x, grid=(4,), input_output_aliases={0: 0}, out_shape=shape(7)), x + 1)

    def test_a_kernel_is_traced_once(self):
        traces = []
        @functools.partial(pl.pallas_call, out_shape=shape())
        def plus(x, out):
            traces.append(1)
            out[()] = x[()] + 1
        assert jax.jit(lambda x: plus(plus(x)))(jnp.float32(0)) == 2 and len(traces) == 1

    @pytest.mark.parametrize("dtype", [F32, BF16])
    @pytest.mark.parametrize("precision", [None, lax.Precision.DEFAULT, lax.Precision.HIGH, lax.Precision.HIGHEST])
    def test_precisions_of_products(self, dtype, precision):
        x, y = some(32, 16, dtype=dtype), some(16, 64, dtype=dtype)
        got = of(lambda x, y: jnp.dot(x, y, precision=precision, preferred_element_type=F32), x, y)
        equal(got, x.astype(F32) @ y.astype(F32), 1e-4)

    @pytest.mark.parametrize("dtype", [jnp.int8, jnp.uint8])
    def test_products_of_integers(self, dtype):
        same(lambda x, y: jnp.dot(x, y, preferred_element_type=I32), some(32, 128, dtype=dtype), some(128, 64, dtype=dtype))

    @pytest.mark.parametrize("dtype", [jnp.int4, jnp.uint4])
    @pytest.mark.parametrize("stride", [1, 3])
    def test_elements_below_a_byte(self, dtype, stride):
        x = jnp.arange(-8, 8, dtype=jnp.int8).astype(dtype)
        def kernel(x, out):
            out[...] = x[::stride].astype(jnp.int8)
        equal(run(kernel, x, out_shape=shape(-(-16 // stride), dtype=jnp.int8)), x.astype(jnp.int8)[::stride])

    @pytest.mark.parametrize("transposed", [False, True])
    def test_products_with_eight_bit_floats(self, transposed):
        x, y = some(64, 32, dtype=BF16), some(32, 32).astype(jnp.float8_e4m3b11fnuz)
        same(lambda x, y: x @ (y.T if transposed else y).astype(BF16), x, y, tolerance=1e-2)


class TestElementIndexing:
    """pallas_test.py, PallasCallElementIndexingTest (once: unblocked)."""

    @pytest.mark.parametrize("rows, padding, offset", [(16, (0, 0), 0), (14, (0, 2), 0), (11, (3, 2), 3)])
    def test_written_blocks(self, rows, padding, offset):
        def kernel(out):
            assert out.shape == (8, 128)
            out[...] = jnp.full(out.shape, pl.program_id(0))
        spec = pl.BlockSpec((pl.Element(8, padding), pl.Element(128)), lambda i: (8 * i, 0))
        got = run(kernel, grid=(2,), out_specs=spec, out_shape=shape(rows, 128, dtype=I32))
        equal(got[:, 0], (np.arange(rows) + offset) // 8)

    def test_overlapping_blocks(self):
        def kernel(x, out):
            out[...] = x[pl.ds(0, 8)] + x[pl.ds(8, 8)]
        x = some(128, 128)
        got = run(kernel, x, grid=(15,), in_specs=[pl.BlockSpec((pl.Element(16), pl.Element(128)), lambda i: (i * 8, 0))],
                  out_specs=pl.BlockSpec((8, 128), lambda i: (i, 0)), out_shape=shape(120, 128))
        equal(got, x[:120] + x[8:])

    def test_read_blocks_with_padding(self):
        def kernel(x, out):
            out[...] = x[pl.ds(0, 8)]
        x = some(8, 128)
        equal(run(kernel, x, grid=(1,), in_specs=[pl.BlockSpec((pl.Element(16, (0, 8)), pl.Element(128)), lambda i: (0, 0))],
                  out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)), out_shape=shape(8, 128)), x)


class TestApiErrors:
    """pallas_test.py, ApiErrorTest: messages that JAX makes before a kernel is lowered stay JAX's."""

    @pytest.mark.parametrize("kernel, options, error, message", [
        (lambda x: None, {}, TypeError, "positional argument"),
        (lambda x, out: 0, {}, ValueError, "should return None"),
        (lambda x, out: None, dict(in_specs=[pl.BlockSpec((4,), lambda i, j: 0)]), TypeError, "missing"),
        (lambda x, out: None, dict(in_specs=[pl.BlockSpec((4,), lambda: (0, 0))]), ValueError, "must return 1 values"),
        (lambda x, out: None, dict(in_specs=[pl.BlockSpec((1, 1), lambda: (0, 0))]), ValueError, "same number of dimensions"),
        (lambda x, out: None, dict(input_output_aliases={2: 0}), ValueError, "outside the range"),
    ])
    def test_messages(self, kernel, options, error, message):
        with pytest.raises(error, match=message):
            pl.pallas_call(kernel, out_shape=shape(8, dtype=I32), **options)(jnp.arange(8))

    def test_captured_arrays(self):
        constant = count(8)
        with pytest.raises(ValueError, match="captures"):
            run(lambda x, out: out.__setitem__(..., x[...] + constant), count(8), out_shape=shape(8))


class TestAliasing:
    """pallas_test.py, PallasCallInputOutputAliasingTest: the kernel writes into the memory that was given."""

    def test_no_memory_of_its_own(self):
        spec = pl.BlockSpec((None, 64, 64), lambda i: (i, 0, 0))
        call = pl.pallas_call(lambda x, out: out.__setitem__(..., x[...] + 1), out_shape=shape(8, 64, 64), in_specs=[spec], out_specs=spec,
                              grid=(8,), input_output_aliases={0: 0})
        function = jax.jit(call, donate_argnums=0)
        memory = function.lower(shape(8, 64, 64)).compile().memory_analysis()
        assert memory.alias_size_in_bytes == 8 * 64 * 64 * 4 and memory.temp_size_in_bytes == 0
        equal(function(jnp.ones((8, 64, 64))), np.full((8, 64, 64), 2))


class TestControlFlow:
    """pallas_test.py, PallasControlFlowTest."""

    @pytest.mark.parametrize("branch", range(3))
    @pytest.mark.parametrize("block", [1, 4, 8])
    def test_branches_on_a_scalar(self, branch, block):
        functions = (lambda x: x ** 2, lambda x: -x, lambda x: -x ** 2)
        def kernel(which, x, out):
            out[...] = lax.switch(which[...], functions, x[...])
        x, spec = some(8), pl.BlockSpec((block,), lambda i: (i,))
        equal(run(kernel, jnp.int32(branch), x, in_specs=[pl.BlockSpec((), lambda i: ()), spec], out_specs=spec, grid=(8 // block,),
                  out_shape=shape(8)), functions[branch](x), 1e-6)

    @pytest.mark.parametrize("rows, columns", list(itertools.product([1, 8], [2, 4])))
    def test_branches_on_blocks_of_two_arrays(self, rows, columns):
        functions = (lambda x, y: (x - y) ** 2, lambda x, y: -jnp.abs(x - y))
        def kernel(which, x, y, out):
            out[...] = lax.switch(which[...], functions, x[...], y[...])
        x, y = count(16, 1), count(1, 8)
        for branch, function in enumerate(functions):
            equal(run(kernel, jnp.int32(branch), x, y, grid=(16 // rows, 8 // columns), out_shape=shape(16, 8),
                      in_specs=[pl.BlockSpec((), lambda i, j: ()), pl.BlockSpec((rows, 1), lambda i, j: (i, 0)),
                                pl.BlockSpec((1, columns), lambda i, j: (0, j))],
                      out_specs=pl.BlockSpec((rows, columns), lambda i, j: (i, j))), function(x, y))

    def test_nested_branches(self):
        def kernel(out):
            def chosen(test, x, y, depth):
                return lax.cond(test, lambda: x + 1 if depth == 0 else chosen(x == depth, x, y, depth - 1),
                                lambda: y + 2 if depth == 0 else chosen(y == depth, x, y, depth - 1))
            i = pl.program_id(0)
            out[...] = jnp.full(out.shape, chosen(i == 0, i, i, 3))
        equal(run(kernel, grid=(1,), out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)), out_shape=shape(8, 128, dtype=I32))[0, 0], 2)

    @pytest.mark.parametrize("flag", [False, True])
    def test_writes_in_a_branch(self, flag):
        def kernel(flag, x, out):
            out[...] = -x[...]
            @pl.when(flag[...])
            def _():
                out[4] = x[6]
        x = count(8)
        expected = np.array(-x)
        if flag:
            expected[4] = 6
        equal(run(kernel, jnp.bool_(flag), x, out_shape=shape(8)), expected)

    @pytest.mark.parametrize("closes_over", [False, True])
    def test_a_program_of_branches_in_a_loop(self, closes_over):
        program, table, x = jnp.asarray([0, 1, 2, 1]), some(4, 3), some(7)
        def kernel(program, table, x, out):
            value = x[...]
            def step(i, state):
                total, steps, rows = state
                steps, rows = (program, table) if closes_over else (steps, rows)
                branches = [lambda total, i, column=column: total + rows[i, column] * 2.0 ** i * value for column in range(3)]
                return lax.switch(steps[i], branches, total, i), steps, rows
            out[...] = lax.fori_loop(0, 4, step, (jnp.zeros_like(value), program, table))[0]
        got = run(kernel, program, table, x, grid=(2,), out_shape=shape(7), out_specs=pl.BlockSpec((4,), lambda i: (i,)),
                  in_specs=[pl.BlockSpec((4,), lambda i: (0,)), pl.BlockSpec((4, 3), lambda i: (0, 0)), pl.BlockSpec((4,), lambda i: (i,))])
        equal(got, sum(x * table[i, c] * 2.0 ** i for i, c in enumerate((0, 1, 2, 1))), 1e-5)

    @pytest.mark.parametrize("low, high", [(0, 5), (2, 5), (3, 3)])
    @pytest.mark.parametrize("is_dynamic", [False, True])
    def test_counting_loops(self, low, high, is_dynamic):
        def kernel(low_ref, high_ref, out):
            out[...] = 0
            def body(i, total):
                out[...] += i
                return total + 1
            bounds = (low_ref[...], high_ref[...]) if is_dynamic else (low, high)
            times = lax.fori_loop(*bounds, body, 0)
            out[...] += 100 * times
        equal(run(kernel, jnp.int32(low), jnp.int32(high), out_shape=shape(dtype=I32)), sum(range(low, high)) + 100 * (high - low))

    def test_a_loop_writes_by_its_index(self):
        def kernel(out):
            def body(i, nothing):
                out[i] = i
            lax.fori_loop(0, 8, body, None)
        equal(run(kernel, out_shape=shape(8, dtype=I32)), np.arange(8))

    def test_a_loop_with_a_carry_of_float64(self):
        with jax.enable_x64(True):
            x = jnp.arange(1, 5.0, dtype=jnp.float64)
            got = of(lambda x: lax.fori_loop(0, 3, lambda i, total: total + x + i * 0, jnp.zeros(4, jnp.float64)), x)
            assert got.dtype == jnp.float64
            np.testing.assert_array_equal(got, x * 3)

    @pytest.mark.parametrize("limit", [1, 4, 100])
    @pytest.mark.parametrize("is_batched", [False, True])
    def test_loops_with_a_condition(self, limit, is_batched):
        def kernel(limit, out):
            out[...] = 0
            def body(i):
                out[...] += 1
                return i + 1
            end = limit[...]
            lax.while_loop(lambda i: i < end, body, 0)
        call = pl.pallas_call(kernel, out_shape=shape(dtype=I32))
        if is_batched:
            equal(jax.jit(jax.vmap(call))(jnp.asarray([limit, 2])), [limit, 2])
        else:
            equal(jax.jit(call)(jnp.int32(limit)), limit)

    def test_a_loop_that_ends_by_two_conditions(self):
        def kernel(x, out):
            @pl.when(pl.program_id(0) == 0)
            def _():
                out[0, 0] = 0
            def more(state):
                return (state[0] < 64) & (state[1] < 100)
            def body(state):
                i, total = state
                return i + 1, total + x[0, lax.div(i, 16), lax.rem(i, 16)]
            out[0, 0] = lax.while_loop(more, body, (jnp.int32(0), out[0, 0]))[1]
        x = count(2, 4, 16, dtype=I32)
        spec = pl.BlockSpec((1, 1), lambda i: (0, 0), memory_space=pltpu.SMEM)
        got = run(kernel, x, grid=(2,), in_specs=[pl.BlockSpec((1, 4, 16), lambda i: (i, 0, 0), memory_space=pltpu.SMEM)], out_specs=spec,
                  out_shape=shape(1, 1, dtype=I32))
        equal(got, [[105]])

    def test_a_loop_that_carries_an_array(self):
        equal(of(lambda x: lax.while_loop(lambda v: v[0, 0] < 16, lambda v: v * 2, x), jnp.full((8, 128), 3)), np.full((8, 128), 24))

    def test_nested_loops_with_conditions(self):
        """Lengths of runs of equal numbers."""
        keys = jnp.asarray([4, 4, 4, 3, 2, 2, 7, 7, 7, 7, 9, 9])
        def kernel(keys, number, lengths):
            lengths[...] = jnp.zeros_like(lengths)
            def inner(i, key):
                return lax.while_loop(lambda i: (i < 12) & (keys[jnp.minimum(i, 11)] == key), lambda i: i + 1, i)
            def outer(state):
                i, runs = state
                end = inner(i + 1, keys[i])
                lengths[runs] = end - i
                return end, runs + 1
            number[0] = lax.while_loop(lambda state: state[0] < 12, outer, (0, 0))[1]
        number, lengths = run(kernel, keys, in_specs=[SMEM], out_specs=[SMEM, SMEM], out_shape=[shape(1, dtype=I32), shape(12, dtype=I32)])
        assert number[0] == 5 and list(lengths[:5]) == [3, 1, 2, 4, 2]

    @pytest.mark.parametrize("unroll", [1, 2, True])
    def test_loops_that_are_unrolled(self, unroll):
        def kernel(x, out):
            out[...] = x[...]
            def body(i, nothing):
                out[...] += pl.program_id(0) + i
            lax.fori_loop(0, 5, body, None, unroll=unroll)
        spec = pl.BlockSpec((4,), lambda i: (i,))
        equal(run(kernel, jnp.zeros(8, I32), grid=(2,), in_specs=[spec], out_specs=spec, out_shape=shape(8, dtype=I32)), [10] * 4 + [15] * 4)


FUNCTIONS = dict(square=lambda x: x * x, power=lambda x: x ** 2, square_fn=jnp.square, plus_one=lambda x: x + 1.0, exp=jnp.exp,
                 reciprocal=jnp.reciprocal, one_over=lambda x: 1.0 / x, chain=lambda x: jnp.reciprocal(jnp.exp(x) ** 2),
                 exp_neg=lambda x: jnp.exp(-x) ** 2, sin=jnp.sin, tanh=jnp.tanh)


class TestAutodifferentiation:
    """pallas_test.py, PallasCallAutodifferentiationTest."""

    @pytest.mark.parametrize("name", FUNCTIONS)
    @pytest.mark.parametrize("is_part", [False, True])
    def test_forward_derivatives(self, name, is_part):
        function = FUNCTIONS[name]
        def kernel(x, out):
            if is_part:
                out[...] = jnp.zeros(4)
                out[2 + jnp.arange(2)] = function(x[jnp.arange(2)])
            else:
                out[...] = function(x[...])
        def reference(x):
            return jnp.concatenate([jnp.zeros(2), function(x[:2])]) if is_part else function(x)
        x, t = some(4) + 2, some(4)
        got = jax.jit(lambda x, t: jax.jvp(pl.pallas_call(kernel, out_shape=shape(4)), (x,), (t,)))(x, t)
        for a, b in zip(got, jax.jvp(reference, (x,), (t,))):
            equal(a, b, 1e-5)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_gradients_inside(self, name):
        same(jax.vmap(jax.grad(FUNCTIONS[name])), some(8) + 2, tolerance=1e-5)

    def test_custom_derivatives_inside(self):
        @jax.custom_jvp
        def softmax(x):
            e = jnp.exp(x - x.max(-1, keepdims=True))
            return e / e.sum(-1, keepdims=True)
        softmax.defjvp(lambda primals, tangents: (softmax(primals[0]), tangents[0]))
        @jax.custom_vjp
        def double(x):
            return jnp.tanh(x)
        double.defvjp(lambda x: (2 * jnp.tanh(x), ()), lambda _, g: (3 * g,))
        x = some(16, 32)
        equal(of(softmax, x), jax.nn.softmax(x), 1e-6)
        def kernel(x, y, forward, gradient):
            y[...] = double(x[...])
            made, backward = jax.vjp(double, x[...])
            forward[...] = made
            gradient[...] = backward(jnp.ones_like(made))[0]
        y, forward, gradient = run(kernel, x, out_shape=[shape(16, 32)] * 3)
        equal(y, jnp.tanh(x), 1e-6)
        equal(forward, 2 * jnp.tanh(x), 1e-6)
        equal(gradient, np.full((16, 32), 3))


class TestOutOfBounds:
    """pallas_test.py, PallasOutOfBoundsInterpretTest, compiled: what lies beyond an array is NaN, and can be masked."""

    @pytest.mark.parametrize("is_masked", [False, True])
    def test_products_with_partial_blocks(self, is_masked):
        x, y = some(32, 33), some(33, 32)
        def kernel(x, y, out):
            @pl.when(pl.program_id(2) == 0)
            def _():
                out[...] = jnp.zeros_like(out)
            a, b = x[...], y[...]
            if is_masked:
                inside = pl.program_id(2) * 32 + jnp.arange(32) < 33
                a, b = jnp.where(inside[None, :], a, 0), jnp.where(inside[:, None], b, 0)
            out[...] += a @ b
        got = run(kernel, x, y, grid=(1, 1, 2), out_shape=shape(32, 32), out_specs=pl.BlockSpec((32, 32), lambda i, j, k: (i, j)),
                  in_specs=[pl.BlockSpec((32, 32), lambda i, j, k: (i, k)), pl.BlockSpec((32, 32), lambda i, j, k: (k, j))])
        if is_masked:
            equal(got, x @ y, 1e-4)
        else:
            assert np.isnan(got).all()

    @pytest.mark.parametrize("dtype, beyond", [(I32, np.iinfo(np.int32).min), (F32, np.nan)])
    def test_values_beyond(self, dtype, beyond):
        got = run(lambda x, out: out.__setitem__(..., x[...]), jnp.full((3,), 42, dtype), grid=(1,),
                  in_specs=[pl.BlockSpec((6,), lambda i: (0,))], out_shape=shape(6, dtype=dtype))
        np.testing.assert_array_equal(got, [42] * 3 + [beyond] * 3)


class TestCheckify:
    """pallas_test.py, PallasCheckifyTest."""

    def test_checks_that_nobody_collects(self):
        """JAX 0.10 has no rule for checks inside of a kernel: its message stays."""
        def kernel(x, out):
            out[...] = x[...]
            checkify.check(x[0] > 100, "the check failed")
        with pytest.raises(ValueError, match="not functionalized"):
            run(kernel, count(4), out_shape=shape(4))

    def test_without_a_check(self):
        error, result = checkify.checkify(pl.pallas_call(lambda out: out.__setitem__(..., jnp.zeros((2, 2))), out_shape=shape(2, 2)))()
        error.throw()
        equal(result, np.zeros((2, 2)))

    def test_an_earlier_error_stays(self):
        call = pl.pallas_call(lambda out: out.__setitem__(..., jnp.zeros(2)), out_shape=shape(2))
        def function():
            checkify.check(False, "before the call")
            return call()
        error, _ = checkify.checkify(function)()
        assert "before the call" in error.get()

    def test_debug_checks_are_nothing(self):
        def kernel(x, out):
            pl.debug_check(x[0] > 100, "never looked at")
            out[...] = x[...]
        equal(run(kernel, count(4), out_shape=shape(4)), np.arange(4))


class TestNamedGrid:
    """pallas_test.py, PallasCallNamedGridTest."""

    @pytest.mark.parametrize("grid", [(("i", 4), ("j", 2)), (("j", 4), ("i", 2))])
    def test_names(self, grid):
        def kernel(x, out):
            assert lax.psum(1, grid[0][0]) == 4 and lax.psum(1, grid[1][0]) == 2
            out[...] = x[...] + lax.axis_index(grid[0][0])
        spec = pl.BlockSpec((None, 8, 128), lambda i, j: (i, j, 0))
        x = count(4, 16, 128)
        equal(run(kernel, x, grid=grid, in_specs=[spec], out_specs=spec, out_shape=shape(4, 16, 128)), x + jnp.arange(4)[:, None, None])
