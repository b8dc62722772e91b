# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products, attention and convolutions in sizes, types and layouts that `op` does not have."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, int8, matrix
from benchmarks.op.contraction import MATMUL, attention, exact_product, torch_attention
from benchmarks.op.convolution import convolution, torch_convolution
from benchmarks.op.rows import softmax

NEAR = dict(rtol=1e-3, atol=1e-2)


def double(*shape):
    return lambda draw: draw.normal(*shape).astype(np.float64)


def half(*shape):
    return lambda draw: draw.normal(*shape).astype(np.float16)


def biased_attention(q, k, v, bias):
    return jnp.einsum("bhqk,bhkd->bhqd", softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) * np.float32(q.shape[-1] ** -0.5) + bias), v)


def windowed_attention(q, k, v):
    """Each query sees the 128 keys before it."""
    scores = jnp.einsum("hqd,hkd->hqk", q, k) * np.float32(q.shape[-1] ** -0.5)
    distance = lax.broadcasted_iota(jnp.int32, scores.shape[1:], 0) - lax.broadcasted_iota(jnp.int32, scores.shape[1:], 1)
    return jnp.einsum("hqk,hkd->hqd", softmax(jnp.where((distance >= 0) & (distance < 128), scores, np.float32(-1e30))), v)


def attention_gradients(q, k, v, g):
    return jax.vjp(attention(True), q, k, v)[1](g)


def distances(a, b):
    return jnp.sqrt(jnp.maximum(jnp.sum(a * a, 1)[:, None] + jnp.sum(b * b, 1)[None] - 2 * a @ b.T, 0) + 1e-6)


def low_rank(x, w, a, b):
    return x @ w + (x @ a) @ b


def gated(x, gate, up, down):
    return (jax.nn.silu(x @ gate) * (x @ up)) @ down


def of_codes(x, codes, scales):
    """Weights of outputs x groups x terms in int8, and a scale for each group: exactly what the text says, in float32."""
    weights = codes.astype(jnp.float32) * scales[:, :, None]
    return x @ weights.reshape(codes.shape[0], -1).T


def torch_of_codes(torch, F, x, codes, scales):
    return F.linear(x, (codes.to(torch.float32) * scales[:, :, None]).flatten(1))


def of_packed_codes(x, pairs, scales):
    """The same with two codes of four bits, -8 to 7, in each byte."""
    codes = jnp.stack([pairs & 15, pairs >> 4], -1).reshape(*scales.shape, -1).astype(jnp.int8) - 8
    return of_codes(x, codes, scales)


def torch_of_packed_codes(torch, F, x, pairs, scales):
    codes = torch.stack([pairs & 15, pairs >> 4], -1).view(*scales.shape, -1).to(torch.int8) - 8
    return torch_of_codes(torch, F, x, codes, scales)


def of_codes_and_rounded_rows(x, row_scales, pairs, scales):
    """Codes of four bits in pairs, and rows that are 8 bits and a scale."""
    return of_packed_codes(x.astype(jnp.float32) * row_scales[:, None], pairs, scales)


def torch_of_codes_and_rounded_rows(torch, F, x, row_scales, pairs, scales):
    return torch_of_packed_codes(torch, F, x.to(torch.float32) * row_scales[:, None], pairs, scales)


def bytes_of(*shape):
    return lambda draw: draw.random.integers(0, 256, shape).astype(np.uint8)


def first(x, k, spatial, numbers, **how):
    return lax.conv_general_dilated(x, k, padding="SAME", window_strides=(how.pop("stride", 1),) * spatial, dimension_numbers=numbers, **how)


def strided_gradients(x, k, g):
    return jax.vjp(convolution(2), x, k)[1](g)


def depthwise_gradients(x, k, g):
    return jax.vjp(convolution(1, x.shape[-1]), x, k)[1](g)


def programs():
    found = [case(f"gemm_{m}x{k}x{n}_f32", jnp.matmul, (m, k), (k, n), source="sizes", torch_function=MATMUL, **NEAR)
             for m, k, n in ((2, 1024, 4096), (5, 300, 77), (16, 2048, 2048), (17, 31, 8), (64, 4096, 64), (257, 257, 257), (384, 64, 1536),
                             (1000, 10, 1000), (4096, 16, 256), (10000, 128, 3), (768, 3072, 768), (1, 513, 10000))]
    found += [case(f"gemm_{b}x{m}x{k}x{n}_f32", jnp.matmul, (b, m, k), (b, k, n), source="batches", torch_function=MATMUL, **NEAR)
              for b, m, k, n in ((512, 8, 8, 8), (128, 3, 3, 3), (64, 1, 64, 256), (16, 100, 50, 20), (96, 64, 64, 64))]
    spatial = in_torch(lambda torch, F, x, k: F.conv2d(x, k, padding="same"))
    found += [
        case("gemm_256x256x256_f64", jnp.matmul, double(256, 256), double(256, 256), source="solvers", torch_function=MATMUL, **NEAR),
        case("gemm_128x512x512_f16", jnp.matmul, half(128, 512), half(512, 512), rtol=2e-2, atol=0.5, source="exported in half precision",
             torch_function=MATMUL),
        case("gemm_8x2048x2048_bf16", jnp.matmul, bf16(8, 2048), bf16(2048, 2048), rtol=2e-2, atol=0.5, source="decode", torch_function=MATMUL),
        case("gemm_1x2048x2048_bf16", jnp.matmul, bf16(1, 2048), bf16(2048, 2048), rtol=2e-2, atol=0.5, source="decode", torch_function=MATMUL),
        case("gemm_1000x333x77_s8", exact_product, int8(1000, 333), int8(333, 77), source="odd sizes"),
        case("gemv_transposed_1x4096_by_1024x4096_f32", lambda x, w: x @ w.T, (1, 4096), matrix(1024, 4096), source="PyTorch's weights",
             torch_function=in_torch(lambda torch, F, x, w: x @ w.T), **NEAR),
        case("gemm_both_transposed_300x400x500_f32", lambda a, b: a.T @ b.T, (400, 300), (500, 400), source="layouts",
             torch_function=in_torch(lambda torch, F, a, b: a.T @ b.T), **NEAR),
        *(case(f"quantized_{m}x4096x4096_s8_groups32", of_codes, (m, 4096), int8(4096, 128, 32), (4096, 128), source="decode, one scale for 32 terms", large=True,
               torch_function=in_torch(torch_of_codes), rtol=1e-3, atol=10) for m in (1, 4)),
        case("quantized_1x4096x4096_u4_groups32", of_packed_codes, (1, 4096), bytes_of(4096, 2048), (4096, 128), source="decode, two codes in a byte", large=True,
             torch_function=in_torch(torch_of_packed_codes), rtol=1e-3, atol=1),
        *(case(f"quantized_{m}x4096x4096_s8_u4_groups{g}", of_codes_and_rounded_rows, int8(m, 4096), (m,), bytes_of(4096, 2048), (4096, 4096 // g),
               source="rows of 8 bits, two codes in a byte", large=True, torch_function=in_torch(torch_of_codes_and_rounded_rows), rtol=1e-3, atol=10)
          for m, g in ((1, 32), (1, 128), (8, 32), (128, 32))),
        case("outer_2048x1024_f32", lambda a, b: a[:, None] * b[None], (2048,), (1024,), source="rank one",
             torch_function=in_torch(lambda torch, F, a, b: torch.outer(a, b))),
        case("einsum_bijc_jkc_64x8x32x16_f32", lambda a, b: jnp.einsum("bijc,jkc->bikc", a, b), (64, 8, 32, 16), (32, 24, 16), source="mixers",
             torch_function=in_torch(lambda torch, F, a, b: torch.einsum("bijc,jkc->bikc", a, b)), **NEAR),
        case("low_rank_128x1024_r8_f32", low_rank, (128, 1024), matrix(1024, 1024), matrix(1024, 8), matrix(8, 1024), source="LoRA",
             torch_function=in_torch(lambda torch, F, x, w, a, b: low_rank(x, w, a, b)), **NEAR),
        case("gated_32x512x1376_f32", gated, (32, 512), matrix(512, 1376), matrix(512, 1376), matrix(1376, 512), source="Llama's feed forward",
             torch_function=in_torch(lambda torch, F, x, g, u, d: (F.silu(x @ g) * (x @ u)) @ d), **NEAR),
        case("distances_1000x500x64_f32", distances, (1000, 64), (500, 64), source="nearest neighbours",
             torch_function=in_torch(lambda torch, F, a, b: torch.cdist(a, b)), rtol=1e-2, atol=1e-2),
        case("attention_bias_4x8x128x128x32_f32", biased_attention, (4, 8, 128, 32), (4, 8, 128, 32), (4, 8, 128, 32), (1, 8, 128, 128),
             source="T5", torch_function=in_torch(lambda torch, F, q, k, v, b: F.scaled_dot_product_attention(q, k, v, b)), **NEAR),
        case("attention_window_8x1024x64_f32", windowed_attention, (8, 1024, 64), (8, 1024, 64), (8, 1024, 64), source="Gemma 2", **NEAR),
        case("attention_12x77x64_bf16", attention(False), bf16(12, 77, 64), bf16(12, 77, 64), bf16(12, 77, 64), rtol=5e-2, atol=5e-2,
             source="CLIP's text", torch_function=torch_attention(False)),
        case("attention_16x49x32_f32", attention(False), (64, 49, 32), (64, 49, 32), (64, 49, 32), source="Swin", torch_function=torch_attention(False),
             **NEAR),
        case("attention_gradients_8x256x64_f32", attention_gradients, (8, 256, 64), (8, 256, 64), (8, 256, 64), (8, 256, 64),
             source="GPT training", **NEAR),
        case("conv1d_8x80x300x256k3_f32", lambda x, k: first(x, k, 1, ("NCH", "OIH", "NCH")), (8, 80, 300), (256, 80, 3), source="Whisper's start",
             torch_function=in_torch(lambda torch, F, x, k: F.conv1d(x, k, padding=1)), **NEAR),
        case("conv1d_causal_depthwise_4x512x256k4_f32", lambda x, k: lax.conv_general_dilated(
            x, k, (1,), [(3, 0)], feature_group_count=256, dimension_numbers=("NHC", "HIO", "NHC")), (4, 512, 256), (4, 1, 256),
             source="Mamba", torch_function=in_torch(lambda torch, F, x, k: F.conv1d(F.pad(x.permute(0, 2, 1), (3, 0)), k.permute(2, 1, 0), groups=256)
                                                     .permute(0, 2, 1)), **NEAR),
        case("conv_patches16_4x224x224x3x192_f32", convolution(16), (4, 224, 224, 3), (16, 16, 3, 192), source="ViT-Tiny's start",
             torch_function=torch_convolution(16), **NEAR),
        case("conv3x3_nchw_2x32x96x96x32_f32", lambda x, k: first(x, k, 2, ("NCHW", "OIHW", "NCHW")), (2, 32, 96, 96), (32, 32, 3, 3),
             source="super-resolution", torch_function=spatial, **NEAR),
        case("conv3x3_nchw_1x3x256x256x16_f32", lambda x, k: first(x, k, 2, ("NCHW", "OIHW", "NCHW")), (1, 3, 256, 256), (16, 3, 3, 3),
             source="few channels", torch_function=spatial, **NEAR),
        case("conv5x5_depthwise_2x40x40x120_f32", convolution(1, 120), (2, 40, 40, 120), (5, 5, 1, 120), source="EfficientNet",
             torch_function=torch_convolution(1, 120), **NEAR),
        case("conv7x7_depthwise_1x56x56x96_f32", convolution(1, 96), (1, 56, 56, 96), (7, 7, 1, 96), source="ConvNeXt",
             torch_function=torch_convolution(1, 96), **NEAR),
        case("conv_groups4_1x64x28x28_f32", lambda x, k: first(x, k, 2, ("NCHW", "OIHW", "NCHW"), feature_group_count=16), (1, 64, 28, 28), (64, 4, 3, 3),
             source="groups of four", torch_function=in_torch(lambda torch, F, x, k: F.conv2d(x, k, padding=1, groups=16)), **NEAR),
        case("conv3x3s2_gradients_4x32x32x32_f32", strided_gradients, (4, 32, 32, 32), (3, 3, 32, 64), (4, 16, 16, 64), source="ResNet training",
             rtol=1e-3, atol=5e-2),
        case("conv3x3_depthwise_gradients_4x28x28x64_f32", depthwise_gradients, (4, 28, 28, 64), (3, 3, 1, 64), (4, 28, 28, 64),
             source="MobileNet training", rtol=1e-3, atol=5e-2),
        case("conv3d_1x3x8x64x64x32_f32", lambda x, k: first(x, k, 3, ("NCDHW", "OIDHW", "NCDHW")), (1, 3, 8, 64, 64), (32, 3, 3, 3, 3),
             source="video", torch_function=in_torch(lambda torch, F, x, k: F.conv3d(x, k, padding=1)), **NEAR),
        case("conv_transpose2x2_2x16x16x64x32_f32", lambda x, k: lax.conv_transpose(x, k, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")),
             (2, 16, 16, 64), (2, 2, 64, 32), source="segmentation", **NEAR),
        case("conv3x3_1x28x28x128_f64", convolution(), double(1, 28, 28, 128), double(3, 3, 128, 32), source="double precision",
             torch_function=torch_convolution(), **NEAR),
        case("gemm_129x515x131_bf16_f32", lambda a, b: jnp.dot(a, b, preferred_element_type=np.float32), bf16(129, 515), bf16(515, 131),
             source="mixed precision, odd sizes", **NEAR),
        case("gemm_batched_33x65x67x69_bf16", lambda a, b: a @ b, bf16(33, 65, 67), bf16(33, 67, 69), source="mixed precision, odd sizes",
             torch_function=in_torch(lambda torch, F, a, b: a @ b), rtol=2e-2, atol=2e-1),
        case("conv3x3_nchw_2x33x28x28x65_bf16", lambda x, k: first(x, k, 2, ("NCHW", "OIHW", "NCHW")), bf16(2, 33, 28, 28), bf16(65, 33, 3, 3),
             source="mixed precision, odd sizes", torch_function=in_torch(lambda torch, F, x, k: F.conv2d(x, k, padding=1)), rtol=2e-2, atol=5e-1),
        case("conv3x3_2x28x28x32x64_s8", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                                                              preferred_element_type=np.int32),
             int8(2, 28, 28, 32), int8(3, 3, 32, 64), source="a quantized ResNet", rtol=0, atol=0),
        case("einsum_ir_jr_ijr_101x103x33_f32", lambda a, b: jnp.einsum("ir,jr->ijr", a, b), (101, 33), (103, 33), source="tensor decomposition",
             torch_function=in_torch(lambda torch, F, a, b: torch.einsum("ir,jr->ijr", a, b)), **NEAR),
        case("inner_product_1000003_f32", jnp.vdot, (1000003,), (1000003,), source="a prime number of elements",
             torch_function=in_torch(lambda torch, F, a, b: torch.dot(a, b)), rtol=1e-3, atol=1e-1),
    ]
    return found
