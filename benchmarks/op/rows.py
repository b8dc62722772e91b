# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and normalizations along rows and columns."""
import jax
import jax.numpy as jnp
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, integers


def softmax(x):
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return e / jnp.sum(e, axis=-1, keepdims=True)


def layer_norm(x, scale, bias):
    centered = x - jnp.mean(x, axis=-1, keepdims=True)
    return centered * lax.rsqrt(jnp.mean(centered * centered, axis=-1, keepdims=True) + 1e-5) * scale + bias


def rms_norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def batch_norm(x, scale, bias):
    mean = jnp.mean(x, axis=(0, 1, 2))
    variance = jnp.mean(x * x, axis=(0, 1, 2)) - mean * mean
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias


def group_norm(x, scale, bias):
    n, h, w, c = x.shape
    groups = x.reshape(n, h * w, 32, c // 32)
    mean = jnp.mean(groups, axis=(1, 3), keepdims=True)
    variance = jnp.mean(jnp.square(groups - mean), axis=(1, 3), keepdims=True)
    return ((groups - mean) * lax.rsqrt(variance + 1e-5)).reshape(x.shape) * scale + bias


def cross_entropy(logits, labels):
    top = jnp.max(logits, axis=-1, keepdims=True)
    total = jnp.log(jnp.sum(jnp.exp(logits - top), axis=-1)) + top[:, 0]
    return jnp.mean(total - jnp.take_along_axis(logits, labels[:, None], axis=-1)[:, 0])


def programs():
    torch_softmax = in_torch(lambda torch, F, x: torch.softmax(x, -1))
    rms = in_torch(lambda torch, F, x, s: F.rms_norm(x, (x.shape[-1],), s, 1e-6))
    return [
        case("softmax_1024x1024_f32", softmax, (1024, 1024), source="attention scores of 1024 tokens", torch_function=torch_softmax),
        case("softmax_12x128x128_f32", softmax, (12, 128, 128), source="BERT-base", torch_function=torch_softmax),
        case("softmax_127x509_f32", softmax, (127, 509), source="prime sizes", torch_function=torch_softmax),
        case("layer_norm_512x768_f32", layer_norm, (512, 768), (768,), (768,), source="BERT-base",
             torch_function=in_torch(lambda torch, F, x, s, b: F.layer_norm(x, (768,), s, b))),
        case("rms_norm_1x4096_f32", rms_norm, (1, 4096), (4096,), source="Llama 2 7B decode", torch_function=rms),
        case("rms_norm_256x4096_f32", rms_norm, (256, 4096), (4096,), source="Llama 2 7B prefill", torch_function=rms),
        case("rms_norm_256x4096_bf16", rms_norm, bf16(256, 4096), bf16(4096), source="Llama 2 7B prefill", rtol=5e-2, atol=5e-2,
             torch_function=rms),
        case("batch_norm_32x28x28x64_f32", batch_norm, (32, 28, 28, 64), (64,), (64,), atol=1e-3, source="ResNet-50 training",
             torch_function=in_torch(lambda torch, F, x, s, b: F.batch_norm(
                 x.permute(0, 3, 1, 2), None, None, s, b, True, 0.1, 1e-5).permute(0, 2, 3, 1))),
        case("group_norm_1x64x64x320_f32", group_norm, (1, 64, 64, 320), (320,), (320,), atol=1e-3, source="Stable Diffusion's U-Net",
             torch_function=in_torch(lambda torch, F, x, s, b: F.group_norm(x.permute(0, 3, 1, 2), 32, s, b).permute(0, 2, 3, 1))),
        case("cross_entropy_128x30522_f32", cross_entropy, (128, 30522), integers(30522, 128), source="BERT-base pre-training",
             torch_function=in_torch(lambda torch, F, x, y: F.cross_entropy(x, y.long()))),
        case("logsumexp_1024x1000_f32", lambda x: jax.nn.logsumexp(x, axis=-1), (1024, 1000), source="ImageNet classifiers",
             torch_function=in_torch(lambda torch, F, x: torch.logsumexp(x, -1))),
        case("sum_rows_2048x2048_f32", lambda x: jnp.sum(x, axis=1), (2048, 2048), atol=1e-2, source="square",
             torch_function=in_torch(lambda torch, F, a: a.sum(1))),
        case("sum_columns_2048x2048_f32", lambda x: jnp.sum(x, axis=0), (2048, 2048), atol=1e-2, source="gradient of a bias",
             torch_function=in_torch(lambda torch, F, a: a.sum(0))),
        case("sum_all_2048x2048_f32", jnp.sum, (2048, 2048), rtol=1e-3, atol=5e-2, source="a loss",
             torch_function=in_torch(lambda torch, F, a: a.sum())),
        case("product_1009_f32", jnp.prod, lambda draw: draw.around(1, 1009, spread=0.02), rtol=1e-3, atol=1e-5, source="a prime number of elements",
             torch_function=in_torch(lambda torch, F, a: a.prod())),
        case("argmax_rows_1024x4096_f32", lambda x: jnp.argmax(x, axis=1).astype(jnp.int32), (1024, 4096),
             source="greedy decoding", torch_function=in_torch(lambda torch, F, a: a.argmax(1).int())),
    ]
