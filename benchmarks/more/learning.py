# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients through products, loops and solvers: training steps and statistics."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.program import Program, Weights

tree = jax.tree_util.tree_map


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1))


def step(loss, weights, rate):
    value, gradients = jax.value_and_grad(loss)(weights)
    return value, tree(lambda w, g: w - np.float32(rate) * g, weights, gradients)


def translator(words=500, size=128, batch=16, length=24):
    """Two recurrent networks, the second one attends to the first one's states."""

    def inputs(seed):
        draw = Weights(seed)
        cell = lambda: (draw.matrix(2 * size, 4 * size), draw.normal(4 * size, scale=0.1))
        ids = lambda steps: draw.random.integers(0, words, (steps, batch)).astype(np.int32)
        return ({"words": draw.normal(words, size), "encoder": cell(), "decoder": cell(), "join": draw.matrix(2 * size, size),
                 "out": draw.matrix(size, words)}, ids(length), ids(length + 1))

    def cell(w, state, x):
        h, c = state
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w[0] + w[1], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    def function(w, source, target):
        def loss(w):
            zero = jnp.zeros((batch, size))
            state, memory = lax.scan(lambda state, x: cell(w["encoder"], state, x), (zero, zero), w["words"][source])

            def decode(state, x):
                state, h = cell(w["decoder"], state, x)
                read = jnp.einsum("bt,tbc->bc", jax.nn.softmax(jnp.einsum("bc,tbc->bt", h, memory)), memory)
                return state, jnp.tanh(jnp.concatenate([read, h], -1) @ w["join"])

            return cross_entropy(lax.scan(decode, state, w["words"][target[:-1]])[1] @ w["out"], target[1:])

        return step(loss, w, 0.1)

    return Program(f"translator_train_{length}x{batch}x{size}_f32", function, inputs, 5e-3, 1e-3, None, "translation by LSTMs with attention")


def contrast(batch=256, image=768, text=512, size=256):
    def inputs(seed):
        draw = Weights(seed)
        return (draw.matrix(image, size), draw.matrix(text, size), np.float32(2.6)), draw.normal(batch, image), draw.normal(batch, text)

    def unit(v):
        return v / jnp.linalg.norm(v, axis=-1, keepdims=True)

    def function(w, x, y):
        def loss(w):
            logits, labels = unit(x @ w[0]) @ unit(y @ w[1]).T * jnp.exp(w[2]), jnp.arange(batch)
            return 0.5 * (cross_entropy(logits, labels) + cross_entropy(logits.T, labels))

        return jax.value_and_grad(loss)(w)

    return Program(f"contrast_train_{batch}x{image}x{text}_f32", function, inputs, 5e-3, 1e-3, None, "CLIP's loss and gradients")


def flow(size=32, hidden=128, batch=256, steps=20):
    """A network as the derivative of its state, integrated by Runge and Kutta's method; gradients back through all steps."""

    def inputs(seed):
        draw = Weights(seed)
        return ((draw.matrix(size, hidden), draw.normal(hidden, scale=0.1), draw.matrix(hidden, size), draw.normal(size, scale=0.1)),
                draw.normal(batch, size), draw.normal(batch, size))

    def function(w, x, y):
        def loss(w):
            def slope(x):
                return jnp.tanh(x @ w[0] + w[1]) @ w[2] + w[3]

            def advance(x, _):
                h = np.float32(1 / steps)
                a = slope(x)
                b = slope(x + h / 2 * a)
                c = slope(x + h / 2 * b)
                return x + h / 6 * (a + 2 * b + 2 * c + slope(x + h * c)), None

            return jnp.mean((lax.scan(advance, x, None, length=steps)[0] - y) ** 2)

        return step(loss, w, 0.1)

    return Program(f"flow_train_{batch}x{size}_f32", function, inputs, 5e-3, 1e-3, None, "a neural differential equation")


def monte_carlo(rows=1000, size=20, chains=8, samples=20, leaps=8):
    """Hamiltonian Monte Carlo: logistic regression's weights, several chains at once."""

    def inputs(seed):
        draw = Weights(seed)
        x = draw.normal(rows, size)
        return x, (x @ draw.normal(size) + draw.normal(rows) > 0).astype(np.float32), draw.normal(chains, size, scale=0.1), np.asarray([1, 9], np.uint32)

    def function(x, y, start, key):
        def potential(weights):
            z = x @ weights
            return jnp.sum(jax.nn.softplus(z) - y * z) + 0.5 * jnp.sum(weights * weights)

        slope, length = jax.vmap(jax.grad(potential)), np.float32(0.01)

        def energy(q, p):
            return jax.vmap(potential)(q) + 0.5 * jnp.sum(p * p, 1)

        def leap(_, state):
            q, p = state
            p = p - length / 2 * slope(q)
            q = q + length * p
            return q, p - length / 2 * slope(q)

        def sample(q, key):
            first, second = jax.random.split(key)
            p = jax.random.normal(first, q.shape)
            moved = lax.fori_loop(0, leaps, leap, (q, p))
            accepted = jnp.log(jax.random.uniform(second, (chains,))) < energy(q, p) - energy(*moved)
            q = jnp.where(accepted[:, None], moved[0], q)
            return q, q

        return lax.scan(sample, start, jax.random.split(jax.random.wrap_key_data(key), samples))[1]

    return Program(f"monte_carlo_{rows}x{size}x{chains}_f32", function, inputs, 1e-2, 1e-2, None, "Hamiltonian Monte Carlo")


def gaussian_process(rows=300, size=4, wanted=100):
    def inputs(seed):
        draw = Weights(seed)
        return draw.normal(rows, size), draw.normal(rows), draw.normal(wanted, size), np.float32(1)

    def function(x, y, points, width):
        def kernel(a, b, width):
            return jnp.exp(-0.5 * jnp.sum(((a[:, None] - b[None]) / width) ** 2, -1))

        def surprise(width):
            lower = jnp.linalg.cholesky(kernel(x, x, width) + 0.1 * jnp.eye(rows))
            weights = jax.scipy.linalg.cho_solve((lower, True), y)
            return 0.5 * y @ weights + jnp.sum(jnp.log(jnp.diagonal(lower))), (lower, weights)

        (value, (lower, weights)), gradient = jax.value_and_grad(surprise, has_aux=True)(width)
        near = kernel(points, x, width)
        part = jax.scipy.linalg.solve_triangular(lower, near.T, lower=True)
        return value, gradient, near @ weights, 1 - jnp.sum(part * part, 0)

    return Program(f"gaussian_process_{rows}x{size}_f32", function, inputs, 1e-2, 1e-2, None, "regression by a Gaussian process")


def programs():
    return [translator(), contrast(), flow(), monte_carlo(), gaussian_process()]
