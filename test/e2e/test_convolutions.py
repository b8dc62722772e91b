# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions, their gradients and pooling as JAX writes them in PyTorch's layout, compiled, against JAX's CPU results."""
import numpy as np
import pytest

from benchmarks import tools

NCHW = ("NCHW", "OIHW", "NCHW")


def convolution(layout=NCHW, **more):
    from jax import lax

    def function(x, k):
        rank = x.ndim - 2
        wide = {name: (value,) * rank if isinstance(value, int) and name != "feature_group_count" else value
                for name, value in {"window_strides": 1, "padding": "SAME", **more}.items()}
        return lax.conv_general_dilated(x, k, dimension_numbers=layout, **wide)
    return function


def gradients(layout=NCHW, **more):
    import jax
    function = convolution(layout, **more)

    def both(x, k):
        y, pullback = jax.vjp(function, x, k)
        return pullback(y)
    return both


def pool(x):
    from jax import lax
    return lax.reduce_window(x, -np.float32(np.inf), lax.max, (1, 1, 3, 3), (1, 1, 2, 2), ((0, 0), (0, 0), (1, 1), (1, 1)))


def pooled_gradients(x, k):
    import jax
    y, pullback = jax.vjp(lambda x, k: pool(jax.nn.relu(convolution()(x, k))), x, k)
    return pullback(y)


def pool_gradient(x, g):
    """Many ties: the first greatest element of a window gets the gradient. 19 channels: two vectors and a rest."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    function = lambda x: lax.reduce_window(x, -np.float32(np.inf), lax.max, (1, 3, 2, 1), (1, 2, 1, 1), "SAME")  # noqa: E731
    y, pullback = jax.vjp(function, jnp.round(x))
    return pullback(jnp.broadcast_to(g, y.shape))


def complex_sums(x, y):
    from jax import lax
    return lax.reduce_window(lax.complex(x, y), np.complex64(1), lax.add, (2, 2), (1, 1), "VALID"), \
        lax.reduce_window(lax.complex(y, x), np.complex64(0), lax.add, (3, 1), (2, 1), "SAME")


def windows(kind, size, step, low, high, dilation=1):
    """Windows over the trailing dimensions that `size` has, in PyTorch's layout."""
    from jax import lax
    start, reducer = {"max": (-np.inf, lax.max), "min": (np.inf, lax.min), "sum": (0, lax.add)}[kind]

    def function(x):
        lead = x.ndim - len(size)
        padding = ((0, 0),) * lead + tuple(zip(low, high))
        return lax.reduce_window(x, np.array(start, x.dtype), reducer, (1,) * lead + size, (1,) * lead + step, padding,
                                 window_dilation=(1,) * lead + (dilation,) * len(size))
    return function


def max_gradient(size, step, low, high):
    """Rounded, so that there are ties."""
    import jax
    import jax.numpy as jnp

    def function(x, g):
        y, pullback = jax.vjp(windows("max", size, step, low, high), jnp.round(x))
        return pullback(jnp.broadcast_to(g, y.shape))
    return function


def special_gradient(window, step, padding):
    """Whole windows of -inf, which then lose against what JAX puts around the operand, and NaN beside the border."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    def function(x, g):
        x = jnp.where(x < 0.6, -np.float32(np.inf), jnp.where(x > 1.5, np.float32(np.nan), jnp.round(x)))
        y, pullback = jax.vjp(lambda x: lax.reduce_window(x, -np.float32(np.inf), lax.max, window, step, padding), x)
        return pullback(jnp.broadcast_to(g, y.shape))
    return function


def block(x, k, scale, last):
    import jax
    y = jax.nn.relu(convolution()(x, k) * scale[None, :, None, None] + scale[None, :, None, None])
    return jax.nn.relu(convolution()(y, last) + x), y.sum((0, 2, 3))


CASES = {
    "residual_block": (block, (2, 16, 9, 7), (16, 16, 3, 3), (16,), (16, 16, 3, 3)),
    "stride_2": (gradients(window_strides=2), (2, 16, 9, 7), (24, 16, 3, 3)),
    "stride_3_valid": (gradients(window_strides=3, padding="VALID"), (2, 9, 17, 16), (10, 9, 2, 4)),
    "pointwise_stride_2": (gradients(window_strides=2), (2, 16, 8, 7), (24, 16, 1, 1)),
    "seven": (gradients(window_strides=2, padding=((3, 3), (3, 3))), (2, 3, 32, 32), (16, 3, 7, 7)),
    "long_sums": (gradients(), (2, 16, 60, 56), (16, 16, 3, 3)),
    "channels_last": (gradients(("NHWC", "HWIO", "NHWC"), window_strides=2), (2, 9, 8, 16), (3, 3, 16, 24)),
    "depthwise": (gradients(feature_group_count=16), (2, 16, 9, 7), (16, 1, 3, 3)),
    "depthwise_rest_of_row": (convolution(("NHWC", "HWIO", "NHWC"), feature_group_count=48), (2, 5, 17, 48), (5, 5, 1, 48)),
    "depthwise_rest_of_lanes": (gradients(("NHWC", "HWIO", "NHWC"), window_strides=2, feature_group_count=91), (3, 9, 33, 91), (3, 3, 1, 91)),
    "depthwise_seven": (gradients(("NHWC", "HWIO", "NHWC"), feature_group_count=64), (1, 14, 14, 64), (7, 7, 1, 64)),
    "depthwise_uneven_border": (convolution(("NHWC", "HWIO", "NHWC"), padding=((0, 3), (4, 0)), feature_group_count=40), (2, 6, 7, 40), (2, 4, 1, 40)),
    "depthwise_thirteen": (gradients(feature_group_count=24), (2, 24, 19, 21), (24, 1, 13, 13)),
    "depthwise_thirty_one": (gradients(("NHWC", "HWIO", "NHWC"), feature_group_count=40), (1, 4, 37, 40), (2, 31, 1, 40)),
    "depthwise_dilated": (gradients(("NHWC", "HWIO", "NHWC"), rhs_dilation=3, feature_group_count=32), (2, 11, 13, 32), (3, 3, 1, 32)),
    "depthwise_audio": (gradients(("NCH", "OIH", "NCH"), window_strides=2, feature_group_count=20), (2, 20, 77), (20, 1, 5)),
    "depthwise_steps_last": (gradients(("NHC", "OIH", "NCH"), feature_group_count=40), (2, 37, 40), (40, 1, 31)),
    "depthwise_steps_first": (gradients(("NCH", "OIH", "NHC"), feature_group_count=41), (2, 41, 37), (41, 1, 4)),
    "depthwise_weights_first": (gradients(("NHC", "OIH", "NHC"), padding=((3, 0),), feature_group_count=40), (2, 37, 40), (40, 1, 4)),
    "depthwise_video": (gradients(("NDHWC", "DHWIO", "NDHWC"), feature_group_count=17), (2, 4, 6, 9, 17), (3, 3, 3, 1, 17)),
    "groups": (gradients(feature_group_count=4, window_strides=2), (2, 16, 9, 7), (32, 4, 3, 3)),
    "dilated": (gradients(rhs_dilation=3, window_strides=2), (1, 16, 15, 14), (24, 16, 3, 3)),
    "audio": (gradients(("NCH", "OIH", "NCH"), window_strides=3), (2, 8, 37), (24, 8, 5)),
    "video": (gradients(("NCDHW", "OIDHW", "NCDHW"), window_strides=2), (2, 8, 5, 6, 7), (9, 8, 3, 3, 3)),
    "pooled": (pooled_gradients, (2, 16, 9, 7), (16, 16, 3, 3)),
    "pool_gradient": (pool_gradient, (3, 9, 7, 19), (1, 5, 7, 19)),
    "max_3x3_step_2": (windows("max", (3, 3), (2, 2), (1, 1), (1, 1)), (2, 5, 37, 41)),
    "sum_complex": (complex_sums, (4, 6), (4, 6)),
    "sum_2x5": (windows("sum", (2, 5), (1, 1), (0, 2), (1, 2)), (3, 11, 13)),
    "max_dilated": (windows("max", (3, 2), (1, 3), (2, 0), (2, 1), dilation=2), (2, 3, 17, 30)),
    "min_video": (windows("min", (2, 3, 2), (2, 1, 4), (0, 1, 0), (0, 1, 0)), (2, 3, 7, 9, 19)),
    "max_long_row": (windows("max", (5,), (2,), (3,), (1,)), (2, 9001)),
    "sum_wide_window": (windows("sum", (20,), (5,), (0,), (0,)), (3, 200)),
    "max_gradient_3x3": (max_gradient((3, 3), (2, 2), (1, 1), (1, 1)), (2, 3, 21, 37), (1, 11, 19)),
    "max_gradient_overlapping": (max_gradient((2, 3), (1, 1), (0, 2), (1, 2)), (2, 3, 7, 18), (1, 7, 20)),
    "max_gradient_special": (special_gradient((1, 3, 3), (1, 2, 2), ((0, 0), (1, 1), (1, 1))), (6, 21, 37), (6, 11, 19)),
    "max_gradient_special_channels": (special_gradient((1, 3, 2, 1), (1, 2, 1, 1), ((0, 0), (1, 1), (1, 0), (0, 0))),
                                      (2, 9, 7, 19), (2, 5, 7, 19)),
    "max_gradient_audio": (max_gradient((4,), (4,), (0,), (0,)), (3, 130), (1, 32)),
    "transposed": (convolution(lhs_dilation=(2, 2), padding=((2, 2), (1, 3))), (2, 16, 5, 6), (24, 16, 3, 4)),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_equals_jax(name, tmp_path):
    import jax

    function, *shapes = CASES[name]
    draw = np.random.default_rng(11)
    inputs = [draw.standard_normal(shape, dtype=np.float32) for shape in shapes]
    lowered = jax.jit(function).lower(*inputs)
    want = [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(lowered.compile()(*inputs))]
    path = tmp_path / "program.mlir"
    path.write_text(lowered.as_text())
    got, _ = tools.run_file(str(path), inputs, "--backend=compiled")
    assert len(got) == len(want)
    for mine, theirs in zip(got, want):
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_narrow_sums_of_any_length(dtype, tmp_path):
    """Products and convolutions of narrow numbers whose sums the matrix unit does not take as they are; infinities stay where they belong."""
    import jax
    import jax.numpy as jnp
    from jax import lax
    import ml_dtypes

    kind = {"bfloat16": ml_dtypes.bfloat16, "int8": np.int8}[dtype]
    wide = np.float32 if dtype == "bfloat16" else np.int32
    shapes = [((65, 131), (131, 71)), ((3, 33, 97), (3, 97, 40)), ((2, 15, 17, 37), (3, 3, 37, 41)), ((2, 15, 17, 40), (1, 1, 40, 33)), ((1, 13, 30, 20), (2, 3, 20, 50))]

    def products(*xs):
        made = []
        for a, b in zip(xs[::2], xs[1::2]):
            if a.ndim < 4:
                made += [jnp.matmul(a, b, preferred_element_type=wide), jnp.matmul(jnp.swapaxes(b, -1, -2), jnp.swapaxes(a, -1, -2), preferred_element_type=wide)]
            else:
                made += [lax.conv_general_dilated(a, b, (stride, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=wide)
                         for stride, padding in ((1, "SAME"), (2, "VALID"))]
        return made

    draw = np.random.default_rng(5)
    inputs = [(draw.standard_normal(shape) if dtype == "bfloat16" else draw.integers(-128, 128, shape)).astype(kind) for pair in shapes for shape in pair]
    if dtype == "bfloat16":
        inputs[0][3, 7], inputs[4][0, 3, 4, 5] = np.inf, -np.inf
    lowered = jax.jit(products).lower(*inputs)
    # XLA:CPU's own products of bf16 may round between; of wider numbers these are exact enough.
    want = [np.asarray(leaf) for leaf in jax.jit(products)(*[x.astype(wide) for x in inputs])]
    path = tmp_path / "program.mlir"
    path.write_text(lowered.as_text())
    got, _ = tools.run_file(str(path), inputs, "--backend=compiled")
    for mine, theirs in zip(got, want):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-4 if dtype == "bfloat16" else 0, atol=1e-3 if dtype == "bfloat16" else 0)
