# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops: scalars, vectors, recurrences."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import case, integers, positive


def newton(x, turns=1000):
    return lax.fori_loop(0, turns, lambda i, y: 0.5 * (y + x / y) + np.float32(1e-3) * jnp.sin(y), x)


def collatz(n):
    def step(state):
        values, count = state
        live = values != 1
        following = jnp.where(values % 2 == 0, values // 2, 3 * values + 1)
        return jnp.where(live, following, values), count + live.astype(jnp.int32)

    return lax.while_loop(lambda state: jnp.any(state[0] != 1), step, (n, jnp.zeros_like(n)))[1]


def power_iteration(a, x, turns=50):
    def step(_, v):
        w = a @ v
        return w * lax.rsqrt(jnp.sum(w * w))

    return lax.fori_loop(0, turns, step, x)


def gated_recurrence(h, xs, w, u):
    def step(h, x):
        gate = 1 / (1 + jnp.exp(-(x @ w[0] + h @ u[0])))
        h = (1 - gate) * h + gate * jnp.tanh(x @ w[1] + h @ u[1])
        return h, h

    return lax.scan(step, h, xs)[1]


def game_of_life(board, turns=20):
    def step(_, cells):
        rolls = [jnp.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
        neighbours = sum(rolls)
        return ((neighbours == 3) | ((neighbours == 2) & (cells == 1))).astype(jnp.int32)

    return lax.fori_loop(0, turns, step, board)


def heat(x, turns=20):
    def step(_, t):
        return t.at[1:-1, 1:-1].add(np.float32(0.1) * (t[2:, 1:-1] + t[:-2, 1:-1] + t[1:-1, 2:] + t[1:-1, :-2] - 4 * t[1:-1, 1:-1]))

    return lax.fori_loop(0, turns, step, x)


def programs():
    return [
        case("loop_newton_1000_f32", newton, lambda draw: np.float32(draw.random.uniform(2, 9)), rtol=1e-3, source="a scalar loop"),
        case("loop_collatz_1000_s32", collatz, lambda draw: 1 + integers(10000, 1000)(draw), source="a loop of unknown length"),
        case("loop_power_iteration_512_f32", power_iteration, lambda draw: abs(draw.matrix(512, 512)), positive(512), rtol=1e-3,
             source="principal component"),
        case("loop_gru_t32_8x128_f32", gated_recurrence, (8, 128), (32, 8, 128), lambda draw: draw.normal(2, 128, 128, scale=0.1),
             lambda draw: draw.normal(2, 128, 128, scale=0.1), rtol=1e-3, atol=1e-3, source="speech recognition"),
        case("loop_life_256x256_s32", game_of_life, integers(2, 256, 256), source="a cellular automaton"),
        case("loop_heat_256x256_f32", heat, (256, 256), source="a stencil"),
    ]
