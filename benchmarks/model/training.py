# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps: a perceptron with Adam, a small convolutional network with gradient descent and momentum."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.program import Program, Weights


def cross_entropy(logits, labels):
    shifted = logits - lax.stop_gradient(jnp.max(logits, axis=-1, keepdims=True))
    log_total = jnp.log(jnp.sum(jnp.exp(shifted), axis=-1))
    chosen = jnp.take_along_axis(shifted, labels[:, None], axis=-1)[:, 0]
    return jnp.mean(log_total - chosen)


def mlp_adam(batch=128, sizes=(784, 512, 512, 10), rate=1e-3):
    def inputs(seed):
        draw = Weights(seed)
        weights = [(draw.matrix(a, b), draw.normal(b, scale=0.02)) for a, b in zip(sizes, sizes[1:])]
        first = [(draw.normal(a, b, scale=0.01), draw.normal(b, scale=0.01)) for a, b in zip(sizes, sizes[1:])]
        second = [(draw.positive(a, b), draw.positive(b)) for a, b in zip(sizes, sizes[1:])]
        return (weights, first, second, np.int32(10), draw.normal(batch, sizes[0]),
                draw.random.integers(0, sizes[-1], batch).astype(np.int32))

    def loss(weights, x, labels):
        for w, b in weights[:-1]:
            x = jnp.maximum(x @ w + b, 0)
        w, b = weights[-1]
        return cross_entropy(x @ w + b, labels)

    def function(weights, first, second, step, x, labels):
        value, gradients = jax.value_and_grad(loss)(weights, x, labels)
        step = step + 1
        t = step.astype(jnp.float32)
        tree = jax.tree_util.tree_map
        first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
        scale1, scale2 = 1 / (1 - 0.9 ** t), 1 / (1 - 0.999 ** t)
        weights = tree(lambda p, m, v: p - rate * (m * scale1) / (jnp.sqrt(v * scale2) + 1e-8), weights, first, second)
        return weights, first, second, step, value

    def in_torch(weights, first, second, step, x, labels):
        import torch
        import torch.nn.functional as F

        leaves = [[p.detach().requires_grad_() for p in pair] for pair in weights]
        y = x
        for w, b in leaves[:-1]:
            y = F.relu(y @ w + b)
        value = F.cross_entropy(y @ leaves[-1][0] + leaves[-1][1], labels.long())
        gradients = torch.autograd.grad(value, [p for pair in leaves for p in pair])
        step = step + 1
        t = step.float()
        scale1, scale2 = 1 / (1 - 0.9 ** t), 1 / (1 - 0.999 ** t)
        new_weights, new_first, new_second, at = [], [], [], 0
        for pair, ms, vs in zip(weights, first, second):
            row = ([], [], [])
            for p, m, v in zip(pair, ms, vs):
                g = gradients[at]
                at += 1
                m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
                for part, item in zip(row, (p - rate * (m * scale1) / (torch.sqrt(v * scale2) + 1e-8), m, v)):
                    part.append(item)
            for part, item in zip((new_weights, new_first, new_second), row):
                part.append(tuple(item))
        return new_weights, new_first, new_second, step, value.detach()

    name = "x".join(str(s) for s in sizes)
    return Program(f"mlp_adam_b{batch}_{name}_f32", function, inputs, 1e-3, 1e-4, in_torch, "a perceptron, a step of Adam")


def conv_train(batch=32, size=28, rate=0.05):
    flat = (size // 4) ** 2 * 64

    def inputs(seed):
        draw = Weights(seed)
        weights = {"c1": draw.matrix(3, 3, 1, 32), "b1": draw.normal(32, scale=0.02),
                   "c2": draw.matrix(3, 3, 32, 64), "b2": draw.normal(64, scale=0.02),
                   "d": draw.matrix(flat, 10), "bd": draw.normal(10, scale=0.02)}
        momentum = {k: draw.normal(*v.shape, scale=0.01) for k, v in sorted(weights.items())}
        return weights, momentum, draw.normal(batch, size, size, 1), draw.random.integers(0, 10, batch).astype(np.int32)

    def convolve(x, kernel):
        return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(x):
        return lax.reduce_window(x, -np.float32(np.inf), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(w, x, labels):
        x = pool(jnp.maximum(convolve(x, w["c1"]) + w["b1"], 0))
        x = pool(jnp.maximum(convolve(x, w["c2"]) + w["b2"], 0))
        return cross_entropy(x.reshape(batch, flat) @ w["d"] + w["bd"], labels)

    def function(weights, momentum, x, labels):
        value, gradients = jax.value_and_grad(loss)(weights, x, labels)
        momentum = jax.tree_util.tree_map(lambda m, g: 0.9 * m + g, momentum, gradients)
        return jax.tree_util.tree_map(lambda p, m: p - rate * m, weights, momentum), momentum, value

    def in_torch(weights, momentum, x, labels):
        import torch
        import torch.nn.functional as F

        w = {k: v.detach().requires_grad_() for k, v in weights.items()}

        def layer(y, c, b):
            return F.max_pool2d(F.relu(F.conv2d(y, w[c].permute(3, 2, 0, 1), w[b], padding=1)), 2)

        y = layer(layer(x.permute(0, 3, 1, 2), "c1", "b1"), "c2", "b2").permute(0, 2, 3, 1).reshape(batch, flat)
        value = F.cross_entropy(y @ w["d"] + w["bd"], labels.long())
        names = sorted(w)
        gradients = dict(zip(names, torch.autograd.grad(value, [w[k] for k in names])))
        momentum = {k: 0.9 * momentum[k] + gradients[k] for k in names}
        return {k: weights[k] - rate * momentum[k] for k in names}, momentum, value.detach()

    return Program(f"conv_train_{batch}x{size}x{size}x1_f32", function, inputs, 1e-3, 1e-3, in_torch,
                   "an MNIST network, a step of SGD with momentum")


PROGRAMS = [mlp_adam(), conv_train()]
