# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps with the optimizer in the same program: what checkpoints save in the forward pass is not lost to weights that are updated late.
Peaks of bytes are near what no order of steps goes below, and values are JAX's."""
import functools
import re
import subprocess

import numpy as np
import pytest

from benchmarks import tools

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402



def draw(seed):
    generator = np.random.default_rng(seed)
    return lambda *shape, scale=1.0: (generator.standard_normal(shape) * scale).astype(np.float32)


def perceptron(activation, layers, batch=256, width=32, hidden=64):
    def layer(x, p):
        return x + activation(x @ p["up"] + p["b"]) @ p["down"]

    normal = draw(1)
    weights = [{"up": normal(width, hidden, scale=width ** -0.5), "b": normal(hidden, scale=0.1), "down": normal(hidden, width, scale=0.3 * hidden ** -0.5)}
               for _ in range(layers)]
    return layer, weights, normal(batch, width)


def transformer(layers, batch=2, length=64, width=32, heads=2):
    def norm(x, scale):
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale

    def layer(x, p):
        y = norm(x, p["n1"])
        q, k, v = ((y @ p[name]).reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for name in "qkv")
        attention = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) * (width // heads) ** -0.5, axis=-1)
        x = x + (attention @ v).transpose(0, 2, 1, 3).reshape(batch, length, width) @ p["o"]
        return x + jax.nn.gelu(norm(x, p["n2"]) @ p["up"], approximate=False) @ p["down"]

    normal = draw(2)

    def block():
        matrix = lambda a, b: normal(a, b, scale=a ** -0.5)
        return {"n1": 1 + normal(width, scale=0.1), "n2": 1 + normal(width, scale=0.1), "up": matrix(width, 4 * width),
                "down": matrix(4 * width, width), **{name: matrix(width, width) for name in "qkvo"}}

    return layer, [block() for _ in range(layers)], normal(batch, length, width)


def sgd(loss, weights):
    def step(weights, *data):
        value, gradients = jax.value_and_grad(loss)(weights, *data)
        return jax.tree.map(lambda p, g: p - 0.01 * g, weights, gradients), value

    return step, (weights,)


def adam(loss, weights):
    def step(weights, first, second, *data):
        value, gradients = jax.value_and_grad(loss)(weights, *data)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
        weights = jax.tree.map(lambda p, m, v: p - 0.01 * m / (jnp.sqrt(v) + 1e-2), weights, first, second)
        return weights, first, second, value

    zeros = jax.tree.map(np.zeros_like, weights)
    return step, (weights, zeros, zeros)


MODELS = {"tanh": functools.partial(perceptron, jnp.tanh), "gelu": functools.partial(perceptron, functools.partial(jax.nn.gelu, approximate=False)),
          "transformer": transformer}


class Step:
    def __init__(self, model, layers, optimizer, wrap, folder):
        layer, weights, x = MODELS[model](layers)
        layer = wrap(layer)

        def loss(weights, x, y):
            for p in weights:
                x = layer(x, p)
            return ((x - y) ** 2).mean()

        self.function, state = optimizer(loss, weights)
        self.arguments = (*state, x, np.flip(x).copy())
        self.path = folder / f"{model}.mlir"
        lowered = jax.jit(self.function, donate_argnums=range(len(state))).trace(*self.arguments).lower(lowering_platforms=("cpu",))
        self.path.write_text(lowered.as_text())

    def memory(self):
        process = subprocess.run([tools.tool("xla-compile"), str(self.path), "--memory", "--cache-dir=off", "-o", f"{self.path}.mr"],
                                 capture_output=True, text=True, check=True)
        return {what: int(number) for number, what in re.findall(r"^ +(\d+)  (.*)$", process.stdout, re.M)}


@pytest.mark.parametrize("optimizer", (sgd, adam))
@pytest.mark.parametrize("model", sorted(MODELS))
def test_checkpoints_save_memory_beside_the_optimizer(model, optimizer, tmp_path):
    plain, checkpointed = (Step(model, 24, optimizer, wrap, tmp_path).memory() for wrap in (lambda f: f, jax.checkpoint))
    assert checkpointed["temporaries"] < 0.6 * plain["temporaries"]
    for found in (plain, checkpointed):
        least = found.get("the same in no order less than", found["largest sum of live temporaries"])  # not printed where the given order needs no more
        assert least <= found["largest sum of live temporaries"] <= 1.1 * least
    assert checkpointed["largest sum of live temporaries"] < 0.5 * checkpointed["the same with steps in the order of the program"]


@pytest.mark.parametrize("wrap", (lambda f: f, jax.checkpoint), ids=("plain", "checkpointed"))
@pytest.mark.parametrize("model", sorted(MODELS))
def test_values_are_those_of_jax(model, wrap, tmp_path):
    step = Step(model, 6, adam, wrap, tmp_path)
    leaves = jax.tree.leaves(step.arguments)
    want = jax.tree.leaves(jax.jit(step.function)(*step.arguments))
    got, _ = tools.run_file(str(step.path), leaves, f"--cache-dir={tmp_path}/cache")
    assert len(got) == len(want)
    for ours, theirs in zip(got, want):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=2e-5 * np.abs(theirs).max())
    changed = [np.abs(ours - before).max() for ours, before in zip(got, leaves)]
    assert min(changed) > 0, "a weight is what it was"
