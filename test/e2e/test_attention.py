# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as models write it is one kernel, compiled, against JAX's CPU results; what masks do at their edges."""
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
