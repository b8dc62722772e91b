# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps whose sharding is planned, not run: shapes of real models without weights, and the annotations that people write for them.

A model is a step (parameters, momentum, batch) -> (parameters, momentum, loss) with shapes of its arguments. `place` in it is what hand-written
plans annotate activations with: the function that Model.step is called with constrains their first dimension. A hand-written plan gives each of
them a tuple with one entry per dimension: "data", "model", both, or None.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Shape = jax.ShapeDtypeStruct
Axes = tuple[Any, ...]


Place = Callable[[jax.Array], jax.Array]


def _anywhere(x: jax.Array) -> jax.Array:
    return x


@dataclass
class Model:
    """`columns` and `rows` are names of weights that Megatron-LM's scheme splits by their last and by their last but one dimension, `experts` those
    split by their first one, each over "model"; weights called `embedding` are split by their first dimension."""
    name: str
    step: Callable[..., Callable[..., Any]]
    parameters: Any
    batch: tuple[Shape, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    experts: tuple[str, ...] = ()


def _train(loss: Callable[..., jax.Array]) -> Callable[..., Callable[..., Any]]:
    """A step of stochastic gradient descent with momentum, for annotations of activations."""

    def placed(place: Place = _anywhere) -> Callable[..., Any]:
        def step(parameters: Any, momentum: Any, *batch: jax.Array) -> tuple[Any, Any, jax.Array]:
            value, gradients = jax.value_and_grad(loss)(parameters, place, *batch)
            momentum = jax.tree.map(lambda m, g: 0.9 * m + g.astype(m.dtype), momentum, gradients)
            return jax.tree.map(lambda p, m: p - 0.01 * m, parameters, momentum), momentum, value
        return step

    return placed


def _cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    return -jnp.take_along_axis(jax.nn.log_softmax(logits, -1), labels[..., None], -1).mean()


def _norm(x: jax.Array, gain: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * gain


def _rms(x: jax.Array, gain: jax.Array) -> jax.Array:
    return x * lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5) * gain


def _attend(q: jax.Array, k: jax.Array, v: jax.Array, causal: bool) -> jax.Array:
    """[batch, heads, length, depth] each."""
    scores = q @ k.transpose(0, 1, 3, 2) / np.float32(math.sqrt(q.shape[-1]))
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e9)
    return jax.nn.softmax(scores, -1) @ v


def _heads(x: jax.Array, heads: int) -> jax.Array:
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


def _joined(x: jax.Array) -> jax.Array:
    batch, heads, length, depth = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * depth)


def _rotated(x: jax.Array) -> jax.Array:
    """Rotary positions of [batch, heads, length, depth]."""
    length, depth = x.shape[-2:]
    angles = jnp.arange(length)[:, None] * (10000.0 ** (-jnp.arange(0, depth, 2) / depth))[None]
    cos, sin = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    a, b = x[..., :depth // 2], x[..., depth // 2:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def gpt2(layers: int = 12, width: int = 768, heads: int = 12, words: int = 50304, length: int = 1024, batch: int = 32) -> Model:
    """GPT-2's blocks; with biases, learned positions and a tied embedding (padded to 50304 words, as people do)."""
    f32 = jnp.float32
    block = {"norm1": Shape((width,), f32), "norm2": Shape((width,), f32), "up": Shape((width, 4 * width), f32), "up_bias": Shape((4 * width,), f32),
             "down": Shape((4 * width, width), f32), "down_bias": Shape((width,), f32), "out": Shape((width, width), f32), "out_bias": Shape((width,), f32)}
    block |= {name: Shape((width, width), f32) for name in "qkv"} | {name + "_bias": Shape((width,), f32) for name in "qkv"}
    parameters = {"embedding": Shape((words, width), f32), "positions": Shape((length, width), f32), "norm": Shape((width,), f32),
                  "blocks": [dict(block) for _ in range(layers)]}

    def loss(p: Any, place: Place, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        x = place(p["embedding"][tokens] + p["positions"][None])
        for b in p["blocks"]:
            h = _norm(x, b["norm1"])
            q, k, v = (_heads(h @ b[name] + b[name + "_bias"], heads) for name in "qkv")
            x = place(x + _joined(_attend(q, k, v, True)) @ b["out"] + b["out_bias"])
            h = _norm(x, b["norm2"])
            x = place(x + jax.nn.gelu(h @ b["up"] + b["up_bias"]) @ b["down"] + b["down_bias"])
        return _cross_entropy(_norm(x, p["norm"]) @ p["embedding"].T, labels)

    tokens = Shape((batch, length), jnp.int32)
    return Model("gpt2", _train(loss), parameters, (tokens, tokens), ("q", "k", "v", "q_bias", "k_bias", "v_bias", "up", "up_bias"), ("out", "down"))


def llama(layers: int = 4, width: int = 4096, heads: int = 32, inner: int = 11008, words: int = 32000, length: int = 2048, batch: int = 16,
          name: str = "llama") -> Model:
    """Llama-2-7B's blocks (bfloat16): rotary positions, gated units, RMS norms."""
    kind = jnp.bfloat16
    block = {"norm1": Shape((width,), kind), "norm2": Shape((width,), kind), "gate": Shape((width, inner), kind), "up": Shape((width, inner), kind),
             "down": Shape((inner, width), kind), "out": Shape((width, width), kind)} | {name: Shape((width, width), kind) for name in "qkv"}
    parameters = {"embedding": Shape((words, width), kind), "head": Shape((width, words), kind), "norm": Shape((width,), kind),
                  "blocks": [dict(block) for _ in range(layers)]}

    def loss(p: Any, place: Place, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        x = place(p["embedding"][tokens])
        for b in p["blocks"]:
            h = _rms(x, b["norm1"])
            q, k, v = (_heads(h @ b[name], heads) for name in "qkv")
            x = place(x + _joined(_attend(_rotated(q), _rotated(k), v, True)) @ b["out"])
            h = _rms(x, b["norm2"])
            x = place(x + (jax.nn.silu(h @ b["gate"]) * (h @ b["up"])) @ b["down"])
        return _cross_entropy((_rms(x, p["norm"]) @ p["head"]).astype(jnp.float32), labels)

    tokens = Shape((batch, length), jnp.int32)
    return Model(name, _train(loss), parameters, (tokens, tokens), ("q", "k", "v", "gate", "up", "head"), ("out", "down"))


def gemma(layers: int = 18, width: int = 2048, heads: int = 8, inner: int = 16384, words: int = 256000, length: int = 2048, batch: int = 16,
          depth: int = 256) -> Model:
    """Gemma-2B's blocks (bfloat16): one head of keys and values for all queries, gated units of GELU, a tied embedding of many words."""
    kind = jnp.bfloat16
    block = {"norm1": Shape((width,), kind), "norm2": Shape((width,), kind), "gate": Shape((width, inner), kind), "up": Shape((width, inner), kind),
             "down": Shape((inner, width), kind), "q": Shape((width, heads * depth), kind), "keys": Shape((width, depth), kind),
             "values": Shape((width, depth), kind), "out": Shape((heads * depth, width), kind)}
    parameters = {"embedding": Shape((words, width), kind), "norm": Shape((width,), kind), "blocks": [dict(block) for _ in range(layers)]}

    def loss(p: Any, place: Place, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        x = place(p["embedding"][tokens] * np.sqrt(width).astype(kind))
        for b in p["blocks"]:
            h = _rms(x, 1 + b["norm1"])
            q, k = (_rotated(_heads(h @ b[name], count)) for name, count in (("q", heads), ("keys", 1)))
            x = place(x + _joined(_attend(q, k, _heads(h @ b["values"], 1), True)) @ b["out"])
            h = _rms(x, 1 + b["norm2"])
            x = place(x + (jax.nn.gelu(h @ b["gate"]) * (h @ b["up"])) @ b["down"])
        return _cross_entropy((_rms(x, 1 + p["norm"]) @ p["embedding"].T).astype(jnp.float32), labels)

    tokens = Shape((batch, length), jnp.int32)
    return Model("gemma", _train(loss), parameters, (tokens, tokens), ("q", "gate", "up"), ("out", "down"))


def blocks(layers: int, width: int, heads: int, batch: int, inner: int | None = None, groups: int | None = None, length: int = 2048,
           name: str = "blocks") -> Model:
    """Blocks of a large decoder between given activations [batch, length, width] (bfloat16), without vocabulary: GPT-3's, or with `inner` Llama's gated
    ones, with keys and values of `groups` heads."""
    kind, isGated, groups = jnp.bfloat16, inner is not None, groups or heads
    inner, depth = inner or 4 * width, width // heads
    sizes = {"norm1": (width,), "norm2": (width,), "q": (width, width), "k": (width, groups * depth), "v": (width, groups * depth), "out": (width, width),
             "up": (width, inner), "down": (inner, width)} | ({"gate": (width, inner)} if isGated else {})
    parameters = {"blocks": [{each: Shape(size, kind) for each, size in sizes.items()} for _ in range(layers)]}

    def loss(p: Any, place: Place, x: jax.Array) -> jax.Array:
        x = place(x)
        for b in p["blocks"]:
            h = (_rms if isGated else _norm)(x, b["norm1"])
            q, k, v = _heads(h @ b["q"], heads), _heads(h @ b["k"], groups), _heads(h @ b["v"], groups)
            q, k = (_rotated(q), _rotated(k)) if isGated else (q, k)
            if groups < heads:  # each head of keys and values is read by heads / groups queries
                k, v = (jnp.repeat(each, heads // groups, axis=1) for each in (k, v))
            x = place(x + _joined(_attend(q, k, v, True)) @ b["out"])
            h = (_rms if isGated else _norm)(x, b["norm2"])
            x = place(x + (jax.nn.silu(h @ b["gate"]) * (h @ b["up"]) if isGated else jax.nn.gelu(h @ b["up"])) @ b["down"])
        return (x.astype(jnp.float32) ** 2).mean()

    return Model(name, _train(loss), parameters, (Shape((batch, length, width), kind),), ("q", "k", "v", "up", "gate"), ("out", "down"))


def bert(layers: int = 12, width: int = 768, heads: int = 12, words: int = 30720, length: int = 512, batch: int = 64) -> Model:
    """BERT-base's encoder with its masked language model's loss."""
    model = gpt2(layers, width, heads, words, length, batch)

    def loss(p: Any, place: Place, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        x = place(_norm(p["embedding"][tokens] + p["positions"][None], p["norm"]))
        for b in p["blocks"]:
            q, k, v = (_heads(x @ b[name] + b[name + "_bias"], heads) for name in "qkv")
            x = place(_norm(x + _joined(_attend(q, k, v, False)) @ b["out"] + b["out_bias"], b["norm1"]))
            x = place(_norm(x + jax.nn.gelu(x @ b["up"] + b["up_bias"]) @ b["down"] + b["down_bias"], b["norm2"]))
        return _cross_entropy(x @ p["embedding"].T, labels)

    return Model("bert", _train(loss), model.parameters, model.batch, model.columns, model.rows)


def experts(layers: int = 4, width: int = 1024, heads: int = 16, count: int = 64, inner: int = 4096, length: int = 512, batch: int = 64,
            kind: Any = jnp.float32) -> Model:
    """A mixture of experts as in GShard: every token goes to the best of `count` experts, each takes a fixed number of them."""
    f32 = kind
    block = {"norm1": Shape((width,), f32), "norm2": Shape((width,), f32), "router": Shape((width, count), f32), "up": Shape((count, width, inner), f32),
             "down": Shape((count, inner, width), f32), "out": Shape((width, width), f32)} | {name: Shape((width, width), f32) for name in "qkv"}
    parameters = {"embedding": Shape((32000, width), f32), "norm": Shape((width,), f32), "blocks": [dict(block) for _ in range(layers)]}
    capacity = 2 * length // count

    def loss(p: Any, place: Place, tokens: jax.Array, labels: jax.Array) -> jax.Array:
        x = place(p["embedding"][tokens])
        for b in p["blocks"]:
            h = _norm(x, b["norm1"])
            q, k, v = (_heads(h @ b[name], heads) for name in "qkv")
            x = place(x + _joined(_attend(q, k, v, True)) @ b["out"])
            h = _norm(x, b["norm2"])
            chances = jax.nn.softmax(h @ b["router"], -1)
            chosen = jax.nn.one_hot(jnp.argmax(chances, -1), count)
            slot = (jnp.cumsum(chosen, 1) - 1) * chosen
            send = (chosen[..., None] * jax.nn.one_hot(slot.astype(jnp.int32), capacity)).astype(f32)
            inside = jnp.einsum("btec,btd->ebcd", send, h)
            done = jnp.einsum("ebcf,efd->ebcd", jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", inside, b["up"])), b["down"])
            x = place(x + jnp.einsum("btec,ebcd->btd", send * (chances * chosen).sum(-1)[..., None, None].astype(f32), done))
        return _cross_entropy((_norm(x, p["norm"]) @ p["embedding"].T).astype(jnp.float32), labels)

    tokens = Shape((batch, length), jnp.int32)
    return Model("experts", _train(loss), parameters, (tokens, tokens), ("q", "k", "v"), ("out",), ("up", "down"))


def _convolution(x: jax.Array, kernel: jax.Array, stride: int = 1) -> jax.Array:
    return lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _scaled(x: jax.Array, gain: jax.Array) -> jax.Array:
    """Batch normalization of training, without its running averages."""
    centred = x - x.mean((0, 1, 2), keepdims=True)
    return centred * lax.rsqrt((centred**2).mean((0, 1, 2), keepdims=True) + 1e-5) * gain


def resnet50(batch: int = 256, size: int = 224) -> Model:
    """ResNet-50 with batch normalization."""
    f32 = jnp.float32

    def unit(inside: int, middle: int, outside: int) -> dict[str, Shape]:
        return {"a": Shape((1, 1, inside, middle), f32), "b": Shape((3, 3, middle, middle), f32), "c": Shape((1, 1, middle, outside), f32),
                "ga": Shape((middle,), f32), "gb": Shape((middle,), f32), "gc": Shape((outside,), f32)}

    stages, channels = [], 64
    for middle, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        units = []
        for number in range(count):
            units.append(unit(channels, middle, 4 * middle))
            if number == 0:
                units[-1] |= {"shortcut": Shape((1, 1, channels, 4 * middle), f32), "gs": Shape((4 * middle,), f32)}
            channels = 4 * middle
        stages.append(units)
    parameters = {"stem": Shape((7, 7, 3, 64), f32), "gain": Shape((64,), f32), "stages": stages, "head": Shape((2048, 1000), f32)}

    def loss(p: Any, place: Place, images: jax.Array, labels: jax.Array) -> jax.Array:
        x = jax.nn.relu(_scaled(_convolution(images, p["stem"], 2), p["gain"]))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        for number, units in enumerate(p["stages"]):
            for index, u in enumerate(units):
                stride = 2 if number and index == 0 else 1
                y = jax.nn.relu(_scaled(_convolution(x, u["a"]), u["ga"]))
                y = jax.nn.relu(_scaled(_convolution(y, u["b"], stride), u["gb"]))
                y = _scaled(_convolution(y, u["c"]), u["gc"])
                if "shortcut" in u:
                    x = _scaled(_convolution(x, u["shortcut"], stride), u["gs"])
                x = place(jax.nn.relu(x + y))
        return _cross_entropy(x.mean((1, 2)) @ p["head"], labels)

    return Model("resnet50", _train(loss), parameters, (Shape((batch, size, size, 3), f32), Shape((batch,), jnp.int32)))


def unet(batch: int = 64, size: int = 128, width: int = 64) -> Model:
    """A U-Net of four levels: convolutions, pooling, nearest neighbours on the way up."""
    f32 = jnp.float32
    widths = [width * 2**level for level in range(4)]
    pair = lambda inside, outside: [Shape((3, 3, inside, outside), f32), Shape((3, 3, outside, outside), f32)]  # noqa: E731
    parameters = {"down": [pair(3 if not n else widths[n - 1], w) for n, w in enumerate(widths)],
                  "up": [pair(widths[n] + widths[n + 1], widths[n]) for n in (2, 1, 0)], "head": Shape((1, 1, width, 3), f32)}

    def loss(p: Any, place: Place, images: jax.Array, wanted: jax.Array) -> jax.Array:
        x, kept = images, []
        for level, kernels in enumerate(p["down"]):
            if level:
                x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            for kernel in kernels:
                x = place(jax.nn.relu(_convolution(x, kernel)))
            kept.append(x)
        for kernels, across in zip(p["up"], kept[-2::-1]):
            batch, rows, columns, channels = x.shape
            x = jnp.broadcast_to(x[:, :, None, :, None], (batch, rows, 2, columns, 2, channels)).reshape(batch, 2 * rows, 2 * columns, channels)
            x = jnp.concatenate([x, across], -1)
            for kernel in kernels:
                x = place(jax.nn.relu(_convolution(x, kernel)))
        return ((_convolution(x, p["head"]) - wanted) ** 2).mean()

    images = Shape((batch, size, size, 3), f32)
    return Model("unet", _train(loss), parameters, (images, images))


MODELS: dict[str, Callable[..., Model]] = {"gpt2": gpt2, "llama": llama, "gemma": gemma, "bert": bert, "experts": experts, "resnet50": resnet50, "unet": unet}


def _sharded(size: int, axes: Axes, mesh: dict[str, int]) -> Axes | None:
    """The axes, if they divide the dimension."""
    parts = math.prod(mesh[axis] for axis in axes)
    return axes if parts > 1 and size % parts == 0 else None


def plans(model: Model, mesh: dict[str, int]) -> dict[str, tuple[Any, Any]]:
    """Hand-written plans by name: axes of every parameter, and of the batch's first dimension. `mesh` has the axes "data" and "model"."""
    every = ("data", "model")

    def whole(_: Any, shape: Shape) -> Axes:
        return (None,) * len(shape.shape)

    def fully(axes: Axes) -> Callable[[Any, Shape], Axes]:
        def choose(_: Any, shape: Shape) -> Axes:
            sizes = sorted(range(len(shape.shape)), key=lambda dim: -shape.shape[dim])
            for dim in sizes:
                if found := _sharded(shape.shape[dim], axes, mesh):
                    return tuple(found if other == dim else None for other in range(len(shape.shape)))
            return whole(_, shape)
        return choose

    def megatron(axes: Axes) -> Callable[[Any, Shape], Axes]:
        def choose(path: Any, shape: Shape) -> Axes:
            name, rank = str(getattr(path[-1], "key", "")), len(shape.shape)
            dim = (0 if name in model.experts or name == "embedding" else rank - 1 if name in model.columns
                   else rank - 2 if name in model.rows else None)
            if dim is None or not (found := _sharded(shape.shape[dim], axes, mesh)):
                return whole(path, shape)
            return tuple(found if other == dim else None for other in range(rank))
        return choose

    chosen: dict[str, tuple[Callable[[Any, Shape], Axes], Axes]] = {"data": (whole, every), "fsdp": (fully(every), every)}
    if model.columns or model.experts:
        chosen |= {"tensor": (megatron(every), ()), "2-d": (megatron(("model",)), ("data",))}
    result = {}
    for name, (rule, batch) in chosen.items():
        split = _sharded(model.batch[0].shape[0], batch, mesh) if batch else None
        if batch and not split:
            continue  # there are more devices than examples
        result[name] = (jax.tree_util.tree_map_with_path(rule, model.parameters), split)
    return result
