# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT-base encoder (12 layers) and one decode step of a GPT-2-size decoder with its key/value cache."""
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.program import Program, Weights


def layer_norm(x, scale, bias, epsilon):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    centered = x - mean
    variance = jnp.mean(centered * centered, axis=-1, keepdims=True)
    return centered * lax.rsqrt(variance + epsilon) * scale + bias


def softmax(x):
    exponentials = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return exponentials / jnp.sum(exponentials, axis=-1, keepdims=True)


def gelu_erf(x):
    return 0.5 * x * (1.0 + lax.erf(x * np.float32(1 / math.sqrt(2))))


def gelu_tanh(x):
    return 0.5 * x * (1.0 + jnp.tanh(np.float32(math.sqrt(2 / math.pi)) * (x + 0.044715 * x * x * x)))


def split_heads(x, heads):
    batch, length, width = x.shape
    return x.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)


def merge_heads(x):
    batch, heads, length, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * size)


def encoder_layer(x, bias, w, heads, epsilon):
    """Post-norm transformer layer; `bias` is added to the attention scores (0 or very negative where masked)."""
    q = split_heads(x @ w["q_w"] + w["q_b"], heads)
    k = split_heads(x @ w["k_w"] + w["k_b"], heads)
    v = split_heads(x @ w["v_w"] + w["v_b"], heads)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * np.float32(1 / math.sqrt(q.shape[-1])) + bias
    context = merge_heads(jnp.einsum("bhqk,bhkd->bhqd", softmax(scores), v))
    x = layer_norm(x + context @ w["o_w"] + w["o_b"], w["n1_s"], w["n1_b"], epsilon)
    hidden = gelu_erf(x @ w["i_w"] + w["i_b"])
    return layer_norm(x + hidden @ w["f_w"] + w["f_b"], w["n2_s"], w["n2_b"], epsilon)


def encoder(weights, ids, mask, *, heads, epsilon=1e-12):
    """Token ids and attention mask (batch x length, int32) to hidden states (batch x length x width)."""
    length = ids.shape[1]
    x = weights["words"][ids] + weights["positions"][:length][None] + weights["types"][0]
    x = layer_norm(x, weights["n_s"], weights["n_b"], epsilon)
    bias = (1.0 - mask[:, None, None, :].astype(jnp.float32)) * np.float32(-1e9)
    for layer in weights["layers"]:
        x = encoder_layer(x, bias, layer, heads, epsilon)
    return x


def random_layer(draw, width, inner):
    layer = {}
    for name in "qkvo":
        layer[name + "_w"], layer[name + "_b"] = draw.matrix(width, width), draw.normal(width, scale=0.02)
    layer["i_w"], layer["i_b"] = draw.matrix(width, inner), draw.normal(inner, scale=0.02)
    layer["f_w"], layer["f_b"] = draw.matrix(inner, width), draw.normal(width, scale=0.02)
    for name in ("n1", "n2"):
        layer[name + "_s"], layer[name + "_b"] = draw.around(1, width), draw.normal(width, scale=0.02)
    return layer


def bert(batch, length, layers=12, width=768, heads=12, inner=3072, vocabulary=30522):
    def inputs(seed):
        draw = Weights(seed)
        weights = {"words": draw.normal(vocabulary, width), "positions": draw.normal(512, width, scale=0.1),
                   "types": draw.normal(2, width, scale=0.1), "n_s": draw.around(1, width),
                   "n_b": draw.normal(width, scale=0.02),
                   "layers": [random_layer(draw, width, inner) for _ in range(layers)]}
        ids = draw.random.integers(0, vocabulary, (batch, length)).astype(np.int32)
        mask = np.ones((batch, length), np.int32)
        mask[:, length - length // 8:] = 0
        return weights, ids, mask

    def in_torch(weights, ids, mask):
        import torch.nn.functional as F

        def norm(x, s, b):
            return F.layer_norm(x, (width,), s, b, 1e-12)

        x = norm(weights["words"][ids.long()] + weights["positions"][:length][None] + weights["types"][0],
                 weights["n_s"], weights["n_b"])
        bias = (1.0 - mask[:, None, None, :].float()) * -1e9
        for w in weights["layers"]:
            q, k, v = ((x @ w[n + "_w"] + w[n + "_b"]).view(batch, length, heads, -1).transpose(1, 2) for n in "qkv")
            context = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(batch, length, width)
            x = norm(x + context @ w["o_w"] + w["o_b"], w["n1_s"], w["n1_b"])
            x = norm(x + F.gelu(x @ w["i_w"] + w["i_b"]) @ w["f_w"] + w["f_b"], w["n2_s"], w["n2_b"])
        return x

    def function(weights, ids, mask):
        return encoder(weights, ids, mask, heads=heads)

    return Program(f"bert_base_l{layers}_{batch}x{length}_f32", function, inputs, 1e-3, 1e-3, in_torch, "BERT-base, encoder")


def gpt2_decode(batch=1, context=1024, layers=12, width=768, heads=12, vocabulary=50257):
    """One token in, its logits and the updated caches out: each cache is updated at `position` and read up to it."""
    size = width // heads

    def inputs(seed):
        draw = Weights(seed)
        weights = {"words": draw.normal(vocabulary, width, scale=0.05), "positions": draw.normal(context, width, scale=0.05),
                   "n_s": draw.around(1, width), "n_b": draw.normal(width, scale=0.02), "layers": []}
        for _ in range(layers):
            weights["layers"].append({
                "n1_s": draw.around(1, width), "n1_b": draw.normal(width, scale=0.02),
                "qkv_w": draw.matrix(width, 3 * width), "qkv_b": draw.normal(3 * width, scale=0.02),
                "o_w": draw.matrix(width, width), "o_b": draw.normal(width, scale=0.02),
                "n2_s": draw.around(1, width), "n2_b": draw.normal(width, scale=0.02),
                "i_w": draw.matrix(width, 4 * width), "i_b": draw.normal(4 * width, scale=0.02),
                "f_w": draw.matrix(4 * width, width), "f_b": draw.normal(width, scale=0.02)})
        caches = [(draw.normal(batch, heads, context, size), draw.normal(batch, heads, context, size)) for _ in range(layers)]
        token = draw.random.integers(0, vocabulary, (batch,)).astype(np.int32)
        return weights, caches, token, np.int32(context // 2)

    def function(weights, caches, token, position):
        x = weights["words"][token] + weights["positions"][position]  # batch x width
        reachable = (jnp.arange(context) <= position)[None, None, :]
        updated = []
        for w, (keys, values) in zip(weights["layers"], caches):
            h = layer_norm(x, w["n1_s"], w["n1_b"], 1e-5)
            q, k, v = jnp.split(h @ w["qkv_w"] + w["qkv_b"], 3, axis=-1)
            keys = lax.dynamic_update_slice(keys, k.reshape(batch, heads, 1, size), (0, 0, position, 0))
            values = lax.dynamic_update_slice(values, v.reshape(batch, heads, 1, size), (0, 0, position, 0))
            updated.append((keys, values))
            scores = jnp.einsum("bhd,bhkd->bhk", q.reshape(batch, heads, size), keys) * np.float32(1 / math.sqrt(size))
            attention = softmax(jnp.where(reachable, scores, np.float32(-1e9)))
            x = x + jnp.einsum("bhk,bhkd->bhd", attention, values).reshape(batch, width) @ w["o_w"] + w["o_b"]
            h = layer_norm(x, w["n2_s"], w["n2_b"], 1e-5)
            x = x + gelu_tanh(h @ w["i_w"] + w["i_b"]) @ w["f_w"] + w["f_b"]
        logits = layer_norm(x, weights["n_s"], weights["n_b"], 1e-5) @ weights["words"].T
        return logits, updated

    def in_torch(weights, caches, token, position):
        import torch
        import torch.nn.functional as F

        at = position.long()
        x = weights["words"][token.long()] + weights["positions"][at]
        bias = torch.where(torch.arange(context) <= at, 0.0, -1e9)[None, None, None, :]
        updated = []
        for w, (keys, values) in zip(weights["layers"], caches):
            q, k, v = (F.layer_norm(x, (width,), w["n1_s"], w["n1_b"]) @ w["qkv_w"] + w["qkv_b"]).split(width, -1)
            keys = keys.index_copy(2, at.view(1), k.view(batch, heads, 1, size))
            values = values.index_copy(2, at.view(1), v.view(batch, heads, 1, size))
            updated.append((keys, values))
            y = F.scaled_dot_product_attention(q.view(batch, heads, 1, size), keys, values, attn_mask=bias)
            x = x + y.reshape(batch, width) @ w["o_w"] + w["o_b"]
            h = F.layer_norm(x, (width,), w["n2_s"], w["n2_b"])
            x = x + F.gelu(h @ w["i_w"] + w["i_b"], approximate="tanh") @ w["f_w"] + w["f_b"]
        return F.layer_norm(x, (width,), weights["n_s"], weights["n_b"]) @ weights["words"].T, updated

    return Program(f"gpt2_decode_l{layers}_{batch}x{context}_f32", function, inputs, 1e-3, 1e-3, in_torch, "GPT-2, one token with its cache")


PROGRAMS = [bert(1, 128), gpt2_decode()]
LARGER = [bert(4, 128), bert(8, 128)]
