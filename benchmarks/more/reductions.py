# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, normalizations and their gradients over other dimensions, sizes and types."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, integers
from benchmarks.op.rows import layer_norm, softmax

NEAR = dict(rtol=1e-3, atol=1e-2)
COARSE = dict(rtol=5e-2, atol=5e-2)


def instance_norm(x):
    centered = x - jnp.mean(x, axis=(2, 3), keepdims=True)
    return centered * lax.rsqrt(jnp.mean(centered * centered, axis=(2, 3), keepdims=True) + 1e-5)


def group_norm_first(x, scale, bias):
    groups = x.reshape(x.shape[0], 8, -1)
    centered = groups - jnp.mean(groups, axis=2, keepdims=True)
    normal = centered * lax.rsqrt(jnp.mean(centered * centered, axis=2, keepdims=True) + 1e-5)
    return normal.reshape(x.shape) * scale[:, None, None] + bias[:, None, None]


def layer_norm_gradients(x, scale, bias, g):
    return jax.vjp(layer_norm, x, scale, bias)[1](g)


def softmax_gradient(x, g):
    return jax.vjp(softmax, x)[1](g)[0]


def cross_entropy_gradient(logits, labels):
    return (softmax(logits) - jax.nn.one_hot(labels, logits.shape[-1])) / logits.shape[0]


def batch_norm_inference(x, mean, variance, scale, bias):
    return jnp.maximum((x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias, 0)


def unit(x):
    return x * lax.rsqrt(jnp.sum(x * x, axis=-1, keepdims=True) + 1e-12)


def cosine(a, b):
    return jnp.sum(a * b, 1) / jnp.sqrt(jnp.sum(a * a, 1) * jnp.sum(b * b, 1) + 1e-9)


def programs():
    def both(name, function, *specs, torch=None, **more):
        return case(name, function, *specs, source="sizes", torch_function=in_torch(torch) if torch else None, **(more or NEAR))

    return [
        both("sum_middle_64x128x96_f32", lambda x: jnp.sum(x, 1), (64, 128, 96), torch=lambda t, F, x: x.sum(1)),
        both("sum_outer_3x100000_f32", lambda x: jnp.sum(x, 0), (3, 100000), torch=lambda t, F, x: x.sum(0)),
        both("sum_outer_100000x3_f32", lambda x: jnp.sum(x, 0), (100000, 3), atol=1, rtol=1e-2, torch=lambda t, F, x: x.sum(0)),
        both("sum_inner_100000x3_f32", lambda x: jnp.sum(x, 1), (100000, 3), torch=lambda t, F, x: x.sum(1)),
        both("sum_rows_1009x1013_f64", lambda x: jnp.sum(x, 1), lambda d: d.normal(1009, 1013).astype(np.float64), torch=lambda t, F, x: x.sum(1)),
        both("sum_columns_1024x1024_bf16", lambda x: jnp.sum(x, 0), bf16(1024, 1024), torch=lambda t, F, x: x.sum(0), rtol=5e-2, atol=1.0),
        both("max_columns_1000x1000_f32", lambda x: jnp.max(x, 0), (1000, 1000), torch=lambda t, F, x: x.amax(0)),
        both("min_max_all_1000000_f32", lambda x: (jnp.min(x), jnp.max(x)), (1000000,), torch=lambda t, F, x: t.aminmax(x)),
        both("mean_variance_256x1000_f32", lambda x: (jnp.mean(x, 1), jnp.var(x, 1)), (256, 1000), torch=lambda t, F, x: (x.mean(1), x.var(1, correction=0))),
        both("norm_1000000_f32", lambda x: jnp.sqrt(jnp.sum(x * x)), (1000000,), torch=lambda t, F, x: x.norm()),
        both("dot_1000000_f32", lambda a, b: jnp.sum(a * b), (1000000,), (1000000,), torch=lambda t, F, a, b: a @ b, rtol=1e-2, atol=1.0),
        both("count_true_1000000_f32", lambda x: jnp.sum((x > 0).astype(jnp.int32)), (1000000,), torch=lambda t, F, x: (x > 0).sum().int()),
        both("any_rows_1000x1000_f32", lambda x: jnp.any(x > 3, 1), (1000, 1000), torch=lambda t, F, x: (x > 3).any(1)),
        both("argmin_columns_512x512_f32", lambda x: jnp.argmin(x, 0).astype(jnp.int32), (512, 512), torch=lambda t, F, x: x.argmin(0).int()),
        both("argmax_1000000_f32", lambda x: jnp.argmax(x).astype(jnp.int32), (1000000,), torch=lambda t, F, x: x.argmax().int()),
        both("sum_s32_1000x1000", lambda x: jnp.sum(x, 1), integers(100, 1000, 1000), torch=lambda t, F, x: x.sum(1, dtype=t.int32)),
        both("softmax_columns_256x512_f32", lambda x: jax.nn.softmax(x, 0), (256, 512), torch=lambda t, F, x: x.softmax(0)),
        both("softmax_4096x10_f32", softmax, (4096, 10), torch=lambda t, F, x: x.softmax(1)),
        both("softmax_8x50257_f32", softmax, (8, 50257), torch=lambda t, F, x: x.softmax(1)),
        both("softmax_512x512_bf16", softmax, bf16(512, 512), torch=lambda t, F, x: x.softmax(1), **COARSE),
        both("softmax_masked_8x256x256_f32", lambda x, m: softmax(jnp.where(m, x, -1e9)), (8, 256, 256), lambda d: d.random.integers(0, 2, (256, 256)).astype(bool),
             torch=lambda t, F, x, m: x.masked_fill(~m, -1e9).softmax(-1)),
        both("softmax_alibi_8x256x256_f32", lambda x, k: softmax(x + k[:, None, None] * jnp.arange(256, dtype=jnp.float32)), (8, 256, 256), (8,),
             torch=lambda t, F, x, k: (x + k[:, None, None] * t.arange(256.)).softmax(-1)),
        both("max_rows_512x1024_bf16", lambda x: jnp.max(x, 1), bf16(512, 1024), torch=lambda t, F, x: x.amax(1), **COARSE),
        both("log_softmax_300x1000_f32", lambda x: jax.nn.log_softmax(x, -1), (300, 1000), torch=lambda t, F, x: x.log_softmax(1)),
        both("softmax_gradient_512x512_f32", softmax_gradient, (512, 512), (512, 512)),
        both("cross_entropy_gradient_256x10000_f32", cross_entropy_gradient, (256, 10000), integers(10000, 256)),
        both("layer_norm_64x5000_f32", layer_norm, (64, 5000), (5000,), (5000,), torch=lambda t, F, x, s, b: F.layer_norm(x, (5000,), s, b)),
        both("layer_norm_3136x96_f32", layer_norm, (3136, 96), (96,), (96,), torch=lambda t, F, x, s, b: F.layer_norm(x, (96,), s, b)),
        both("layer_norm_256x1024_bf16", layer_norm, bf16(256, 1024), bf16(1024), bf16(1024), torch=lambda t, F, x, s, b: F.layer_norm(x, (1024,), s, b),
             rtol=1e-1, atol=1e-1),
        both("layer_norm_gradients_512x768_f32", layer_norm_gradients, (512, 768), (768,), (768,), (512, 768), rtol=1e-2, atol=5e-2),
        both("instance_norm_4x32x64x64_f32", instance_norm, (4, 32, 64, 64), torch=lambda t, F, x: F.instance_norm(x)),
        both("group_norm_nchw_2x64x32x32_f32", group_norm_first, (2, 64, 32, 32), (64,), (64,), torch=lambda t, F, x, s, b: F.group_norm(x, 8, s, b)),
        both("batch_norm_inference_8x28x28x128_f32", batch_norm_inference, (8, 28, 28, 128), (128,), lambda d: d.positive(128), (128,), (128,)),
        both("unit_rows_1000x512_f32", unit, (1000, 512), torch=lambda t, F, x: F.normalize(x, dim=1)),
        both("cosine_4096x128_f32", cosine, (4096, 128), (4096, 128), torch=lambda t, F, a, b: F.cosine_similarity(a, b)),
        both("max_pool3x3_nchw_4x64x56x56_f32", lambda x: lax.reduce_window(x, -np.float32(np.inf), lax.max, (1, 1, 3, 3), (1, 1, 2, 2),
             ((0, 0), (0, 0), (1, 1), (1, 1))), (4, 64, 56, 56), torch=lambda t, F, x: F.max_pool2d(x, 3, 2, 1)),
        both("mean_pool2x2_nchw_4x64x56x56_f32", lambda x: lax.reduce_window(x, np.float32(0), lax.add, (1, 1, 2, 2), (1, 1, 2, 2), "VALID") / 4,
             (4, 64, 56, 56), torch=lambda t, F, x: F.avg_pool2d(x, 2)),
        both("global_max_16x7x7x512_f32", lambda x: jnp.max(x, (1, 2)), (16, 7, 7, 512), torch=lambda t, F, x: x.amax((1, 2))),
        both("cumsum_columns_1024x512_f32", lambda x: jnp.cumsum(x, 0), (1024, 512), torch=lambda t, F, x: x.cumsum(0), rtol=1e-2, atol=1e-1),
        both("cumprod_64x1000_f32", lambda x: jnp.cumprod(x, 1), lambda d: d.around(1, 64, 1000, spread=0.01), torch=lambda t, F, x: x.cumprod(1)),
        both("logcumsumexp_64x1000_f32", lambda x: lax.cumlogsumexp(x, 1), (64, 1000), torch=lambda t, F, x: x.logcumsumexp(1)),
        both("median_512x255_f32", lambda x: jnp.median(x, 1), (512, 255), torch=lambda t, F, x: x.median(1).values),
        both("top_k_1000x1000_k5_f32", lambda x: lax.top_k(x, 5), (1000, 1000), torch=lambda t, F, x: x.topk(5)),
        both("top_k_20011_k5000_f32", lambda x: lax.top_k(x, 5000), (20011,), torch=lambda t, F, x: x.topk(5000)),
        both("top_1_8x128256_f32", lambda x: lax.top_k(x, 1), (8, 128256), torch=lambda t, F, x: x.topk(1)),
        both("sort_10000x16_f32", lambda x: jnp.sort(x, 1), (10000, 16), torch=lambda t, F, x: x.sort(1).values),
        both("sort_100000_bf16", lambda x: jnp.sort(x), bf16(100000), torch=lambda t, F, x: x.sort().values),
        both("sort_by_key_100000_s32", lambda k, v: lax.sort((k, v), num_keys=1), integers(2**30, 100000), (100000,)),
    ]
