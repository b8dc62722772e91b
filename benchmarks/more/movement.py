# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data movement in other ranks, types and places."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, integers, scalar


def space_to_depth(x):
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 2, 4, 5).reshape(n, h // 2, w // 2, 4 * c)


def windows(x):
    """Swin's: 7 by 7 pixels each."""
    h, w, c = x.shape
    return x.reshape(h // 7, 7, w // 7, 7, c).transpose(0, 2, 1, 3, 4).reshape(-1, 49, c)


def triangle(x):
    return jnp.where(lax.broadcasted_iota(jnp.int32, x.shape, 0) >= lax.broadcasted_iota(jnp.int32, x.shape, 1), x, 0)


def programs():
    def both(name, function, *specs, torch=None, **more):
        return case(name, function, *specs, source="data movement", torch_function=in_torch(torch) if torch else None, **more)

    found = [both(f"transpose_{''.join(map(str, p))}_{'x'.join(map(str, s))}_f32", lambda x, p=p: x.transpose(p), s,
                  torch=lambda t, F, x, p=p: x.permute(p).contiguous())
             for p, s in (((1, 0), (300, 7)), ((1, 0), (64, 4096)), ((1, 0), (100000, 8)), ((0, 2, 1), (32, 100, 64)), ((2, 0, 1), (64, 80, 96)),
                          ((2, 1, 0), (50, 60, 70)), ((1, 0, 2), (128, 32, 64)), ((0, 3, 1, 2), (4, 56, 56, 64)), ((3, 2, 1, 0), (16, 24, 20, 28)),
                          ((0, 1, 3, 2), (2, 16, 128, 128)), ((0, 3, 2, 1), (3, 40, 50, 60)))]
    found += [
        both("transpose_1024x1024_s8", jnp.transpose, integers(127, 1024, 1024, dtype=np.int8), torch=lambda t, F, x: x.T.contiguous()),
        both("transpose_513x1025_bf16", jnp.transpose, bf16(513, 1025), torch=lambda t, F, x: x.T.contiguous()),
        both("transpose_512x512_f64", jnp.transpose, lambda d: d.normal(512, 512).astype(np.float64), torch=lambda t, F, x: x.T.contiguous()),
        both("space_to_depth_4x64x64x32_f32", space_to_depth, (4, 64, 64, 32)),
        both("windows_56x56x96_f32", windows, (56, 56, 96)),
        both("roll_512x1000_f32", lambda x: jnp.roll(x, (3, 5), (0, 1)), (512, 1000), torch=lambda t, F, x: x.roll((3, 5), (0, 1))),
        both("reverse_rows_1000x500_f32", lambda x: x[::-1], (1000, 500), torch=lambda t, F, x: x.flip(0)),
        both("reverse_both_300x401_f32", lambda x: x[::-1, ::-1], (300, 401), torch=lambda t, F, x: x.flip(0, 1)),
        both("tile_100x100_by_4x5_f32", lambda x: jnp.tile(x, (4, 5)), (100, 100), torch=lambda t, F, x: x.tile(4, 5)),
        both("repeat_2000x64_by_8_f32", lambda x: jnp.repeat(x, 8, 0), (2000, 64), torch=lambda t, F, x: x.repeat_interleave(8, 0)),
        both("upsample_nearest_2x32x32x64_f32", lambda x: jnp.repeat(jnp.repeat(x, 2, 1), 2, 2), (2, 32, 32, 64)),
        both("resize_bilinear_1x64x64x32_f32", lambda x: jax.image.resize(x, (1, 100, 100, 32), "bilinear"), (1, 64, 64, 32), rtol=1e-3, atol=1e-3),
        both("concatenate_rows_3_f32", lambda a, b, c: jnp.concatenate([a, b, c]), (100, 300), (200, 300), (50, 300),
             torch=lambda t, F, a, b, c: t.cat([a, b, c])),
        both("concatenate_channels_4_f32", lambda *a: jnp.concatenate(a, 3), *[(1, 28, 28, c) for c in (64, 32, 16, 48)],
             torch=lambda t, F, *a: t.cat(a, 3)),
        both("stack_4x100000_f32", lambda *a: jnp.stack(a, 1), *[(100000,)] * 4, torch=lambda t, F, *a: t.stack(a, 1)),
        both("split_1000x1200_f32", lambda x: jnp.split(x, 3, 1), (1000, 1200), torch=lambda t, F, x: tuple(y.contiguous() for y in x.split(400, 1))),
        both("slice_columns_2000x1000_f32", lambda x: x[:, 100:613], (2000, 1000), torch=lambda t, F, x: x[:, 100:613].contiguous()),
        both("pad_reflect_4x3x128x128_f32", lambda x: jnp.pad(x, ((0, 0), (0, 0), (3, 3), (3, 3)), mode="reflect"), (4, 3, 128, 128),
             torch=lambda t, F, x: F.pad(x, (3, 3, 3, 3), mode="reflect")),
        both("pad_interior_500x500_f32", lambda x: lax.pad(x, np.float32(0), ((1, 2, 1), (0, 1, 1))), (500, 500)),
        both("triangle_1000x1000_f32", triangle, (1000, 1000), torch=lambda t, F, x: x.tril()),
        both("iota_1000x1000_f32", lambda x: lax.broadcasted_iota(jnp.float32, (1000, 1000), 1) * x, scalar(np.float32(2))),
        both("gather_columns_1000x1000_by_300_f32", lambda x, i: x[:, i], (1000, 1000), integers(1000, 300), torch=lambda t, F, x, i: x[:, i.long()]),
        both("gather_elements_100000_by_100000_f32", lambda x, i: x[i], (100000,), integers(100000, 100000), torch=lambda t, F, x, i: x[i.long()]),
        both("gather_pairs_500x500_by_10000_f32", lambda x, i, j: x[i, j], (500, 500), integers(500, 10000), integers(500, 10000),
             torch=lambda t, F, x, i, j: x[i.long(), j.long()]),
        both("scatter_set_rows_4096x128_by_512_f32", lambda x, i, u: x.at[i].set(u, unique_indices=True), (4096, 128),
             lambda d: d.random.permutation(4096)[:512].astype(np.int32), (512, 128), torch=lambda t, F, x, i, u: x.index_copy(0, i.long(), u)),
        both("scatter_max_10000_by_100000_f32", lambda x, i, u: x.at[i].max(u), (10000,), integers(10000, 100000), (100000,)),
        both("segment_sum_100000x16_by_1000_f32", lambda x, i: jax.ops.segment_sum(x, i, 1000), (100000, 16),
             lambda d: np.sort(integers(1000, 100000)(d)), rtol=1e-3, atol=1e-2),
        both("dynamic_slice_8x1024x64_f32", lambda x, i: lax.dynamic_slice(x, (0, i, 0), (8, 128, 64)) * 2, (8, 1024, 64), scalar(np.int32(100))),
        both("update_1000x1000_f32", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)), (1000, 1000), (100, 100), scalar(np.int32(50))),
        both("diagonal_1000x1000_f32", jnp.diagonal, (1000, 1000), torch=lambda t, F, x: x.diagonal().contiguous()),
        both("fft_1024x1000_c64", jnp.fft.fft, lambda d: (d.normal(1024, 1000) + 1j * d.normal(1024, 1000)).astype(np.complex64), rtol=1e-2, atol=1e-2,
             torch=lambda t, F, x: t.fft.fft(x)),
        both("rfft_64x16000_f32", jnp.fft.rfft, (64, 16000), torch=lambda t, F, x: t.fft.rfft(x), rtol=1e-2, atol=1e-1),
        both("pad_8x99x101x3_u8", lambda x: jnp.pad(x, ((0, 0), (2, 3), (2, 3), (0, 0))), lambda d: d.random.integers(0, 256, (8, 99, 101, 3)).astype(np.uint8),
             torch=lambda t, F, x: F.pad(x, (0, 0, 2, 3, 2, 3))),
        both("fft_convolve_10007_501_f32", lambda x, k: jax.scipy.signal.fftconvolve(x, k, mode="same"), (10007,), (501,), rtol=1e-2, atol=1e-1),
        both("fft_1x10007_c64", jnp.fft.fft, lambda d: (d.normal(1, 10007) + 1j * d.normal(1, 10007)).astype(np.complex64), rtol=1e-2, atol=1e-1,
             torch=lambda t, F, x: t.fft.fft(x)),
        both("fft2_256x256_c64", jnp.fft.fft2, lambda d: (d.normal(256, 256) + 1j * d.normal(256, 256)).astype(np.complex64), rtol=1e-2, atol=1e-1,
             torch=lambda t, F, x: t.fft.fft2(x)),
        both("irfft_100x129_c64", lambda x: jnp.fft.irfft(x), lambda d: (d.normal(100, 129) + 1j * d.normal(100, 129)).astype(np.complex64), rtol=1e-2,
             atol=1e-2, torch=lambda t, F, x: t.fft.irfft(x)),
    ]
    return found
