# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting, selecting, running sums, random numbers."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from benchmarks.op.case import case, in_torch, integers

KEY = (integers(2**31, 2, dtype=np.uint32),)


def uniform(key):
    return jax.random.uniform(jax.random.wrap_key_data(key), (1048576,))


def normal(key):
    return jax.random.normal(jax.random.wrap_key_data(key), (1000, 1000))


def dropout(x, key):
    kept = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.9, x.shape)
    return jnp.where(kept, x / np.float32(0.9), 0)


def programs():
    return [
        case("sort_64x16384_f32", lambda x: jnp.sort(x, axis=-1), (64, 16384), source="nucleus sampling",
             torch_function=in_torch(lambda torch, F, x: torch.sort(x, -1).values)),
        case("sort_1048576_f32", lambda x: jnp.sort(x), (1048576,), source="one long row",
             torch_function=in_torch(lambda torch, F, x: torch.sort(x).values)),
        case("sort_1048576_s32", lambda x: jnp.sort(x), integers(2**31 - 1, 1048576), source="keys",
             torch_function=in_torch(lambda torch, F, x: torch.sort(x).values)),
        case("argsort_256x4096_f32", lambda x: jnp.argsort(x, axis=-1), (256, 4096), source="ranking",
             torch_function=in_torch(lambda torch, F, x: torch.argsort(x, dim=-1, stable=True).int())),
        case("sort_columns_1009x257_f32", lambda x: jnp.sort(x, axis=0), (1009, 257), source="prime sizes, along columns",
             torch_function=in_torch(lambda torch, F, x: torch.sort(x, 0).values)),
        case("top_k_64x32000_k50_f32", lambda x: lax.top_k(x, 50), (64, 32000), source="Llama 2 sampling",
             torch_function=in_torch(lambda torch, F, x: torch.topk(x, 50))),
        case("cumsum_256x4096_f32", lambda x: jnp.cumsum(x, axis=1), (256, 4096), atol=1e-2, rtol=1e-3, source="position ids",
             torch_function=in_torch(lambda torch, F, x: x.cumsum(1))),
        case("cumsum_4194304_f32", jnp.cumsum, (4194304,), atol=0.2, rtol=1e-3, source="one long row", large=True,
             torch_function=in_torch(lambda torch, F, x: x.cumsum(0))),
        case("cummax_columns_4096x256_f32", lambda x: lax.cummax(x, axis=0), (4096, 256), source="along columns",
             torch_function=in_torch(lambda torch, F, x: x.cummax(0).values)),
        case("random_uniform_1048576_f32", uniform, *KEY, source="threefry"),
        case("random_normal_1000x1000_f32", normal, *KEY, source="initial weights"),
        case("dropout_512x768_f32", dropout, (512, 768), *KEY, source="BERT-base training"),
    ]
