# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops, recurrences, solvers and small training steps."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, integers, matrix

NEAR = dict(rtol=1e-3, atol=1e-2)


def lstm(x, w, u, b):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((x.shape[1], u.shape[0]), x.dtype)
    return lax.scan(step, (zeros, zeros), x)[1]


def selective_scan(a, b):
    """Mamba's: h = a h + b along the first dimension."""
    return lax.scan(lambda h, ab: (ab[0] * h + ab[1],) * 2, jnp.zeros_like(b[0]), (a, b))[1]


def associative(a, b):
    return lax.associative_scan(lambda l, r: (l[0] * r[0], l[1] * r[0] + r[1]), (a, b))[1]


def runge_kutta(y):
    def f(y):
        return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - np.float32(8 / 3) * y[2]])

    def step(_, y):
        h = np.float32(1e-3)
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))

    return lax.fori_loop(0, 500, step, y)


def mandelbrot(c):
    def step(_, state):
        zr, zi, n = state
        live = zr * zr + zi * zi < 4
        return jnp.where(live, zr * zr - zi * zi + c[0], zr), jnp.where(live, 2 * zr * zi + c[1], zi), n + live.astype(jnp.int32)

    return lax.fori_loop(0, 50, step, (jnp.zeros_like(c[0]), jnp.zeros_like(c[0]), jnp.zeros(c[0].shape, jnp.int32)))[2]


def conjugate_gradients(a, b):
    spd = a @ a.T + 64 * jnp.eye(a.shape[0], dtype=a.dtype)

    def step(_, state):
        x, r, p = state
        q = spd @ p
        alpha = r @ r / (p @ q)
        following = r - alpha * q
        return x + alpha * p, following, following + (following @ following) / (r @ r) * p

    return lax.fori_loop(0, 10, step, (jnp.zeros_like(b), b, b))[0]


def viterbi(scores, moves):
    def step(best, score):
        paths = best[:, None] + moves
        return jnp.max(paths, 0) + score, jnp.argmax(paths, 0).astype(jnp.int32)

    return lax.scan(step, scores[0], scores[1:])


def momentum(*arrays):
    count = len(arrays) // 3
    w, v, g = arrays[:count], arrays[count:2 * count], arrays[2 * count:]
    v = [np.float32(0.9) * a + b for a, b in zip(v, g)]
    return [a - np.float32(0.01) * b for a, b in zip(w, v)], v


def classifier_step(x, y, w1, b1, w2, b2):
    def loss(w):
        logits = jnp.maximum(x @ w[0] + w[1], 0) @ w[2] + w[3]
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))

    value, grads = jax.value_and_grad(loss)((w1, b1, w2, b2))
    return value, [w - np.float32(0.1) * g for w, g in zip((w1, b1, w2, b2), grads)]


def embedding_step(table, i, w):
    loss = lambda t: jnp.mean(jnp.tanh(jnp.sum(t[i], 1) @ w) ** 2)  # noqa: E731
    return table - np.float32(0.1) * jax.grad(loss)(table)


def beams(scores, logits):
    total = scores[:, None] + jax.nn.log_softmax(logits)
    best, place = lax.top_k(total.reshape(-1), 4)
    return best, place // logits.shape[1], place % logits.shape[1]


def nucleus(logits):
    order = -jnp.sort(-logits, -1)
    p = jax.nn.softmax(order, -1)
    cut = jnp.sum(jnp.cumsum(p, -1) < 0.9, -1)
    threshold = jnp.take_along_axis(order, cut[:, None], -1)
    return jnp.where(logits >= threshold, logits, np.float32(-1e30))


def programs():
    sizes = ((784, 256), (256,), (256, 10), (10,))
    return [
        case("lstm_t50_16x64x128_f32", lstm, (50, 16, 64), matrix(64, 512), matrix(128, 512), (512,), source="speech", **NEAR),
        case("lstm_t50_1x64x128_f32", lstm, (50, 1, 64), matrix(64, 512), matrix(128, 512), (512,), source="speech, one at a time", **NEAR),
        case("lstm_t20_8x64x128_bf16", lstm, bf16(20, 8, 64), lambda d: d.matrix(64, 512).astype(jnp.bfloat16), lambda d: d.matrix(128, 512).astype(
            jnp.bfloat16), bf16(512), rtol=5e-2, atol=5e-2, source="speech"),
        case("selective_scan_256x8x512_f32", selective_scan, lambda d: d.positive(256, 8, 512) * np.float32(0.6), (256, 8, 512), source="Mamba", **NEAR),
        case("associative_scan_1024x128_f32", associative, lambda d: d.positive(1024, 128) * np.float32(0.6), (1024, 128), source="S5", **NEAR),
        case("runge_kutta_3_f32", runge_kutta, lambda d: np.ones(3, np.float32), rtol=1e-2, atol=1e-2, source="Lorenz"),
        case("runge_kutta_3x1000_f32", runge_kutta, lambda d: d.around(1, 3, 1000), rtol=1e-2, atol=1e-1, source="Lorenz"),
        case("mandelbrot_300x300_f32", mandelbrot, lambda d: np.stack(np.meshgrid(np.linspace(-2, 1, 300), np.linspace(-1.5, 1.5, 300))).astype(np.float32),
             source="a fractal", rtol=0.3, atol=50),
        case("conjugate_gradients_256_f32", conjugate_gradients, lambda d: d.normal(256, 256) / 16, (256,), source="a solver", **NEAR),
        case("viterbi_100x64_f32", viterbi, (100, 64), (64, 64), source="tagging", **NEAR),
        case("momentum_10_tensors_f32", momentum, *[s for _ in range(3) for s in [(256, 256), (256,)] * 5], source="an optimizer", **NEAR),
        case("classifier_step_64_f32", classifier_step, (64, 784), integers(10, 64), *[matrix(*s) for s in sizes], source="MNIST",
             **NEAR),
        case("embedding_step_10000x32_f32", embedding_step, (10000, 32), integers(10000, 128, 10), matrix(32, 1), source="recommendation", **NEAR),
        case("beams_4x32000_f32", beams, (4,), (4, 32000), source="translation", **NEAR),
        case("nucleus_4x32000_f32", nucleus, (4, 32000), source="sampling", **NEAR),
        case("inverse_100x100_f32", lambda a: jnp.linalg.inv(a + 20 * jnp.eye(100)), (100, 100), source="statistics",
             torch_function=in_torch(lambda t, F, a: t.linalg.inv(a + 20 * t.eye(100))), **NEAR),
        case("solve_200x200_f32", lambda a, b: jnp.linalg.solve(a + 40 * jnp.eye(200), b), (200, 200), (200, 3), source="statistics",
             torch_function=in_torch(lambda t, F, a, b: t.linalg.solve(a + 40 * t.eye(200), b)), **NEAR),
        case("cholesky_64x32x32_f32", lambda a: jnp.linalg.cholesky(a @ a.transpose(0, 2, 1) + 8 * jnp.eye(32)), (64, 32, 32), source="Gaussian processes",
             torch_function=in_torch(lambda t, F, a: t.linalg.cholesky(a @ a.mT + 8 * t.eye(32))), **NEAR),
        case("svd_60x40_f32", lambda a: jnp.linalg.svd(a, compute_uv=False), (60, 40), source="statistics",
             torch_function=in_torch(lambda t, F, a: t.linalg.svdvals(a)), **NEAR),
        case("eigh_50x50_f32", lambda a: jnp.linalg.eigvalsh(a + a.T), (50, 50), source="statistics",
             torch_function=in_torch(lambda t, F, a: t.linalg.eigvalsh(a + a.T)), **NEAR),
        case("random_categorical_64x1000_f32", lambda k, x: jax.random.categorical(jax.random.wrap_key_data(k), x).astype(jnp.int32),
             integers(2**31, 2, dtype=np.uint32), (64, 1000), source="sampling"),
        case("random_permutation_10000_s32", lambda k: jax.random.permutation(jax.random.wrap_key_data(k), 10000), integers(2**31, 2, dtype=np.uint32),
             source="shuffling"),
        case("random_gamma_1000_f32", lambda k: jax.random.gamma(jax.random.wrap_key_data(k), np.float32(2.5), (1000,)),
             integers(2**31, 2, dtype=np.uint32), source="statistics", **NEAR),
    ]
