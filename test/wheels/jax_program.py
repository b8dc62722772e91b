# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a JAX user tries first on an installed wheel; scripts/try-wheels runs it in clean systems. Exit status 0 if all values are right."""
import jax
import jax.numpy as jnp
import numpy as np

version = jax.devices()[0].client.platform_version
assert "millrace" in version.lower(), f"expected Millrace, but got {version}"


def loss(weights: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((jnp.tanh(x @ weights) - y) ** 2)


def run() -> None:
    x = np.linspace(-1, 1, 64 * 32, dtype=np.float32).reshape(64, 32)
    y = np.sin(x[:, :4])
    weights = np.full((32, 4), 0.01, np.float32)
    first = float(loss(weights, x, y))
    step = jax.jit(lambda w: w - 0.1 * jax.grad(loss)(w, x, y))
    for _ in range(20):
        weights = step(weights)
    last = float(loss(weights, x, y))
    assert last < 0.6 * first, (first, last)
    # LAPACK, the convolution kernels and the random numbers come from other parts of the wheel than what the compiler emits.
    spd = x[:32].T @ x[:32] + 4 * np.eye(32, dtype=np.float32)
    np.testing.assert_allclose(jnp.linalg.solve(spd, x[:32]), np.linalg.solve(spd, x[:32]), rtol=2e-4, atol=2e-5)
    image = np.arange(2 * 3 * 8 * 8, dtype=np.float32).reshape(2, 3, 8, 8)
    kernel = np.ones((5, 3, 3, 3), np.float32)
    got = jax.lax.conv(image, kernel, (1, 1), "VALID")
    want = sum(image[:, :, i:i + 6, j:j + 6] for i in range(3) for j in range(3)).sum(1, keepdims=True).repeat(5, 1)
    np.testing.assert_allclose(got, want)
    draws = jax.random.normal(jax.random.key(0), (10000,))
    assert abs(float(draws.mean())) < 0.05 and abs(float(draws.std()) - 1) < 0.05
    np.testing.assert_allclose(jnp.fft.fft(x[0]), np.fft.fft(x[0]), rtol=1e-4, atol=1e-4)


run()
print("jax", jax.__version__, version.splitlines()[0])
