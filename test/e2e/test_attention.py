# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as models write it is one kernel and its backward pass another, compiled, against JAX's CPU results; what masks do at their edges."""
import numpy as np
import pytest

from benchmarks import tools


def softmax(x):
    import jax.numpy as jnp
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return e / jnp.sum(e, axis=-1, keepdims=True)


def plain(q, k, v):
    import jax.numpy as jnp
    return jnp.einsum("bhqk,bhkd->bhqd", softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) * np.float32(0.3)), v)


def causal(low=-np.inf, shift=0):
    def function(q, k, v):
        import jax.numpy as jnp
        from jax import lax
        x = jnp.einsum("bhqd,bhkd->bhqk", q, k)
        row, column = (lax.broadcasted_iota(np.int32, x.shape[2:], d) for d in (0, 1))
        return jnp.einsum("bhqk,bhkd->bhqd", softmax(jnp.where(row + shift >= column, x, np.float32(low))), v)
    return function


def added(q, k, v, low):
    """PyTorch's causal mask: 0 or a number is added."""
    import jax.numpy as jnp
    from jax import lax
    x = jnp.einsum("bhqd,bhkd->bhqk", q, k)
    row, column = (lax.broadcasted_iota(np.int32, x.shape[2:], d) for d in (0, 1))
    x = x + jnp.where(row >= column, jnp.zeros(x.shape[2:], x.dtype), jnp.broadcast_to(low, x.shape[2:]))
    return jnp.einsum("bhqk,bhkd->bhqd", softmax(x), v)


def bias(q, k, v, mask):
    import jax.numpy as jnp
    x = jnp.einsum("bqhd,bkhd->bhqk", q, k) + mask[:, None, None, :]
    return jnp.einsum("bhqk,bkhd->bqhd", softmax(x), v)


def library(q, k, v):
    import jax
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def heads(count, rows, keys, depth, width):
    return (1, count, rows, depth), (1, count, keys, depth), (1, count, keys, width)


# Masks of up to 65536 elements are folded to constants, and nothing is known of them then.
CASES = {
    "plain": (plain, heads(3, 50, 37, 16, 19)),
    "long": (plain, heads(2, 300, 700, 8, 8)),
    "causal": (causal(), heads(3, 300, 300, 16, 24)),
    "causal_keys_before": (causal(shift=60), heads(2, 250, 310, 16, 24)),
    "no_key_allowed": (causal(shift=-40), heads(2, 270, 270, 8, 8)),  # -inf everywhere: NaN
    "no_key_allowed_finite": (causal(low=-1e30, shift=-40), heads(2, 270, 270, 8, 8)),  # the mean of all values
    "mask_near_scores": (causal(low=-2.0), heads(2, 270, 270, 8, 8)),  # masked keys have weights
    "bias_of_keys": (bias, ((2, 40, 3, 8), (2, 70, 3, 8), (2, 70, 3, 16), (2, 70))),
    "heads_share_keys": (library, ((1, 96, 6, 16), (1, 96, 2, 16), (1, 96, 2, 16))),
}


def run(function, inputs, tmp_path):
    """(this compiler's result, JAX's)."""
    import jax
    lowered = jax.jit(function).lower(*inputs)
    want = np.asarray(lowered.compile()(*inputs))
    path = tmp_path / "program.mlir"
    path.write_text(lowered.as_text())
    (got,), _ = tools.run_file(str(path), inputs, "--backend=compiled", f"--profile={tmp_path / 'profile.json'}")
    assert '"attention"' in (tmp_path / "profile.json").read_text()
    return got, want


def normal(shapes):
    draw = np.random.default_rng(5)
    return [draw.standard_normal(shape, dtype=np.float32) for shape in shapes]


@pytest.mark.parametrize("name", sorted(CASES))
def test_equals_jax(name, tmp_path):
    function, shapes = CASES[name]
    got, want = run(function, normal(shapes), tmp_path)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5 * np.abs(want[np.isfinite(want)]).max())


@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_values_behind_the_mask(number, tmp_path):
    """0 times infinity is NaN in every row, also where the key is masked."""
    inputs = normal(heads(1, 270, 270, 8, 8))
    inputs[2][0, 0, 120, 3] = number
    got, want = run(causal(), inputs, tmp_path)
    assert np.isnan(want[0, 0, :120, 3]).all()
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_f16_weights_among_many(tmp_path):
    """Each of 20480 nearly equal weights is a subnormal f16; together they are 1."""
    inputs = [(0.05 * each).astype(np.float16) for each in normal(heads(1, 16, 20480, 16, 16))]
    inputs[2] += np.float16(1)
    got, _ = run(plain, inputs, tmp_path)
    np.testing.assert_allclose(got, np.broadcast_to(inputs[2].mean(2, dtype=np.float64)[:, :, None], got.shape), rtol=0.02)


def test_keys_behind_the_mask(tmp_path):
    """A choice does not look at what it leaves."""
    inputs = normal(heads(1, 270, 270, 8, 8))
    inputs[1][0, 0, 120] = np.nan
    got, want = run(causal(low=-1e9), inputs, tmp_path)
    assert np.isfinite(want[0, 0, :120]).all() and np.isnan(want[0, 0, 120:]).all()
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("low, key", [(-np.inf, 1.0), (-np.inf, np.inf), (-np.inf, 1e30), (-1.0, 1.0)])
def test_added_mask(low, key, tmp_path):
    """Scores of infinite keys minus infinity are NaN."""
    inputs = normal(heads(2, 270, 270, 8, 8))
    inputs[1][0, 1, 140] *= np.float32(key)
    got, want = run(added, [*inputs, np.float32(low)], tmp_path)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def narrow(function, wide_weights):
    """Of bf16: scores of f32, as jax.nn.dot_product_attention has them, and weights of bf16 or f32."""
    def of(q, k, v):
        import jax.numpy as jnp
        from jax import lax
        x = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=np.float32) * np.float32(0.3)
        if function == "causal":
            row, column = (lax.broadcasted_iota(np.int32, x.shape[2:], d) for d in (0, 1))
            x = jnp.where(row >= column, x, np.float32(-1e30))
        weights = softmax(x)
        return jnp.einsum("bhqk,bhkd->bhqd", weights, v.astype(np.float32)) if wide_weights else \
            jnp.einsum("bhqk,bhkd->bhqd", weights.astype(v.dtype), v, preferred_element_type=np.float32)
    return of


@pytest.mark.parametrize("wide_weights", [True, False])
@pytest.mark.parametrize("function", ["plain", "causal"])
@pytest.mark.parametrize("shapes", [heads(3, 50, 37, 16, 19), heads(1, 300, 300, 33, 24), heads(2, 270, 290, 64, 64), heads(2, 17, 17, 40, 72)])
def test_bf16(shapes, function, wide_weights, tmp_path):
    """The matrix unit's sums are as exact as the vectors': weights of f32 are not rounded. Narrow weights are, one in 2^9."""
    import jax.numpy as jnp
    inputs = [np.asarray(jnp.asarray(each, jnp.bfloat16)) for each in normal(shapes)]
    got, want = run(narrow(function, wide_weights), inputs, tmp_path)
    bound = 2e-6 if wide_weights else 2.0**-9
    np.testing.assert_allclose(got, want, rtol=bound, atol=bound * np.abs(want).max())


@pytest.mark.parametrize("function", ["plain", "causal"])
@pytest.mark.parametrize("wide_weights", [True, False])
@pytest.mark.parametrize("number", [np.inf, np.nan, 1e30])
def test_bf16_values_beyond_numbers(number, wide_weights, function, tmp_path):
    """An infinite value is infinite in every row that sees it: no part of a weight is 0 there."""
    import jax.numpy as jnp
    inputs = [np.array(jnp.asarray(each, jnp.bfloat16)) for each in normal(heads(1, 270, 270, 32, 8))]
    inputs[0][0, 0, 5] = 0  # equal weights, some of which are powers of two
    inputs[2][0, 0, 3, 3] = number
    got, want = run(narrow(function, wide_weights), inputs, tmp_path)
    np.testing.assert_allclose(got, want, rtol=2e-2, atol=1e-2)


def gradients(function):
    """Of queries, keys and values, for a gradient of the result."""
    def backward(g, *inputs):
        import jax
        return jax.vjp(function, *inputs)[1](g)
    return backward


def dropped(q, k, v, kept):
    """Dropout: some weights are 0, the others grow."""
    import jax
    import jax.numpy as jnp
    p = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k))
    return jnp.einsum("bhqk,bhkd->bhqd", jnp.where(kept > 0, p / np.float32(0.9), 0), v)


BACKWARD = {
    "plain": (plain, (1, 4, 50, 19), heads(4, 50, 37, 16, 19)),
    "rows_of_many_tiles": (plain, (1, 4, 300, 8), heads(4, 300, 140, 16, 8)),
    "causal": (causal(), (2, 4, 130, 24), ((2, 4, 130, 16), (2, 4, 130, 16), (2, 4, 130, 24))),
    "causal_rows_of_many_tiles": (causal(), (1, 4, 270, 24), heads(4, 270, 270, 16, 24)),
    "causal_keys_before": (causal(shift=60), (1, 4, 250, 8), heads(4, 250, 310, 16, 8)),
    "mask_near_scores": (causal(low=-2.0), (1, 4, 270, 8), heads(4, 270, 270, 8, 8)),
    "no_key_allowed": (causal(low=-1e30, shift=-40), (1, 4, 270, 8), heads(4, 270, 270, 8, 8)),
    "bias_of_keys": (bias, (2, 40, 3, 16), CASES["bias_of_keys"][1]),
    "library": (library, (2, 96, 4, 16), ((2, 96, 4, 16),) * 3),
    "heads_share_keys": (library, (2, 96, 6, 16), ((2, 96, 6, 16), (2, 96, 2, 16), (2, 96, 2, 16))),
    "dropout": (dropped, (1, 4, 50, 19), (*heads(4, 50, 37, 16, 19), (1, 4, 50, 37))),
}


def compiled(function, inputs, tmp_path):
    """(results, JAX's, the emitters of all kernels)."""
    import json

    import jax
    lowered = jax.jit(function).lower(*inputs)
    path = tmp_path / "program.mlir"
    path.write_text(lowered.as_text())
    got, _ = tools.run_file(str(path), inputs, "--backend=compiled", f"--profile={tmp_path / 'profile.json'}")
    emitters = [kernel["emitter"] for kernel in json.loads((tmp_path / "profile.json").read_text())]
    return got, jax.tree_util.tree_leaves(lowered.compile()(*inputs)), emitters


@pytest.mark.parametrize("name", sorted(BACKWARD))
def test_gradients_equal_jax(name, tmp_path):
    function, result, shapes = BACKWARD[name]
    draw = 3 if name == "bias_of_keys" else len(shapes)  # the bias's own gradient needs those of the scores
    inputs = normal((result, *shapes))
    backward = gradients(lambda *given: function(*given, *inputs[1 + draw:])) if draw < len(shapes) else gradients(function)
    got, want, emitters = compiled(backward, inputs[:1 + draw], tmp_path)
    assert emitters.count("attention") == 1 and "contraction" not in emitters
    for mine, theirs in zip(got, want):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("operand, number", [(0, np.inf), (0, 1e30), (1, np.nan), (1, 1e30), (2, np.inf), (3, np.nan), (3, 1e30)])
def test_gradients_behind_the_mask(operand, number, tmp_path):
    """0 times what is not a number is none, also where a key is masked: all keys count then."""
    inputs = normal(((1, 4, 270, 8), *heads(4, 270, 270, 8, 8)))
    inputs[operand][0, 1, 150, 3] = number
    got, want, emitters = compiled(gradients(causal(low=-1e30)), inputs, tmp_path)
    assert emitters.count("attention") == 1
    for mine, theirs in zip(got, want):
        rows = np.isfinite(theirs) & (np.abs(theirs) < 1e6)
        np.testing.assert_array_equal(np.isnan(mine), np.isnan(theirs))
        np.testing.assert_allclose(mine[rows], theirs[rows], rtol=1e-4, atol=1e-4)


def test_sums_of_rows_are_results(tmp_path):
    """What flash attention saves for its backward pass comes out of the same kernel."""
    def function(q, k, v):
        import jax.numpy as jnp
        x = jnp.einsum("bhqd,bhkd->bhqk", q, k)
        highest = jnp.max(x, -1, keepdims=True)
        e = jnp.exp(x - highest)
        total = jnp.sum(e, -1, keepdims=True)
        o = jnp.einsum("bhqk,bhkd->bhqd", e / total, v)
        return o, jnp.log(total) + highest

    got, want, emitters = compiled(function, normal(heads(3, 50, 37, 16, 19)), tmp_path)
    assert emitters.count("attention") == 1 and "contraction" not in emitters
    for mine, theirs in zip(got, want):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-5)


def test_training_keeps_no_weights(tmp_path):
    """Forward and backward pass of a layer are a kernel each, and their memory grows with the rows, not with rows times keys."""
    def loss(x, *weights):
        import jax.numpy as jnp
        q, k, v = (jnp.einsum("btm,mhd->bhtd", x, w) for w in weights[:3])
        return jnp.sum(jnp.einsum("bhtd,hdm->btm", plain(q, k, v), weights[3]) ** 2)

    def step(*inputs):
        import jax
        return jax.value_and_grad(loss, range(5))(*inputs)

    inputs = normal(((2, 200, 32), *((32, 4, 16),) * 3, (4, 16, 32)))
    got, want, emitters = compiled(step, inputs, tmp_path)
    assert emitters.count("attention") == 2
    for mine, theirs in zip(got, want):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-5 * np.abs(theirs).max())
    import json
    assert max(kernel["bytes_written"] for kernel in json.loads((tmp_path / "profile.json").read_text())) < 2 * 4 * 200 * 200 * 4
