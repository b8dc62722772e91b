# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements change their place, not their value."""
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import bf16, case, in_torch, integers, scalar


def bag(table, index):
    """The sum of the rows of each bag."""
    return jnp.sum(table[index], axis=1)


def pixel_shuffle(x):
    """Four channels become two by two pixels."""
    n, c, h, w = x.shape
    return x.reshape(n, c // 4, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // 4, 2 * h, 2 * w)


def histogram(bins):
    return jnp.zeros(256, jnp.int32).at[bins].add(1)


def programs():
    return [
        case("transpose_2048x2048_f32", jnp.transpose, (2048, 2048), source="square",
             torch_function=in_torch(lambda torch, F, a: a.T.contiguous())),
        case("transpose_1000x1537_f32", jnp.transpose, (1000, 1537), source="odd sizes",
             torch_function=in_torch(lambda torch, F, a: a.T.contiguous())),
        case("transpose_0213_8x128x12x64_f32", lambda x: x.transpose(0, 2, 1, 3), (8, 128, 12, 64), source="BERT-base, heads",
             torch_function=in_torch(lambda torch, F, a: a.transpose(1, 2).contiguous())),
        case("transpose_0213_8x128x12x64_bf16", lambda x: x.transpose(0, 2, 1, 3), bf16(8, 128, 12, 64), source="BERT-base, heads",
             torch_function=in_torch(lambda torch, F, a: a.transpose(1, 2).contiguous())),
        case("transpose_nchw_to_nhwc_8x64x56x56_f32", lambda x: x.transpose(0, 2, 3, 1), (8, 64, 56, 56), source="ResNet-50 from PyTorch",
             torch_function=in_torch(lambda torch, F, a: a.permute(0, 2, 3, 1).contiguous())),
        case("concatenate_2x1024x1024_f32", lambda a, b: jnp.concatenate([a, b], axis=1), (1024, 1024), (1024, 1024),
             source="a U-Net, skip connection", torch_function=in_torch(lambda torch, F, a, b: torch.cat([a, b], 1))),
        case("pad_8x56x56x64_f32", lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), (8, 56, 56, 64), source="ResNet-50",
             torch_function=in_torch(lambda torch, F, x: F.pad(x, (0, 0, 1, 1, 1, 1)))),
        case("slice_strided_2048x2048_f32", lambda x: x[::2, 1::3], (2048, 2048), source="subsampling",
             torch_function=in_torch(lambda torch, F, x: x[::2, 1::3].contiguous())),
        case("reverse_512x2048_f32", lambda x: x[:, ::-1], (512, 2048), source="a bidirectional LSTM",
             torch_function=in_torch(lambda torch, F, x: x.flip(1))),
        case("one_hot_4096x1000_f32", lambda i: (i[:, None] == lax.iota(jnp.int32, 1000)).astype(jnp.float32), integers(1000, 4096),
             source="labels", torch_function=in_torch(lambda torch, F, i: F.one_hot(i.long(), 1000).float())),
        case("gather_rows_30522x768_by_4096_f32", lambda t, i: t[i], (30522, 768), integers(30522, 4096), large=True,
             source="BERT-base, embedding", torch_function=in_torch(lambda torch, F, t, i: t[i.long()])),
        case("gather_bags_100000x64_by_2048x20_f32", bag, (100000, 64), integers(100000, 2048, 20), source="DLRM, sparse features",
             torch_function=in_torch(lambda torch, F, t, i: F.embedding_bag(i.long(), t, mode="sum"))),
        case("gather_along_rows_4096x256_f32", lambda t, i: jnp.take_along_axis(t, i, axis=1, mode="clip"), (4096, 256),
             integers(256, 4096, 256), source="torch.gather",
             torch_function=in_torch(lambda torch, F, t, i: t.gather(1, i.long()))),
        case("transpose_weights_512x512x3x3_f32", lambda x: x.transpose(2, 3, 1, 0), (512, 512, 3, 3), source="ResNet-18 from PyTorch",
             torch_function=in_torch(lambda torch, F, x: x.permute(2, 3, 1, 0).contiguous())),
        case("pixel_shuffle_4x256x32x32_f32", pixel_shuffle, (4, 256, 32, 32), source="super-resolution",
             torch_function=in_torch(lambda torch, F, x: F.pixel_shuffle(x, 2))),
        case("scatter_add_rows_4096x256_by_8192_f32", lambda t, i, u: t.at[i].add(u), (4096, 256), integers(4096, 8192),
             (8192, 256), atol=1e-3, source="gradient of an embedding",
             torch_function=in_torch(lambda torch, F, t, i, u: t.index_add(0, i.long(), u))),
        case("scatter_histogram_1048576_s32", histogram, integers(256, 1048576), source="a histogram",
             torch_function=in_torch(lambda torch, F, b: torch.bincount(b, minlength=256).int())),
        case("dynamic_update_slice_12x1024x64_f32", lambda c, u, p: lax.dynamic_update_slice(c, u, (0, p, 0)),
             (12, 1024, 64), (12, 1, 64), scalar(np.int32(77)), source="GPT-2 decode, cache",
             torch_function=in_torch(lambda torch, F, c, u, p: c.index_copy(1, p.long().view(1), u))),
    ]
