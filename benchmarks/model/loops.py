# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose time is a while loop: an LSTM by scan, the Mandelbrot set."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.program import Program, Weights


def lstm(batch=16, steps=64, width=256):
    def inputs(seed):
        draw = Weights(seed)
        return (draw.matrix(width, 4 * width), draw.matrix(width, 4 * width), draw.normal(4 * width, scale=0.1),
                draw.normal(steps, batch, width))

    def sigmoid(x):
        return 1 / (1 + jnp.exp(-x))

    def function(from_input, from_hidden, bias, xs):
        def step(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ from_input + h @ from_hidden + bias, 4, axis=-1)
            c = sigmoid(f) * c + sigmoid(i) * jnp.tanh(g)
            h = sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((batch, width), jnp.float32)
        (h, c), hs = lax.scan(step, (zero, zero), xs)
        return hs, h, c

    def in_torch(from_input, from_hidden, bias, xs):
        import torch

        h = c = torch.zeros(batch, width)
        hs = []
        for x in xs.unbind(0):
            i, f, g, o = (x @ from_input + h @ from_hidden + bias).chunk(4, -1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            hs.append(h)
        return torch.stack(hs), h, c

    return Program(f"lstm_scan_t{steps}_{batch}x{width}_f32", function, inputs, 1e-4, 1e-4, in_torch, "an LSTM layer by scan")


def mandelbrot(size=512, limit=200):
    """Iterations until |z| > 2 for a size x size window, all points at once until none is left or `limit` is reached."""

    def inputs(seed):
        shift = np.float32(0.001 * np.random.default_rng(seed).random())
        return (np.linspace(-2, 0.5, size, dtype=np.float32) + shift)[None, :], np.linspace(-1.25, 1.25, size, dtype=np.float32)[:, None]

    def function(re, im):
        re, im = jnp.broadcast_to(re, (size, size)), jnp.broadcast_to(im, (size, size))

        def inside(x, y):
            return x * x + y * y <= 4

        def more(state):
            step, x, y, count = state
            return (step < limit) & jnp.any(inside(x, y))

        def body(state):
            step, x, y, count = state
            stays = inside(x, y)
            return (step + 1, jnp.where(stays, x * x - y * y + re, x), jnp.where(stays, 2 * x * y + im, y),
                    count + stays.astype(jnp.int32))

        zero = jnp.zeros((size, size), jnp.float32)
        return lax.while_loop(more, body, (jnp.int32(0), zero, zero, jnp.zeros((size, size), jnp.int32)))[3]

    def in_torch(re, im):
        import torch

        re, im = re.expand(size, size), im.expand(size, size)
        x = y = torch.zeros(size, size)
        count = torch.zeros(size, size, dtype=torch.int32)
        for _ in range(limit):
            stays = x * x + y * y <= 4
            if not bool(stays.any()):
                break
            x, y = torch.where(stays, x * x - y * y + re, x), torch.where(stays, 2 * x * y + im, y)
            count = count + stays.int()
        return count

    return Program(f"mandelbrot_while_{size}x{size}_f32", function, inputs, 5e-3, 0, in_torch, "the Mandelbrot set by while")


PROGRAMS = [lstm(), mandelbrot()]
