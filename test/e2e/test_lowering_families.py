# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reduction, indexing, contraction and random families, compiled, against JAX's CPU result: forms that the conformance data
does not have (strided, dilated and grouped convolutions, scatter modes, large sorts, transform lengths, factorizations)."""

import numpy as np
import pytest

from benchmarks import tools

jax = pytest.importorskip("jax")
X64 = True  # see conftest.py
jax.config.update("jax_enable_x64", X64)
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

RANDOM = np.random.default_rng(5)
CASES = {}


def f32(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def f64(*shape):
    return RANDOM.standard_normal(shape)


def c64(*shape):
    return (f64(*shape) + 1j * f64(*shape)).astype(np.complex64)


def c128(*shape):
    return f64(*shape) + 1j * f64(*shape)


def ints(low, high, *shape, dtype=np.int32):
    return RANDOM.integers(low, high, shape, dtype=np.int64).astype(dtype)


def case(name, function, *arguments, rtol=1e-5, atol=1e-5):
    """rtol and atol are those of numpy.testing.assert_allclose; integers must be equal."""
    assert name not in CASES
    CASES[name] = (function, arguments, rtol, atol)


# --- reductions -------------------------------------------------------------------------------------------------------
case("sum_minor", lambda x: jnp.sum(x, axis=1), f32(37, 53))
case("sum_major", lambda x: jnp.sum(x, axis=0), f32(37, 53))
case("sum_middle", lambda x: jnp.sum(x, axis=(0, 2)), f32(3, 7, 5, 4))
case("sum_all_f64", lambda x: jnp.sum(x), f64(11, 13), rtol=1e-12, atol=1e-12)
case("sum_bf16", lambda x: jnp.sum(x.astype(jnp.bfloat16), axis=1).astype(jnp.float32), f32(4, 1000), rtol=1e-2, atol=1e-1)
case("max_nan", lambda x: jnp.max(x, axis=0), np.array([[1, np.nan], [np.nan, 2], [3, 0]], np.float32))
case("argmax_ties", lambda x: jnp.argmax(x, axis=1), ints(0, 4, 9, 50))
case("argmin_f32", lambda x: jnp.argmin(x, axis=0), f32(40, 6))
case("all_any", lambda x: (jnp.all(x > -2, axis=1), jnp.any(x > 2, axis=0)), f32(8, 9))
case("prod_u8", lambda x: jnp.prod(x, axis=0, dtype=np.uint8), ints(0, 255, 5, 6, dtype=np.uint8))
case("empty_reduce", lambda x: jnp.sum(x, axis=1), f32(3, 0))
case("variadic_reduce", lambda x, y: lax.reduce((x, y), (np.float32(0), np.int32(1)),
                                                lambda a, b: (a[0] + b[0], a[1] * b[1]), (1,)), f32(5, 6), ints(1, 3, 5, 6))
# Two accumulators that begin with the same value must not share a buffer.
case("variadic_same_init", lambda x, y: lax.reduce((x, y), (np.float32(0), np.float32(0)),
                                                   lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), (1,)), f32(5, 6), f32(5, 6))
case("variadic_window", lambda x, y: lax.reduce_window((x, y), (np.float32(0), np.float32(0)), lambda a, b: (a[0] + b[0], a[1] + b[1] * 2),
                                                       (2, 2), (1, 2), "VALID"), f32(5, 6), f32(5, 6))
case("order_matters_along_columns", lambda x: lax.reduce(x, np.float32(3), lambda a, b: a * np.float32(0.5) - b, (0,)), f32(9, 70))


def normalized_groups(x, groups, last):
    """Groups of channels, images flattened before or after the split; the last dimension or the second is that of the channels."""
    shape = (x.shape[0], -1, groups, x.shape[-1] // groups) if last else (x.shape[0], groups, -1)
    g, axes = x.reshape(shape), (1, 3) if last else (2,)
    centered = g - jnp.mean(g, axis=axes, keepdims=True)
    return (centered * lax.rsqrt(jnp.mean(centered * centered, axis=axes, keepdims=True) + 1e-5)).reshape(x.shape)


for last, shape in ((True, (2, 5, 7, 12)), (True, (1, 16, 16, 64)), (False, (2, 12, 5, 7))):
    for numbers, tolerance in ((f32, 2e-4), (f64, 1e-12)):
        name = f"groups_{'last' if last else 'second'}_{'x'.join(map(str, shape))}_{numbers.__name__}"
        case(name, lambda x, g, last=last: jax.vjp(lambda x: normalized_groups(x, 4, last), x)[1](g)[0] + normalized_groups(x, 4, last),
             numbers(*shape), numbers(*shape), rtol=tolerance, atol=tolerance)


def pool_with_places(x, window, stride, padding):
    """The largest element of each window and its place in its image, the first of equals."""
    places = lax.broadcasted_iota(np.int32, x.shape, 2) * x.shape[3] + lax.broadcasted_iota(np.int32, x.shape, 3)

    def better(a, b):
        keep = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
        return jnp.where(keep, a[0], b[0]), jnp.where(keep, a[1], b[1])

    spans, steps, borders = (1, 1, window, window), (1, 1, stride, stride), ((0, 0), (0, 0), (padding, padding), (padding, padding))
    return lax.reduce_window((x, places), (x.dtype.type(-np.inf), np.int32(-1)), better, spans, steps, borders)


for window, stride, padding, numbers in ((3, 2, 1, f32), (5, 3, 2, f64), (3, 4, 1, f32)):
    case(f"pool_with_places_{window}_{stride}_{numbers.__name__}",
         lambda x, w=window, s=stride, p=padding: pool_with_places(x, w, s, p), numbers(2, 3, 29, 38))
for x in (f32(7, 53), f64(7, 53), ints(-9, 9, 7, 53, dtype=np.int8)):
    # Vectors and shuffles up to a stride of 4, with whole and partial vectors at the end of the buffer.
    case(f"strided_{x.dtype}", lambda x: [(x[:, ::n] + x[:, n - 1::n][:, :1], x[3:, n // 2::n] * 2) for n in (2, 3, 4, 5)], x)
for numbers in (f32, f64):
    case(f"sum_short_rows_{numbers.__name__}", lambda *xs: [(jnp.sum(x, axis=1), jnp.max(x * x, axis=1)) for x in xs],
         *(numbers(61, n) for n in (2, 3, 4, 5, 9)))
case("sort_same_twice", lambda x: lax.sort((x, x), num_keys=1), f32(5, 40))
for axis in (0, 1, 2):
    for reverse in (False, True):
        case(f"cumsum_{axis}_{reverse}", lambda x, a=axis, r=reverse: lax.cumsum(x, a, r), f32(5, 6, 7))
        case(f"cummax_{axis}_{reverse}", lambda x, a=axis, r=reverse: lax.cummax(x, a, r), ints(-9, 9, 5, 6, 7))
case("cumprod_f64", lambda x: lax.cumprod(x, 1), f64(3, 20), rtol=1e-12)
case("cumlogsumexp", lambda x: lax.cumlogsumexp(x, 0), f32(17, 3))
case("cumsum_long", lambda x: lax.cumsum(x, 0), ints(-100, 100, 200000))


def window(init, op, dims, strides, padding, base=None, dilation=None):
    return lambda x: lax.reduce_window(x, init, op, dims, strides, padding, base_dilation=base, window_dilation=dilation)


case("pool_max", window(-np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), f32(2, 9, 10, 3))
case("pool_sum_valid", window(0.0, lax.add, (1, 2, 3), (1, 2, 1), "VALID"), f32(2, 9, 10))
case("pool_dilated", window(0.0, lax.add, (3, 2), (2, 1), [(1, 2), (0, 3)], (1, 2), (2, 1)), f32(9, 6))
case("pool_min_i32", window(np.int32(2**31 - 1), lax.min, (2, 2), (1, 1), [(1, 0), (0, 1)]), ints(-50, 50, 6, 5))
case("pool_grad_max", jax.grad(lambda x: jnp.sum(
    lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2)), f32(2, 9, 10, 3))
case("pool_grad_overlap", jax.grad(lambda x: jnp.sum(
    lax.reduce_window(x, -np.inf, lax.max, (3,), (1,), "VALID") * jnp.arange(8, dtype=np.float32))), f32(10))

# --- sorting ----------------------------------------------------------------------------------------------------------
for count in (1, 2, 15, 16, 17, 64, 65, 1000, 100000):
    case(f"sort_{count}", lambda x: lax.sort(x), f32(count))
case("sort_special", lambda x: lax.sort(x), np.array([3, np.nan, -np.inf, 0.0, -0.0, np.inf, -np.nan, -1], np.float32))
case("sort_rows", lambda x: lax.sort(x, dimension=1), ints(-1000, 1000, 7, 300))
case("sort_columns", lambda x: lax.sort(x, dimension=0), f64(130, 5))
case("argsort_stable", lambda x: jnp.argsort(x, stable=True), ints(0, 7, 5000))
case("sort_pairs", lambda k, v: lax.sort((k, v), num_keys=1), ints(0, 30, 500), f32(500))
case("sort_two_keys", lambda k, j, v: lax.sort((k, j, v), num_keys=2), ints(0, 5, 400), ints(0, 5, 400), f32(400))
case("sort_descending_u8", lambda x: -jnp.sort(-x.astype(np.int32)), ints(0, 255, 333, dtype=np.uint8))
case("top_k", lambda x: lax.top_k(x, 5), f32(6, 70))
case("sort_c64", lambda x: jnp.sort(x), c64(50))

# --- indexing ---------------------------------------------------------------------------------------------------------
case("take_rows", lambda x, i: x[i], f32(50, 16), ints(0, 50, 20))
case("take_clip", lambda x, i: jnp.take(x, i, axis=1, mode="clip"), f32(5, 9), ints(-20, 20, 11))
case("take_fill", lambda x, i: jnp.take(x, i, axis=0, mode="fill"), f32(5, 9), ints(-8, 8, 11))
case("take_along", lambda x, i: jnp.take_along_axis(x, i, axis=1), f32(5, 9), ints(0, 9, 5, 4))
case("gather_nd", lambda x, i: x[i[:, 0], :, i[:, 1]], f32(5, 6, 7), ints(0, 5, 8, 2))
case("gather_vmap", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i, np.int32(0)), (2, 3))), f32(4, 6, 5), ints(-3, 9, 4))
case("gather_u8_index", lambda x, i: x.at[i].get(mode="promise_in_bounds"), f32(200, 2), ints(0, 199, 9, dtype=np.uint8))
case("gather_u32_index", lambda x, i: x.at[i].get(mode="clip"), f32(200), np.array([0, 199, 200, 2**31 - 1, 2**31, 2**32 - 1, 7] * 9, np.uint32))
# Binary searches, in tables of one to some thousand numbers.
EDGES = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 5.0], np.float32)
for length in (1, 2, 7, 64, 1000, 5000):
    table, wanted = np.sort(f32(length)), np.concatenate([f32(509), EDGES])
    for side in ("left", "right"):
        case(f"search_{side}_{length}", lambda t, x, s=side: jnp.searchsorted(t, x, side=s), table, np.concatenate([wanted, table[:50]]))
ORDERED = EDGES[np.abs(EDGES) != np.float32(1e-40)]  # XLA:CPU takes subnormal numbers for zeros
case("search_edges", lambda t, x: jnp.searchsorted(t, x), np.sort(np.concatenate([f32(40), ORDERED])), np.concatenate([f32(300), ORDERED]))
case("search_zeros", lambda t, x: jnp.searchsorted(t, x, side="right"), np.array([-1, -0.0, 0.0, 0.0, 1], np.float32), np.array([0.0, -0.0, 1, -1, 2], np.float32))
case("search_one", lambda t, x: jnp.searchsorted(t, x), np.sort(f32(1000)), np.float32(0.1))
case("search_s32", lambda t, x: jnp.searchsorted(t, x), np.sort(ints(-50, 50, 300)), ints(-60, 60, 1013))
case("search_f64", lambda t, x: jnp.searchsorted(t, x), np.sort(f64(300)), f64(1013))
case("search_bf16", lambda t, x: jnp.searchsorted(t.astype(jnp.bfloat16), x.astype(jnp.bfloat16)), np.sort(f32(300)), f32(1013))
case("digitize", lambda x, t: jnp.digitize(x, t), f32(17, 61), np.sort(f32(33)))
case("histogram_floats", lambda x: jnp.histogram(x, 17)[0], f32(3001))
case("interpolate", lambda x, a, b: jnp.interp(x, a, b), f32(1013), np.sort(f32(70)), f32(70))
for mode in ("drop", "clip"):
    for name in ("set", "add", "multiply", "min", "max"):
        # Unique rows: the order of duplicate `set` is not defined.
        rows = np.array([3, -7, 1, 20, 8], np.int32)
        case(f"scatter_{name}_{mode}", lambda x, u, n=name, m=mode, r=rows: getattr(x.at[r], n)(u, mode=m), f32(9, 4), f32(5, 4))
case("scatter_add_duplicates", lambda x, i, u: x.at[i].add(u), f32(10, 3), ints(0, 10, 100), f32(100, 3), rtol=1e-4, atol=1e-4)
case("scatter_add_scalars", lambda x, i, u: x.at[i].add(u), ints(0, 9, 64), ints(0, 64, 5000), ints(-5, 5, 5000))
# Rows that are long enough to be cut into parts, with indices outside.
case("scatter_parts", lambda x, i, u: x.at[i].add(u, mode="drop"), f32(40, 200), ints(-60, 60, 400), f32(400, 200), rtol=1e-4, atol=1e-4)
case("scatter_parts_of_zeros", lambda i, u: jnp.zeros((40, 2, 200), np.float32).at[i].add(u), ints(0, 40, 300), f32(300, 2, 200), rtol=1e-4, atol=1e-4)
case("scatter_parts_moved", lambda x, i, u: jax.vmap(lambda i, u: lax.dynamic_update_slice(jnp.zeros((3, 300), np.float32), u, (np.int32(0), i)))(i, u), f32(1), ints(0, 150, 90), f32(90, 3, 150))
case("bag_sums", lambda t, i: jnp.sum(t[i], axis=1), f32(50, 24), ints(0, 50, 30, 7))
case("bag_maxima", lambda t, i: jnp.max(t[i], axis=0), f32(50, 24), ints(0, 50, 30, 7))
case("scatter_split", lambda x, i, u: x.at[i].add(u, mode="drop"), f32(9, 5), ints(-20, 20, 18000), f32(18000, 5), rtol=1e-4, atol=1e-3)
case("scatter_filled_rows", lambda i, u: jnp.zeros((3001, 200)).at[i].add(u, mode="drop"), ints(-20, 3020, 300), f32(300, 200), rtol=1e-5, atol=1e-6)
case("scatter_filled_rows_repeated", lambda i, u: jnp.full((3001, 200), 2.0).at[i].max(u), ints(0, 9, 300), f32(300, 200))
case("scatter_split_histogram", lambda i: jnp.zeros(50, np.int32).at[i].add(1), ints(0, 60, 30000))
case("scatter_split_max", lambda x, i, u: x.at[i[:, 0], i[:, 1]].max(u), f32(7, 6, 2), ints(0, 8, 18000, 2), f32(18000, 2))
case("scatter_short_rows", lambda x, i, u: x.at[:, i].min(u), ints(-90, 90, 3, 8, 13), ints(0, 8, 40), ints(-90, 90, 3, 40, 13))
case("scatter_columns", lambda x, u: x.at[:, np.array([4, 1])].set(u), f32(6, 5), f32(6, 2))
case("scatter_nd", lambda x, i, j, u: x.at[i, j].mul(u), f64(7, 8), np.arange(5), np.arange(5) + 2, f64(5))
case("scatter_vmap", jax.vmap(lambda x, i, u: x.at[i].add(u)), f32(3, 8, 2), ints(0, 8, 3, 5), f32(3, 5, 2))
case("scatter_apply", lambda x: x.at[np.array([1, 3])].apply(jnp.sin), f32(6))
case("segment_sum", lambda x, s: jax.ops.segment_sum(x, s, 9), f32(200, 4), ints(0, 9, 200), rtol=1e-4, atol=1e-4)
case("embedding_grad", jax.grad(lambda t, i: jnp.sum(jnp.tanh(t[i]) ** 2)), f32(30, 8), ints(0, 30, 17))
case("scatter_c64", lambda x, u: x.at[np.array([2, 0, 2])].add(u), c64(4, 3), c64(3, 3))
case("histogram", lambda x: jnp.bincount(x, length=16), ints(0, 16, 3000))
case("dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (3, 4)), f32(7, 9), np.int32(6), np.int32(-2))
case("dynamic_update_slice", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), f32(7, 9), f32(2, 5), np.int64(9), np.int64(-3))
case("dynamic_slice_u64", lambda x, i: lax.dynamic_slice(x, (i,), (3,)), f32(9), np.uint64(2**64 - 2))
case("nonzero", lambda x: jnp.nonzero(x > 0.5, size=20, fill_value=-1), f32(50))
case("unique", lambda x: jnp.unique(x, size=9, fill_value=0), ints(0, 9, 40))

# --- contractions -----------------------------------------------------------------------------------------------------
for equation, *shapes in (("ij,jk->ik", (17, 23), (23, 9)), ("ij,kj->ik", (17, 23), (9, 23)), ("ji,jk->ik", (23, 17), (23, 9)),
                          ("bij,bjk->bik", (3, 5, 6), (3, 6, 7)), ("bhqd,bkhd->bhqk", (2, 3, 4, 5), (2, 6, 3, 5)),
                          ("i,i->", (40,), (40,)), ("i,j->ij", (7,), (9,)), ("ij,j->i", (12, 30), (30,)),
                          ("aij,ija->", (3, 4, 5), (4, 5, 3)), ("ijk,lkj->il", (4, 5, 6), (7, 6, 5)),
                          ("abcd,cbe->ade", (2, 3, 4, 5), (4, 3, 6)), ("ij,jk->ik", (3, 0), (0, 4))):
    arrays = [f32(*shape) for shape in shapes]
    case(f"einsum_{equation}_{len(CASES)}", lambda *a, e=equation: jnp.einsum(e, *a), *arrays, rtol=1e-4, atol=1e-4)
case("dot_bf16", lambda a, b: jnp.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16), preferred_element_type=np.float32),
     f32(9, 64), f32(64, 7), rtol=1e-3, atol=1e-3)
case("dot_f16", lambda a, b: jnp.dot(a.astype(np.float16), b.astype(np.float16)).astype(np.float32), f32(9, 64), f32(64, 7),
     rtol=5e-3, atol=2e-2)
case("dot_i8_i32", lambda a, b: lax.dot(a, b, preferred_element_type=np.int32), ints(-128, 128, 9, 300, dtype=np.int8),
     ints(-128, 128, 300, 4, dtype=np.int8))
case("dot_i8_few_rows", lambda a, b: lax.dot(a, b, preferred_element_type=np.int32), ints(-128, 128, 3, 512, dtype=np.int8),
     ints(-128, 128, 512, 192, dtype=np.int8))
case("dot_i8_transposed", lambda a, b: lax.dot(a, b.T, preferred_element_type=np.int32), ints(-128, 128, 1, 1024, dtype=np.int8),
     ints(-128, 128, 128, 1024, dtype=np.int8))
case("dot_i8_tiles", lambda a, b: lax.dot(a, b, preferred_element_type=np.int32), ints(-128, 128, 70, 5001, dtype=np.int8),
     ints(-128, 128, 5001, 130, dtype=np.int8))
case("dot_i8_scaled", lambda a, b, s: lax.dot(a, b, preferred_element_type=np.int32).astype(np.float32) * s, ints(-128, 128, 33, 256, dtype=np.int8),
     ints(-128, 128, 256, 100, dtype=np.int8), f32(100), rtol=0, atol=0)
case("dot_u8_i32", lambda a, b: lax.dot(a, b, preferred_element_type=np.int32), ints(0, 256, 9, 30, dtype=np.uint8),
     ints(0, 256, 30, 4, dtype=np.uint8))
case("dot_f64", lambda a, b: a @ b, f64(9, 30), f64(30, 5), rtol=1e-12, atol=1e-12)
case("dot_c64", lambda a, b: a @ b, c64(9, 30), c64(30, 5), rtol=1e-4, atol=1e-4)
case("dot_f8", lambda a, b: lax.dot(a.astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e4m3fn),
                                    preferred_element_type=np.float32), f32(5, 16), f32(16, 4), rtol=1e-4, atol=1e-4)


def conv(shape, kernel, strides, padding, numbers, lhs=None, rhs=None, groups=1, batch=1, dtype=np.float32):
    a, b = RANDOM.standard_normal(shape).astype(dtype), RANDOM.standard_normal(kernel).astype(dtype)
    function = lambda x, k: lax.conv_general_dilated(  # noqa: E731
        x, k, strides, padding, lhs_dilation=lhs, rhs_dilation=rhs, dimension_numbers=numbers, feature_group_count=groups,
        batch_group_count=batch)
    return function, a, b


NHWC, NCHW = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")
for index, arguments in enumerate((
        ((2, 9, 10, 3), (3, 3, 3, 4), (1, 1), "SAME", NHWC), ((2, 9, 10, 3), (3, 2, 3, 4), (2, 3), "VALID", NHWC),
        ((2, 3, 9, 10), (4, 3, 3, 3), (2, 2), [(1, 1), (0, 2)], NCHW), ((1, 9, 9, 4), (3, 3, 1, 4), (1, 1), "SAME", NHWC, None, None, 4),
        ((1, 9, 9, 4), (3, 3, 2, 6), (1, 2), "SAME", NHWC, None, None, 2), ((2, 7, 7, 3), (3, 3, 3, 2), (1, 1), [(2, 2), (1, 3)], NHWC, (2, 2)),
        ((2, 11, 11, 3), (3, 3, 3, 2), (1, 1), "VALID", NHWC, None, (2, 3)), ((4, 8, 8, 3), (3, 3, 3, 6), (1, 1), "SAME", NHWC, None, None, 1, 2),
        ((2, 12, 12, 3), (3, 3, 3, 2), (1, 1), [(-1, -2), (-3, 0)], NHWC), ((2, 20, 3), (5, 3, 4), (2,), "SAME", ("NWC", "WIO", "NWC")),
        ((1, 5, 6, 7, 2), (2, 3, 2, 2, 3), (1, 2, 1), "SAME", ("NDHWC", "DHWIO", "NDHWC")),
        ((8, 8, 3, 2), (3, 3, 4, 3), (1, 1), "SAME", ("HWCN", "HWOI", "CNHW")),
        ((2, 7, 7, 3), (3, 3, 3, 2), (2, 1), [(2, 2), (-1, 3)], NHWC, (3, 2), (1, 2)), ((2, 3), (3, 4), (), [], ("NC", "IO", "NC")))):
    function, a, b = conv(*arguments)
    case(f"conv_{index}", function, a, b, rtol=1e-4, atol=1e-4)
conv_loss = conv((2, 9, 10, 3), (3, 3, 3, 4), (2, 2), "SAME", NHWC)
case("conv_grad", jax.grad(lambda x, k: jnp.sum(conv_loss[0](x, k) ** 2), argnums=(0, 1)), *conv_loss[1:], rtol=1e-3, atol=1e-3)
depthwise = conv((2, 9, 10, 4), (3, 3, 1, 8), (1, 1), "SAME", NHWC, None, None, 4)
case("conv_depthwise_grad", jax.grad(lambda x, k: jnp.sum(depthwise[0](x, k) ** 2), argnums=(0, 1)), *depthwise[1:], rtol=1e-3, atol=1e-3)
case("conv_transpose", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME"), f32(1, 5, 6, 3), f32(3, 3, 3, 2), rtol=1e-4, atol=1e-4)
case("conv_c64", *conv((1, 6, 6, 2), (2, 2, 2, 3), (1, 1), "SAME", NHWC, dtype=np.complex64), rtol=1e-4, atol=1e-4)
case("conv_f64", *conv((1, 6, 6, 2), (2, 2, 2, 3), (1, 1), "SAME", NHWC, dtype=np.float64), rtol=1e-12, atol=1e-12)


# --- factorizations: stablehlo text, since JAX on CPU calls LAPACK --------------------------------------------------
def spread(matrix):
    return matrix @ np.conj(np.swapaxes(matrix, -1, -2)) + 4 * np.eye(matrix.shape[-1], dtype=matrix.dtype)


MLIR = {np.dtype(np.float32): "f32", np.dtype(np.float64): "f64", np.dtype(np.complex64): "complex<f32>",
        np.dtype(np.complex128): "complex<f64>", np.dtype(np.uint64): "ui64", np.dtype(np.uint32): "ui32",
        np.dtype(np.uint16): "ui16", np.dtype(np.uint8): "ui8"}


def tensor(array):
    return f"tensor<{''.join(f'{d}x' for d in array.shape)}{MLIR[array.dtype]}>"


@pytest.mark.parametrize("dtype", (np.float32, np.float64, np.complex64, np.complex128))
@pytest.mark.parametrize("lower", (True, False))
def test_cholesky(dtype, lower, tmp_path):
    random = np.random.default_rng(1)
    m = random.standard_normal((3, 7, 7)) + (1j * random.standard_normal((3, 7, 7)) if np.issubdtype(dtype, np.complexfloating) else 0)
    a = spread(m).astype(dtype)
    want = np.linalg.cholesky(a)
    want = want if lower else np.conj(np.swapaxes(want, -1, -2))
    # The other triangle must not be read.
    spoiled = np.where(np.tri(7, dtype=bool) if lower else np.tri(7, dtype=bool).T, a, np.nan)
    path = tmp_path / "cholesky.mlir"
    path.write_text(f"func.func @main(%a: {tensor(a)}) -> {tensor(a)} {{\n  %0 = stablehlo.cholesky %a, lower = {str(lower).lower()} : {tensor(a)}\n"
                    f"  return %0 : {tensor(a)}\n}}\n")
    (got,), _ = tools.run_file(str(path), [spoiled.astype(dtype)], "--backend=compiled")
    tolerance = 1e-4 if np.finfo(dtype).bits == 32 else 1e-11
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", (np.float32, np.complex128))
@pytest.mark.parametrize("left", (True, False))
@pytest.mark.parametrize("lower", (True, False))
@pytest.mark.parametrize("transpose", ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"))
@pytest.mark.parametrize("unit", (True, False))
def test_triangular_solve(dtype, left, lower, transpose, unit, tmp_path):
    random = np.random.default_rng(2)
    imaginary = 1j if np.issubdtype(dtype, np.complexfloating) else 0
    a = (random.standard_normal((2, 5, 5)) + imaginary * random.standard_normal((2, 5, 5)) + 4 * np.eye(5)).astype(dtype)
    a = a * dtype(0.3)
    b = (random.standard_normal((2, 5, 3)) + imaginary * random.standard_normal((2, 5, 3))).astype(dtype)
    if not left:
        b = np.swapaxes(b, 1, 2).copy()
    matrix = np.tril(a) if lower else np.triu(a)
    if unit:
        matrix[:, range(5), range(5)] = 1
    applied = {"NO_TRANSPOSE": matrix, "TRANSPOSE": np.swapaxes(matrix, 1, 2), "ADJOINT": np.conj(np.swapaxes(matrix, 1, 2))}[transpose]
    want = np.linalg.solve(applied, b) if left else np.swapaxes(np.linalg.solve(np.swapaxes(applied, 1, 2), np.swapaxes(b, 1, 2)), 1, 2)
    path = tmp_path / "solve.mlir"
    path.write_text(f"""func.func @main(%a: {tensor(a)}, %b: {tensor(b)}) -> {tensor(b)} {{
  %0 = "stablehlo.triangular_solve"(%a, %b) <{{left_side = {str(left).lower()}, lower = {str(lower).lower()}, transpose_a = #stablehlo<transpose {transpose}>, unit_diagonal = {str(unit).lower()}}}> : ({tensor(a)}, {tensor(b)}) -> {tensor(b)}
  return %0 : {tensor(b)}
}}
""")
    (got,), _ = tools.run_file(str(path), [a, b], "--backend=compiled")
    tolerance = 1e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


# --- transforms and random numbers ------------------------------------------------------------------------------------
for length in (1, 2, 3, 4, 5, 8, 12, 15, 16, 30, 49, 61, 64, 67, 97, 128, 134, 360, 1000, 1009, 4096):
    case(f"fft_{length}", jnp.fft.fft, c128(2, length), rtol=1e-9, atol=1e-9)
case("fft_c64", jnp.fft.fft, c64(3, 240), rtol=1e-4, atol=1e-3)
case("fft_c64_chirp", jnp.fft.fft, c64(3, 1009), rtol=1e-3, atol=1e-3)
case("ifft", jnp.fft.ifft, c128(3, 60), rtol=1e-10, atol=1e-10)
case("fft2", jnp.fft.fft2, c128(3, 6, 10), rtol=1e-10, atol=1e-10)
case("ifftn", jnp.fft.ifftn, c128(4, 6, 5), rtol=1e-10, atol=1e-10)
for length in (1, 2, 7, 16, 67, 90):
    case(f"rfft_{length}", jnp.fft.rfft, f64(2, length), rtol=1e-10, atol=1e-10)
    case(f"irfft_{length}", lambda x, n=length: jnp.fft.irfft(x, n), c128(2, length // 2 + 1), rtol=1e-10, atol=1e-10)
case("rfft2", jnp.fft.rfft2, f32(2, 12, 9), rtol=1e-4, atol=1e-3)
case("irfftn", lambda x: jnp.fft.irfftn(x, (6, 8)), c64(6, 5), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", list(CASES))
def test_equals_jax(name, tmp_path):
    function, arguments, rtol, atol = CASES[name]
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    want = [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(lowered.compile()(*arguments))]
    path = tmp_path / "program.mlir"
    path.write_text(lowered.as_text())
    got, _ = tools.run_file(str(path), list(arguments), "--backend=compiled")
    assert len(got) == len(want)
    for have, expected in zip(got, want):
        assert have.shape == expected.shape and have.dtype == expected.dtype
        np.testing.assert_allclose(have, expected, rtol=0 if expected.dtype.kind in "biu" else rtol,
                                   atol=0 if expected.dtype.kind in "biu" else atol)


@pytest.mark.parametrize("algorithm", ("RNG_PHILOX", "RNG_THREE_FRY", "RNG_DEFAULT"))
@pytest.mark.parametrize("shape", ((), (1,), (5,), (8,), (3, 5), (3, 4), (4, 3, 3), (1001,)))
@pytest.mark.parametrize("dtype", (np.uint8, np.uint16, np.uint32, np.uint64))
def test_rng_bit_generator(algorithm, shape, dtype, tmp_path):
    state = np.array([2**40 + 3, 2**64 - 2], np.uint64)
    function = lambda s: lax.rng_bit_generator(s, shape, dtype, getattr(lax.RandomAlgorithm, algorithm))  # noqa: E731
    lowered = jax.jit(function).lower(state)
    want = [np.asarray(x) for x in lowered.compile()(state)]
    path = tmp_path / "program.mlir"
    path.write_text(lowered.as_text())
    got, _ = tools.run_file(str(path), [state], "--backend=compiled")
    for have, expected in zip(got, want):
        np.testing.assert_array_equal(have, expected)


@pytest.mark.parametrize("distribution", ("UNIFORM", "NORMAL"))
def test_rng_distribution(distribution, tmp_path):
    path = tmp_path / "program.mlir"
    path.write_text(f"""func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<100x1000xf32> {{
  %s = stablehlo.constant dense<[100, 1000]> : tensor<2xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = {distribution} : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<100x1000xf32>
  return %0 : tensor<100x1000xf32>
}}
""")
    (got,), _ = tools.run_file(str(path), [np.float32(2), np.float32(5)], "--backend=compiled")
    if distribution == "UNIFORM":
        assert got.min() >= 2 and got.max() < 5 and abs(got.mean() - 3.5) < 0.02 and abs(got.std() - 3 / 12**0.5) < 0.02
    else:
        assert abs(got.mean() - 2) < 0.1 and abs(got.std() - 5) < 0.1 and 0.67 < np.mean(np.abs(got - 2) < 5) < 0.70
    assert len(np.unique(got)) > 90000
    assert abs(np.corrcoef(got.ravel()[:-1], got.ravel()[1:])[0, 1]) < 0.02


@pytest.mark.parametrize("element,dtype,low,high", [
    ("f16", np.float16, -2, 3), ("f64", np.float64, 1e10, 1e10 + 4), ("i8", np.int8, -100, 101), ("i32", np.int32, -7, 5),
    ("ui8", np.uint8, 3, 250), ("ui64", np.uint64, 5, 2**63), ("i64", np.int64, -2**62, 2**62)])
def test_rng_elements(element, dtype, low, high, tmp_path):
    """Uniform numbers of each kind of element, also of a shape that is known at run time only: range, mean, spread."""
    path = tmp_path / "program.mlir"
    path.write_text(f"""func.func @main(%a: tensor<{element}>, %b: tensor<{element}>, %n: tensor<1xi64>) -> (tensor<20000x{element}>, tensor<?x{element}>) {{
  %s = stablehlo.constant dense<[20000]> : tensor<1xi64>
  %0 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<{element}>, tensor<{element}>, tensor<1xi64>) -> tensor<20000x{element}>
  %1 = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<{element}>, tensor<{element}>, tensor<1xi64>) -> tensor<?x{element}>
  return %0, %1 : tensor<20000x{element}>, tensor<?x{element}>
}}
""")
    arguments = [np.array(low, dtype), np.array(high, dtype), np.array([15000])]
    results, _ = tools.run_file(str(path), arguments, "--backend=compiled")
    for got, count in zip(results, (20000, 15000)):
        assert got.shape == (count,) and got.dtype == dtype
        assert got.min() >= low and got.max() < high
        unit = (got.astype(np.float64) - low) / (float(high) - float(low))
        assert abs(unit.mean() - 0.5) < 0.02 + 0.5 / min(high - low, 1e3) and abs(unit.std() - 12**-0.5) < 0.02
    assert not np.array_equal(results[0][:15000], results[1])
