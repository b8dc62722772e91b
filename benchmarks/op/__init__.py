# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One operation, or one fusion, per program; shapes and dtype are in the name. Exported by JAX when measured."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.program import Program, Weights


def case(name, function, *specs, rtol=1e-4, atol=1e-4, torch_function=None):
    """A Program whose inputs are normal float32 arrays of the shapes `specs`; a spec may be a function of Weights."""

    def inputs(seed):
        draw = Weights(seed)
        return tuple(spec(draw) if callable(spec) else draw.normal(*spec) for spec in specs)

    return Program(name, function, inputs, rtol, atol, torch_function)


def integers(limit, *shape):
    return lambda draw: draw.random.integers(0, limit, shape).astype(np.int32)


def softmax(x):
    e = jnp.exp(x - jnp.max(x, axis=-1, keepdims=True))
    return e / jnp.sum(e, axis=-1, keepdims=True)


def layer_norm(x, scale, bias):
    centered = x - jnp.mean(x, axis=-1, keepdims=True)
    return centered * lax.rsqrt(jnp.mean(centered * centered, axis=-1, keepdims=True) + 1e-5) * scale + bias


def gelu(x):
    return 0.5 * x * (1 + jnp.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))


def convolution(stride, groups=1):
    return lambda x, k: lax.conv_general_dilated(x, k, (stride, stride), "SAME", feature_group_count=groups,
                                                 dimension_numbers=("NHWC", "HWIO", "NHWC"))


def torch_convolution(stride, groups=1):
    def function(x, k):
        import torch.nn.functional as F

        # JAX's SAME pads more at the end when the stride is 2 and the size even.
        total = k.shape[0] - stride if x.shape[1] % stride == 0 else k.shape[0] - 1
        low = max(total, 0) // 2
        x = F.pad(x.permute(0, 3, 1, 2), (low, max(total, 0) - low) * 2)
        return F.conv2d(x, k.permute(3, 2, 0, 1), stride=stride, groups=groups).permute(0, 2, 3, 1)

    return function


def in_torch(expression):
    """Defers the import of torch: the name `torch` and `F` are bound when the function runs."""

    def function(*arrays):
        import torch
        import torch.nn.functional as F

        return expression(torch, F, *arrays)

    return function


def programs():
    matmul = in_torch(lambda torch, F, a, b: a @ b)
    found = []
    for m, k, n in [(128, 768, 768), (128, 768, 3072), (1, 768, 3072), (512, 512, 512), (1024, 1024, 1024), (33, 65, 127)]:
        found.append(case(f"gemm_{m}x{k}x{n}_f32", jnp.matmul, (m, k), (k, n), rtol=1e-3, atol=1e-3, torch_function=matmul))
    found += [
        case("gemm_transposed_512x512x512_f32", lambda a, b: a @ b.T, (512, 512), (512, 512), rtol=1e-3, atol=1e-3,
             torch_function=in_torch(lambda torch, F, a, b: a @ b.T)),
        case("gemm_batched_12x128x64x128_f32", jnp.matmul, (12, 128, 64), (12, 64, 128), rtol=1e-3, atol=1e-3,
             torch_function=matmul),
        case("gemm_bias_gelu_128x768x3072_f32", lambda x, w, b: gelu(x @ w + b), (128, 768),
             lambda draw: draw.matrix(768, 3072), (3072,), rtol=1e-3, atol=1e-3,
             torch_function=in_torch(lambda torch, F, x, w, b: F.gelu(x @ w + b, approximate="tanh"))),
        case("softmax_1024x1024_f32", softmax, (1024, 1024),
             torch_function=in_torch(lambda torch, F, x: torch.softmax(x, -1))),
        case("softmax_12x128x128_f32", softmax, (12, 128, 128),
             torch_function=in_torch(lambda torch, F, x: torch.softmax(x, -1))),
        case("layer_norm_512x768_f32", layer_norm, (512, 768), (768,), (768,),
             torch_function=in_torch(lambda torch, F, x, s, b: F.layer_norm(x, (768,), s, b))),
        case("gelu_512x3072_f32", gelu, (512, 3072),
             torch_function=in_torch(lambda torch, F, x: F.gelu(x, approximate="tanh"))),
        case("add_4096x1024_f32", lambda a, b: a + b, (4096, 1024), (4096, 1024),
             torch_function=in_torch(lambda torch, F, a, b: a + b)),
        case("add_row_4096x1024_f32", lambda a, b: a + b, (4096, 1024), (1024,),
             torch_function=in_torch(lambda torch, F, a, b: a + b)),
        case("exp_4096x1024_f32", jnp.exp, (4096, 1024), torch_function=in_torch(lambda torch, F, a: torch.exp(a))),
        case("tanh_4096x1024_f32", jnp.tanh, (4096, 1024), torch_function=in_torch(lambda torch, F, a: torch.tanh(a))),
        case("log1p_exp_4096x1024_f32", lambda x: jnp.log1p(jnp.exp(x)), (4096, 1024),
             torch_function=in_torch(lambda torch, F, a: torch.log1p(torch.exp(a)))),
        case("sum_rows_2048x2048_f32", lambda x: jnp.sum(x, axis=1), (2048, 2048), atol=1e-2,
             torch_function=in_torch(lambda torch, F, a: a.sum(1))),
        case("sum_columns_2048x2048_f32", lambda x: jnp.sum(x, axis=0), (2048, 2048), atol=1e-2,
             torch_function=in_torch(lambda torch, F, a: a.sum(0))),
        case("sum_all_2048x2048_f32", jnp.sum, (2048, 2048), rtol=1e-3, atol=5e-2,
             torch_function=in_torch(lambda torch, F, a: a.sum())),
        case("argmax_rows_1024x4096_f32", lambda x: jnp.argmax(x, axis=1).astype(jnp.int32), (1024, 4096),
             torch_function=in_torch(lambda torch, F, a: a.argmax(1).int())),
        case("transpose_2048x2048_f32", jnp.transpose, (2048, 2048),
             torch_function=in_torch(lambda torch, F, a: a.T.contiguous())),
        case("transpose_0213_8x128x12x64_f32", lambda x: x.transpose(0, 2, 1, 3), (8, 128, 12, 64),
             torch_function=in_torch(lambda torch, F, a: a.transpose(1, 2).contiguous())),
        case("concatenate_2x1024x1024_f32", lambda a, b: jnp.concatenate([a, b], axis=1), (1024, 1024), (1024, 1024),
             torch_function=in_torch(lambda torch, F, a, b: torch.cat([a, b], 1))),
        case("pad_8x56x56x64_f32", lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (8, 56, 56, 64),
             torch_function=in_torch(lambda torch, F, x: F.pad(x, (0, 0, 1, 1, 1, 1)))),
        case("gather_rows_30522x768_by_4096_f32", lambda t, i: t[i], (30522, 768), integers(30522, 4096),
             torch_function=in_torch(lambda torch, F, t, i: t[i.long()])),
        case("scatter_add_rows_4096x256_by_8192_f32", lambda t, i, u: t.at[i].add(u), (4096, 256), integers(4096, 8192),
             (8192, 256), atol=1e-3,
             torch_function=in_torch(lambda torch, F, t, i, u: t.index_add(0, i.long(), u))),
        case("dynamic_update_slice_12x1024x64_f32", lambda c, u, p: lax.dynamic_update_slice(c, u, (0, p, 0)),
             (12, 1024, 64), (12, 1, 64), lambda draw: np.int32(77),
             torch_function=in_torch(lambda torch, F, c, u, p: c.index_copy(1, p.long().view(1), u))),
        case("sort_64x16384_f32", lambda x: jnp.sort(x, axis=-1), (64, 16384),
             torch_function=in_torch(lambda torch, F, x: torch.sort(x, -1).values)),
        case("sort_1048576_f32", lambda x: jnp.sort(x), (1048576,),
             torch_function=in_torch(lambda torch, F, x: torch.sort(x).values)),
        case("cumsum_256x4096_f32", lambda x: jnp.cumsum(x, axis=1), (256, 4096), atol=1e-2, rtol=1e-3,
             torch_function=in_torch(lambda torch, F, x: x.cumsum(1))),
        case("max_pool_8x112x112x64_f32",
             lambda x: lax.reduce_window(x, -np.float32(np.inf), lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
             (8, 112, 112, 64),
             torch_function=in_torch(lambda torch, F, x: F.max_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1))),
        case("conv3x3_1x56x56x64_f32", convolution(1), (1, 56, 56, 64), (3, 3, 64, 64), rtol=1e-3, atol=1e-2,
             torch_function=torch_convolution(1)),
        case("conv1x1_1x28x28x512x128_f32", convolution(1), (1, 28, 28, 512), (1, 1, 512, 128), rtol=1e-3, atol=1e-2,
             torch_function=torch_convolution(1)),
        case("conv7x7s2_1x224x224x3x64_f32", convolution(2), (1, 224, 224, 3), (7, 7, 3, 64), rtol=1e-3, atol=1e-2,
             torch_function=torch_convolution(2)),
        case("conv_depthwise3x3_1x56x56x128_f32", convolution(1, 128), (1, 56, 56, 128), (3, 3, 1, 128), rtol=1e-3, atol=1e-2,
             torch_function=torch_convolution(1, 128)),
        case("fft_256x1024_c64", lambda a, b: jnp.abs(jnp.fft.fft(a + 1j * b)), (256, 1024), (256, 1024), atol=1e-2,
             rtol=1e-3, torch_function=in_torch(lambda torch, F, a, b: torch.fft.fft(torch.complex(a, b)).abs())),
        case("cholesky_256x256_f32", lambda a: lax.linalg.cholesky(a @ a.T + 256 * jnp.eye(256, dtype=a.dtype)), (256, 256),
             rtol=1e-3, atol=1e-3,
             torch_function=in_torch(lambda torch, F, a: torch.linalg.cholesky(a @ a.T + 256 * torch.eye(256)))),
    ]
    return found
