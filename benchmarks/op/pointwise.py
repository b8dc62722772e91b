# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element by element: from 8 elements, where only the call costs, to arrays that only memory can serve."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, int8, integers, positive
from benchmarks.op.contraction import gelu


def adam(p, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def rotate(x, cosine, sine):
    """Rotary position embedding."""
    half = x.shape[-1] // 2
    turned = jnp.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * cosine + turned * sine


def torch_rotate(torch, F, x, cosine, sine):
    half = x.shape[-1] // 2
    return x * cosine + torch.cat([-x[..., half:], x[..., :half]], -1) * sine


def quantize(x):
    return jnp.clip(lax.round(x * 31.5, lax.RoundingMethod.TO_NEAREST_EVEN), -128, 127).astype(jnp.int8)


def programs():
    add = in_torch(lambda torch, F, a, b: a + b)
    return [
        case("add_8_f32", lambda a, b: a + b, (8,), (8,), source="the cost of a call", torch_function=add),
        case("add_4096_f32", lambda a, b: a + b, (4096,), (4096,), source="one vector of Llama 2 7B", torch_function=add),
        case("add_4096x1024_f32", lambda a, b: a + b, (4096, 1024), (4096, 1024), source="a residual", torch_function=add),
        case("add_16777216_f32", lambda a, b: a + b, (16777216,), (16777216,), source="memory-bound", large=True, torch_function=add),
        case("add_row_4096x1024_f32", lambda a, b: a + b, (4096, 1024), (1024,), source="a bias", torch_function=add),
        case("scale_10007_f32", lambda a: a * np.float32(1.5) + 1, (10007,), source="a prime number of elements",
             torch_function=in_torch(lambda torch, F, a: a * 1.5 + 1)),
        case("gelu_512x3072_f32", gelu, (512, 3072), source="BERT-base",
             torch_function=in_torch(lambda torch, F, x: F.gelu(x, approximate="tanh"))),
        case("gelu_512x3072_bf16", gelu, bf16(512, 3072), rtol=2e-2, atol=2e-2, source="BERT-base",
             torch_function=in_torch(lambda torch, F, x: F.gelu(x, approximate="tanh"))),
        case("gelu_erf_512x3072_f32", lambda x: jax.nn.gelu(x, approximate=False), (512, 3072), source="BERT-base, exact",
             torch_function=in_torch(lambda torch, F, x: F.gelu(x))),
        case("silu_multiply_64x11008_f32", lambda a, b: jax.nn.silu(a) * b, (64, 11008), (64, 11008), source="Llama 2 7B, feed forward",
             torch_function=in_torch(lambda torch, F, a, b: F.silu(a) * b)),
        case("rotate_32x256x128_f32", rotate, (32, 256, 128), (256, 128), (256, 128), source="Llama 2 7B, positions",
             torch_function=in_torch(torch_rotate)),
        case("adam_1000000_f32", adam, (1000000,), (1000000,), positive(1000000), (1000000,), source="an optimizer step",
             torch_function=in_torch(lambda torch, F, p, m, v, g: adam_in_torch(torch, p, m, v, g))),
        case("relu_1x112x112x64_bf16", lambda x: jnp.maximum(x, 0), bf16(1, 112, 112, 64), source="ResNet-50",
             torch_function=in_torch(lambda torch, F, x: F.relu(x))),
        case("quantize_512x3072_s8", quantize, (512, 3072), source="BERT-base quantized", rtol=1e-4),
        case("dequantize_512x3072_s8", lambda x: x.astype(jnp.float32) * np.float32(0.031), int8(512, 3072),
             source="BERT-base quantized", torch_function=in_torch(lambda torch, F, x: x.float() * 0.031)),
        case("exp_4096x1024_f32", jnp.exp, (4096, 1024), source="vector math", torch_function=in_torch(lambda torch, F, a: torch.exp(a))),
        case("tanh_4096x1024_f32", jnp.tanh, (4096, 1024), source="vector math",
             torch_function=in_torch(lambda torch, F, a: torch.tanh(a))),
        case("log1p_exp_4096x1024_f32", lambda x: jnp.log1p(jnp.exp(x)), (4096, 1024), source="softplus",
             torch_function=in_torch(lambda torch, F, a: torch.log1p(torch.exp(a)))),
        case("power_1024x1024_f32", lambda a, b: a ** b, positive(1024, 1024), (1024, 1024), source="vector math",
             torch_function=in_torch(lambda torch, F, a, b: a ** b)),
        case("sin_cos_1024x1024_f32", lambda x: (jnp.sin(x), jnp.cos(x)), (1024, 1024), source="positional embeddings",
             torch_function=in_torch(lambda torch, F, x: (x.sin(), x.cos()))),
        case("hash_1048576_u32", lambda x: (x ^ (x >> 16)) * np.uint32(0x7FEB352D), integers(2**31, 1048576, dtype=np.uint32),
             source="feature hashing"),
    ]


def adam_in_torch(torch, p, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 1e-3 * m / (v.sqrt() + 1e-8), m, v
