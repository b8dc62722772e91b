# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Transformer of two layers trains alike on one device and on several, however batch and weights are shared out."""
import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

WIDTH, HEADS, INNER, WORDS, LENGTH, BATCH, STEPS = 32, 8, 64, 48, 12, 8, 20
# How each weight is split: tensor parallel by heads and features, FSDP by its first dimension.
TENSOR = {"embed": P(), "qkv": P(None, None, "model", None), "out": P("model", None, None), "up": P(None, "model"), "down": P("model", None)}
FSDP = {"embed": P("data", None), "qkv": P(None, "data", None, None), "out": P("data", None, None), "up": P("data", None), "down": P("data", None)}
WHOLE = {name: P() for name in TENSOR}
STYLES = {"data": (lambda n: (n, 1), WHOLE), "tensor": (lambda n: (1, n), TENSOR), "both": (lambda n: (max(1, n // 2), min(2, n)), TENSOR),
          "fsdp": (lambda n: (n, 1), FSDP)}
CASES = [("data", 8), ("tensor", 8), ("both", 8), ("fsdp", 8)]
if os.environ.get("MILLRACE_LONG"):
    CASES = [(style, n) for style in STYLES for n in (1, 2, 4, 8)]


def weights():
    draw = np.random.default_rng(7)

    def matrix(*shape):
        return (draw.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
    layer = lambda: {"qkv": np.stack([matrix(WIDTH, HEADS, WIDTH // HEADS) for _ in range(3)]),
                     "out": matrix(HEADS, WIDTH // HEADS, WIDTH), "up": matrix(WIDTH, INNER), "down": matrix(INNER, WIDTH)}
    return {"embed": matrix(WORDS, WIDTH), "layers": [layer(), layer()]}


def loss(w, words):
    x = w["embed"][words[:, :-1]]
    mask = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    for layer in w["layers"]:
        normal = x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        q, k, v = jnp.einsum("btd,pdhe->pbhte", normal, layer["qkv"])
        scores = jnp.where(mask, jnp.einsum("bhte,bhse->bhts", q, k) / 2.0, -1e9)
        x = x + jnp.einsum("bhts,bhse,hed->btd", jax.nn.softmax(scores), v, layer["out"])
        x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
    logits = jax.nn.log_softmax(x @ w["embed"].T)
    return -jnp.take_along_axis(logits, words[:, 1:, None], axis=-1).mean()


@jax.jit
def step(w, words):
    value, gradient = jax.value_and_grad(loss)(w, words)
    return jax.tree.map(lambda a, g: a - 0.3 * g, w, gradient), value


def train(style, devices):
    shape, specs = STYLES[style][0](devices), STYLES[style][1]
    mesh = jax.make_mesh(shape, ("data", "model"), devices=jax.devices()[:devices], axis_types=(AxisType.Auto,) * 2)
    place = lambda value, spec: jax.device_put(value, NamedSharding(mesh, spec))
    w = weights()
    w = {"embed": place(w["embed"], specs["embed"]),
         "layers": [{name: place(value, specs[name]) for name, value in layer.items()} for layer in w["layers"]]}
    draw, values = np.random.default_rng(3), []
    words = [draw.integers(0, WORDS, (BATCH, LENGTH + 1)) for _ in range(4)]
    for number in range(STEPS):
        w, value = step(w, place(words[number % 4], P("data", None)))
        values.append(float(value))
    return values


@pytest.fixture(scope="module")
def alone():
    values = train("data", 1)
    assert values[-1] < values[0] - 0.5, "nothing was learned, so equal losses say little"
    return values


@pytest.mark.parametrize("style,devices", CASES)
def test_losses_equal_those_of_one_device(alone, style, devices):
    np.testing.assert_allclose(train(style, devices), alone, rtol=2e-4)
