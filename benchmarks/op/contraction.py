# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products in the layouts, types and sizes of models, and what is fused with them."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, int8, matrix
from benchmarks.op.rows import softmax

MATMUL = in_torch(lambda torch, F, a, b: a @ b)


def gelu(x):
    return 0.5 * x * (1 + jnp.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))


def attention(causal):
    def function(q, k, v):
        scores = jnp.einsum("hqd,hkd->hqk", q, k) * np.float32(1 / np.sqrt(q.shape[-1]))
        if causal:
            ones = lax.broadcasted_iota(jnp.int32, scores.shape[1:], 0) >= lax.broadcasted_iota(jnp.int32, scores.shape[1:], 1)
            scores = jnp.where(ones, scores, np.float32(-1e30))
        return jnp.einsum("hqk,hkd->hqd", softmax(scores), v)

    return function


def torch_attention(causal):
    return in_torch(lambda torch, F, q, k, v: F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=causal)[0])


def attention_shared_keys(q, k, v):
    """q: keys' heads x heads that share keys x length x width."""
    scores = jnp.einsum("hgqd,hkd->hgqk", q, k) * np.float32(1 / np.sqrt(q.shape[-1]))
    allowed = lax.broadcasted_iota(jnp.int32, scores.shape[2:], 0) >= lax.broadcasted_iota(jnp.int32, scores.shape[2:], 1)
    return jnp.einsum("hgqk,hkd->hgqd", softmax(jnp.where(allowed, scores, np.float32(-1e30))), v)


def torch_attention_shared_keys(torch, F, q, k, v):
    return F.scaled_dot_product_attention(q.flatten(0, 1)[None], k[None], v[None], is_causal=True, enable_gqa=True)[0].view(q.shape)


def exact_product(a, b):
    return lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)


def perceptron(x, *layers):
    for w, b in zip(layers[::2], layers[1::2]):
        x = jnp.maximum(x @ w + b, 0)
    return x


def torch_perceptron(torch, F, x, *layers):
    for w, b in zip(layers[::2], layers[1::2]):
        x = F.relu(x @ w + b)
    return x


def programs():
    f32 = [(128, 768, 768, "BERT-base, attention output"), (128, 768, 2304, "GPT-2, queries, keys and values"),
           (128, 768, 3072, "BERT-base, feed forward"), (1, 768, 3072, "GPT-2 decode, feed forward"),
           (8, 4096, 1024, "Llama 3 8B decode of 8 sequences, keys"), (512, 512, 512, "DLRM, top layers"),
           (1024, 1024, 1024, "square"), (33, 65, 127, "odd sizes"), (127, 253, 509, "prime sizes")]
    found = [case(f"gemm_{m}x{k}x{n}_f32", jnp.matmul, (m, k), (k, n), rtol=1e-3, atol=1e-3, source=source, torch_function=MATMUL)
             for m, k, n, source in f32]
    found += [
        case("gemm_1x4096x4096_f32", jnp.matmul, (1, 4096), matrix(4096, 4096), rtol=1e-3, atol=1e-3, large=True,
             source="Llama 2 7B decode, attention output", torch_function=MATMUL),
        case("gemm_transposed_512x512x512_f32", lambda a, b: a @ b.T, (512, 512), (512, 512), rtol=1e-3, atol=1e-3,
             source="weights as PyTorch keeps them", torch_function=in_torch(lambda torch, F, a, b: a @ b.T)),
        case("gemm_weight_gradient_768x128x3072_f32", lambda x, g: x.T @ g, (128, 768), (128, 3072), rtol=1e-3, atol=1e-3,
             source="BERT-base, feed forward, backward", torch_function=in_torch(lambda torch, F, x, g: x.T @ g)),
        case("gemm_batched_12x128x64x128_f32", jnp.matmul, (12, 128, 64), (12, 64, 128), rtol=1e-3, atol=1e-3,
             source="BERT-base, attention scores", torch_function=MATMUL),
        case("gemm_bias_gelu_128x768x3072_f32", lambda x, w, b: gelu(x @ w + b), (128, 768), matrix(768, 3072), (3072,),
             rtol=1e-3, atol=1e-3, source="BERT-base, feed forward",
             torch_function=in_torch(lambda torch, F, x, w, b: F.gelu(x @ w + b, approximate="tanh"))),
        case("gemm_128x768x3072_bf16", jnp.matmul, bf16(128, 768), bf16(768, 3072), rtol=2e-2, atol=0.5,
             source="BERT-base, feed forward", torch_function=MATMUL),
        case("gemm_1024x1024x1024_bf16", jnp.matmul, bf16(1024, 1024), bf16(1024, 1024), rtol=2e-2, atol=0.5, source="square",
             torch_function=MATMUL),
        case("gemm_128x768x3072_s8", exact_product, int8(128, 768), int8(768, 3072), source="BERT-base quantized, feed forward",
             torch_function=in_torch(lambda torch, F, a, b: torch._int_mm(a, b))),
        case("attention_12x128x64_f32", attention(False), (12, 128, 64), (12, 128, 64), (12, 128, 64), rtol=1e-3, atol=1e-3,
             source="BERT-base", torch_function=torch_attention(False)),
        case("attention_causal_12x512x64_f32", attention(True), (12, 512, 64), (12, 512, 64), (12, 512, 64), rtol=1e-3, atol=1e-3,
             source="GPT-2 prefill", torch_function=torch_attention(True)),
        case("attention_96x197x64_f32", attention(False), (96, 197, 64), (96, 197, 64), (96, 197, 64), rtol=1e-3, atol=1e-3,
             source="ViT-B/16, 8 images", torch_function=torch_attention(False)),
        case("attention_causal_12x1024x64_f32", attention(True), (12, 1024, 64), (12, 1024, 64), (12, 1024, 64), rtol=1e-3, atol=1e-3,
             source="GPT-2 prefill, 1024 tokens", torch_function=torch_attention(True)),
        case("attention_8x4096x40_f32", attention(False), (8, 4096, 40), (8, 4096, 40), (8, 4096, 40), rtol=1e-3, atol=1e-3, large=True,
             source="diffusion U-Net, 64x64", torch_function=torch_attention(False)),
        case("attention_shared_keys_8x4x512x64_f32", attention_shared_keys, (8, 4, 512, 64), (8, 512, 64), (8, 512, 64), rtol=1e-3,
             atol=1e-3, source="Llama 3.2 1B prefill", torch_function=in_torch(torch_attention_shared_keys)),
        case("attention_decode_32x1x1024x128_f32", attention(False), (32, 1, 128), (32, 1024, 128), (32, 1024, 128), rtol=1e-3,
             atol=1e-3, source="Llama 2 7B decode, 1024 tokens cached", torch_function=torch_attention(False)),
        case("perceptron_128x13x512x256x64_f32", perceptron, (128, 13), matrix(13, 512), (512,), matrix(512, 256), (256,),
             matrix(256, 64), (64,), rtol=1e-3, atol=1e-3, source="DLRM, bottom layers", torch_function=in_torch(torch_perceptron)),
        case("perceptron_1x8x8_f32", perceptron, (1, 8), matrix(8, 8), (8,), rtol=1e-3, atol=1e-3, source="a controller",
             torch_function=in_torch(torch_perceptron)),
    ]
    return found
