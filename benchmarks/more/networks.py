# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forward passes of networks that no other list has: windows of attention, volumes, waves, pairs of residues, experts."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.rows import softmax
from benchmarks.program import Program, Weights


def convolution(x, kernel, stride=1, dilation=1, padding="SAME"):
    spatial = x.ndim - 2
    letters = "DHW"[3 - spatial:]
    return lax.conv_general_dilated(x, kernel, (stride,) * spatial, padding, rhs_dilation=(dilation,) * spatial,
                                    dimension_numbers=(f"N{letters}C", f"{letters}IO", f"N{letters}C"))


def layer_norm(x, weights):
    centered = x - jnp.mean(x, -1, keepdims=True)
    return centered * lax.rsqrt(jnp.mean(centered * centered, -1, keepdims=True) + 1e-6) * weights[0] + weights[1]


def norm_weights(draw, size):
    return draw.around(1, size), draw.normal(size, scale=0.1)


def gelu(x):
    return 0.5 * x * (1 + lax.erf(x * np.float32(2 ** -0.5)))


def heads_of(x, heads):
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads).swapaxes(-2, -3)


def joined(x):
    x = x.swapaxes(-2, -3)
    return x.reshape(*x.shape[:-2], -1)


def attention(q, k, v, bias=None):
    scores = jnp.einsum("...qd,...kd->...qk", q, k)
    return jnp.einsum("...qk,...kd->...qd", softmax(scores if bias is None else scores + bias), v)


def swin(layers=4, size=96, heads=3, side=56, window=7, shift=3):
    """Attention in windows; every other block shifts them, and a mask of -100 keeps apart what was not neighbours."""
    count = side // window
    places = np.stack(np.meshgrid(np.arange(window), np.arange(window), indexing="ij"), -1).reshape(-1, 2)
    offsets = places[:, None] - places[None] + window - 1
    position = offsets[..., 0] * (2 * window - 1) + offsets[..., 1]
    part = np.digitize(np.arange(side), (side - window, side - shift))
    region = (3 * part[:, None] + part).reshape(count, window, count, window).transpose(0, 2, 1, 3).reshape(count * count, -1)
    mask = np.where(region[:, None] != region[:, :, None], np.float32(-100), np.float32(0))[:, None]

    def inputs(seed):
        draw = Weights(seed)
        block = lambda: (norm_weights(draw, size), draw.matrix(size, 3 * size), draw.normal(3 * size, scale=0.1),
                         draw.normal((2 * window - 1) ** 2, heads, scale=0.5), draw.matrix(size, size), norm_weights(draw, size),
                         draw.matrix(size, 4 * size), draw.normal(4 * size, scale=0.1), draw.matrix(4 * size, size))
        return [block() for _ in range(layers)], draw.normal(1, side, side, size)

    def function(blocks, x):
        for index, (norm1, qkv, bias, table, out, norm2, up, up_bias, down) in enumerate(blocks):
            y = layer_norm(x, norm1)
            if index % 2:
                y = jnp.roll(y, (-shift, -shift), (1, 2))
            y = y.reshape(count, window, count, window, size).transpose(0, 2, 1, 3, 4).reshape(count * count, window * window, size)
            q, k, v = [heads_of(part, heads) for part in jnp.split(y @ qkv + bias, 3, -1)]
            extra = table[position].transpose(2, 0, 1)[None] + (mask if index % 2 else 0)
            y = joined(attention(q * np.float32((size // heads) ** -0.5), k, v, extra)) @ out
            y = y.reshape(count, count, window, window, size).transpose(0, 2, 1, 3, 4).reshape(x.shape)
            x = x + (jnp.roll(y, (shift, shift), (1, 2)) if index % 2 else y)
            x = x + gelu(layer_norm(x, norm2) @ up + up_bias) @ down
        return x

    return Program(f"swin_l{layers}_1x{side}x{side}x{size}_f32", function, inputs, 2e-3, 2e-3, None, "Swin-T, first stage")


def volume(side=32):
    """Three levels, instance normalization, transposed convolutions on the way up."""

    def inputs(seed):
        draw = Weights(seed)
        pair = lambda a, b: [(draw.matrix(3, 3, 3, i, b), norm_weights(draw, b)) for i in (a, b)]
        return ({"down1": pair(1, 16), "down2": pair(16, 32), "down3": pair(32, 64), "up2": (draw.matrix(2, 2, 2, 64, 32), pair(64, 32)),
                 "up1": (draw.matrix(2, 2, 2, 32, 16), pair(32, 16)), "out": draw.matrix(1, 1, 1, 16, 3)}, draw.normal(1, side, side, side, 1))

    def block(x, pair):
        for kernel, (scale, shift) in pair:
            x = convolution(x, kernel)
            centered = x - jnp.mean(x, (1, 2, 3), keepdims=True)
            x = centered * lax.rsqrt(jnp.mean(centered * centered, (1, 2, 3), keepdims=True) + 1e-5) * scale + shift
            x = jax.nn.leaky_relu(x)
        return x

    def smaller(x):
        return lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 2, 1), (1, 2, 2, 2, 1), "VALID")

    def larger(x, kernel):
        return lax.conv_transpose(x, kernel, (2, 2, 2), "VALID", dimension_numbers=("NDHWC", "DHWIO", "NDHWC"))

    def function(w, x):
        first = block(x, w["down1"])
        second = block(smaller(first), w["down2"])
        third = block(smaller(second), w["down3"])
        second = block(jnp.concatenate([larger(third, w["up2"][0]), second], -1), w["up2"][1])
        first = block(jnp.concatenate([larger(second, w["up1"][0]), first], -1), w["up1"][1])
        return convolution(first, w["out"])

    return Program(f"unet3d_1x{side}x{side}x{side}_f32", function, inputs, 2e-3, 2e-3, None, "a 3-D U-Net")


def wavenet(layers=10, size=64, length=4000):
    """Causal convolutions, each over twice the distance of the one before."""

    def inputs(seed):
        draw = Weights(seed)
        layer = lambda: (draw.matrix(2, size, 2 * size), draw.normal(2 * size, scale=0.1), draw.matrix(1, size, size), draw.matrix(1, size, size))
        return (draw.matrix(1, 256, size), [layer() for _ in range(layers)], draw.matrix(1, size, 256), draw.matrix(1, 256, 256),
                draw.random.integers(0, 256, (1, length)).astype(np.int32))

    def function(first, weights, hidden, out, x):
        x, total = convolution(jax.nn.one_hot(x, 256), first), 0
        for index, (kernel, bias, residual, skip) in enumerate(weights):
            tangent, gate = jnp.split(convolution(x, kernel, dilation=2 ** index, padding=[(2 ** index, 0)]) + bias, 2, -1)
            y = jnp.tanh(tangent) * jax.nn.sigmoid(gate)
            total, x = total + convolution(y, skip), x + convolution(y, residual)
        return convolution(jnp.maximum(convolution(jnp.maximum(total, 0), hidden), 0), out)

    return Program(f"wavenet_l{layers}_1x{length}_f32", function, inputs, 2e-3, 2e-3, None, "WaveNet")


def evoformer(residues=64, size=64, heads=4, sequences=16, narrow=32):
    """Outer products of sequences, triangle multiplication, triangle attention, transition."""

    def inputs(seed):
        draw = Weights(seed)
        square = lambda: draw.matrix(size, size)
        return ((norm_weights(draw, size), square(), square(), square(), square(), norm_weights(draw, size), square(), square()),
                (norm_weights(draw, size), draw.matrix(size, 3 * size), draw.matrix(size, heads), square(), square()),
                (norm_weights(draw, size), draw.matrix(size, 4 * size), draw.matrix(4 * size, size)), draw.normal(residues, residues, size),
                draw.matrix(narrow, narrow), draw.matrix(narrow, narrow), draw.matrix(narrow * narrow, size), draw.normal(sequences, residues, narrow))

    def function(triangle, attend, transition, z, left, right, out, aligned):
        z = z + jnp.einsum("sia,sjb->ijab", aligned @ left, aligned @ right).reshape(residues, residues, -1) @ out / sequences
        norm, a, a_gate, b, b_gate, norm2, o, o_gate = triangle
        y, gate = layer_norm(z, norm), jax.nn.sigmoid
        product = jnp.einsum("ikc,jkc->ijc", gate(y @ a_gate) * (y @ a), gate(y @ b_gate) * (y @ b))
        z = z + gate(y @ o_gate) * (layer_norm(product, norm2) @ o)
        norm, qkv, bias, g, o = attend
        y = layer_norm(z, norm)
        q, k, v = [heads_of(part, heads) for part in jnp.split(y @ qkv, 3, -1)]
        z = z + (gate(y @ g) * joined(attention(q * np.float32(0.25), k, v, jnp.transpose(y @ bias, (2, 0, 1))[None]))) @ o
        norm, up, down = transition
        return z + jnp.maximum(layer_norm(z, norm) @ up, 0) @ down

    return Program(f"evoformer_{residues}x{residues}x{size}_f32", function, inputs, 2e-3, 2e-3, None, "AlphaFold 2, pairs of residues")


def experts(tokens=256, size=256, hidden=512, count=8, chosen=2):
    """Each token goes to its best experts, as long as they have room."""
    room = 2 * tokens * chosen // count

    def inputs(seed):
        draw = Weights(seed)
        many = lambda a, b: np.stack([draw.matrix(a, b) for _ in range(count)])
        return draw.matrix(size, count), many(size, hidden), many(size, hidden), many(hidden, size), draw.normal(tokens, size)

    def function(router, gate, up, down, x):
        weights, index = lax.top_k(softmax(x @ router), chosen)
        weights, index = weights / jnp.sum(weights, -1, keepdims=True), index.reshape(-1)
        one_hot = jax.nn.one_hot(index, count, dtype=jnp.int32)
        before = jnp.sum((jnp.cumsum(one_hot, 0) - one_hot) * one_hot, -1)
        slot, source = jnp.where(before < room, index * room + before, count * room), jnp.repeat(jnp.arange(tokens), chosen)
        sent = jnp.zeros((count * room + 1, size), x.dtype).at[slot].set(x[source])[:-1].reshape(count, room, size)
        inner = jax.nn.silu(jnp.einsum("ecd,edf->ecf", sent, gate)) * jnp.einsum("ecd,edf->ecf", sent, up)
        back = jnp.concatenate([jnp.einsum("ecf,efd->ecd", inner, down).reshape(count * room, size), jnp.zeros((1, size), x.dtype)])[slot]
        return jnp.zeros_like(x).at[source].add(back * weights.reshape(-1)[:, None])

    return Program(f"experts_{tokens}x{size}_{chosen}of{count}_f32", function, inputs, 2e-3, 2e-3, None, "Mixtral, a layer of experts")


def programs():
    return [swin(), volume(), wavenet(), evoformer(), experts()]
