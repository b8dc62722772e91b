# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every kernel of jax.experimental.pallas.ops that needs no remote copies and no GPU instructions, compiled on the plug-in, beside its
reference. Not here: all_gather, collective matmul and reduce_scatter (remote copies), and *_mgpu (instructions of Hopper and Blackwell)."""
import functools
import importlib
import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jax.experimental.pallas.ops.gpu import attention as gpu_attention
from jax.experimental.pallas.ops.gpu import decode_attention, layer_norm, paged_attention, rms_norm
from jax.experimental.pallas.ops.gpu import softmax as gpu_softmax
from jax.experimental.pallas.ops.tpu import example_kernel, flash_attention, matmul
from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention as tpu_paged_attention
from jax.experimental.pallas.ops.tpu.ragged_paged_attention import kernel as ragged
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as splash_mask

# The package megablox has a function of the name of its module gmm.
grouped = importlib.import_module("jax.experimental.pallas.ops.tpu.megablox.gmm")
grouped_with_gradients = importlib.import_module("jax.experimental.pallas.ops.tpu.megablox.ops")
long = pytest.mark.skipif(not os.environ.get("MILLRACE_LONG"), reason="long; scripts/check --long")
random = np.random.RandomState(0)


def some(*shape, dtype=jnp.float32):
    return jnp.asarray(random.standard_normal(shape), dtype)


def close(result, expected, tolerance):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(np.asarray(x, np.float32), np.asarray(y, np.float32), tolerance, tolerance), result,
                 expected)


def gradients(function, *arguments):
    return jax.jit(jax.grad(lambda *a: (function(*a) ** 2).sum(), tuple(range(len(arguments)))))(*arguments)


def causal_attention(q, k, v):
    """Attention of (heads, length, dim) without a scale."""
    scores = jnp.einsum("hqd,hkd->hqk", q, k)
    scores = jnp.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -1e30)
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(scores, -1), v)


def paged_reference(q, k_pages, v_pages, table, lengths):
    """Attention of q (sequences, heads, dim) over pages (kv heads, pages, page size, dim) that the table (sequences, pages) lists."""
    def gathered(pages):
        return pages[:, table].transpose(1, 2, 3, 0, 4).reshape(table.shape[0], -1, pages.shape[0], pages.shape[-1])

    (batch, heads, dim), groups = q.shape, k_pages.shape[0]
    scores = jnp.einsum("bkgd,bskd->bkgs", q.reshape(batch, groups, heads // groups, dim), gathered(k_pages))
    scores = jnp.where((jnp.arange(scores.shape[-1]) < lengths[:, None])[:, None, None], scores, -1e30)
    return jnp.einsum("bkgs,bskd->bkgd", jax.nn.softmax(scores, -1), gathered(v_pages)).reshape(batch, heads, dim)


def test_tpu_matmul():
    x, y = some(256, 256), some(256, 256)
    close(matmul.matmul(x, y, block_shape=(128, 128), block_k=128), x @ y, 1e-4)
    x, y = some(128, 256, dtype=jnp.bfloat16), some(256, 128, dtype=jnp.bfloat16)
    close(matmul.matmul(x, y, block_shape=(128, 128), block_k=128), x.astype(jnp.float32) @ y.astype(jnp.float32), 5e-2)


FLASH_BLOCKS = flash_attention.BlockSizes(**{name: 1 if name == "block_b" else 128 for name in (
    "block_q", "block_k_major", "block_k", "block_b", "block_q_major_dkv", "block_k_major_dkv", "block_k_dkv", "block_q_dkv",
    "block_k_major_dq", "block_k_dq", "block_q_dq")})


@pytest.mark.parametrize("causal", [False, True])
def test_tpu_flash_attention(causal):
    q, k, v = some(1, 2, 256, 64), some(1, 2, 256, 64), some(1, 2, 256, 64)
    function = functools.partial(flash_attention.flash_attention, causal=causal, block_sizes=FLASH_BLOCKS)
    close(function(q, k, v), flash_attention.mha_reference(q, k, v, None, causal=causal), 1e-4)


@long
@pytest.mark.parametrize("causal", [False, True])
def test_tpu_flash_attention_gradients(causal):
    q, k, v = some(1, 2, 256, 64), some(1, 2, 256, 64), some(1, 2, 256, 64)
    function = functools.partial(flash_attention.flash_attention, causal=causal, block_sizes=FLASH_BLOCKS)
    close(gradients(function, q, k, v), gradients(lambda *a: flash_attention.mha_reference(*a, None, causal=causal), q, k, v), 2e-3)


@long
def test_tpu_flash_attention_with_segments_and_bias():
    q, k, v, bias = some(2, 2, 256, 64), some(2, 2, 256, 64), some(2, 2, 256, 64), some(2, 2, 256, 256)
    ids = flash_attention.SegmentIds(*[jnp.asarray(np.repeat([[0, 1], [2, 3]], 128, 1), jnp.int32)] * 2)
    function = functools.partial(flash_attention.flash_attention, ab=bias, segment_ids=ids, block_sizes=FLASH_BLOCKS)
    close(function(q, k, v), flash_attention.mha_reference(q, k, v, bias, ids), 1e-4)


def splash_attention(heads, length):
    mask = splash_mask.MultiHeadMask([splash_mask.CausalMask((length, length)) for _ in range(heads)])
    names = ("block_q", "block_kv", "block_kv_compute", "block_q_dkv", "block_kv_dkv", "block_kv_dkv_compute", "block_q_dq", "block_kv_dq")
    return splash.make_splash_mha_single_device(mask, block_sizes=splash.BlockSizes(**dict.fromkeys(names, 128)))


def test_tpu_splash_attention():
    q, k, v = some(2, 256, 128) / 8, some(2, 256, 128), some(2, 256, 128)
    close(splash_attention(2, 256)(q, k, v), causal_attention(q, k, v), 1e-4)


@long
def test_tpu_splash_attention_gradients():
    q, k, v = some(2, 256, 128) / 8, some(2, 256, 128), some(2, 256, 128)
    close(gradients(splash_attention(2, 256), q, k, v), gradients(causal_attention, q, k, v), 2e-3)


def test_tpu_grouped_products():
    x, weights, sizes = some(256, 128), some(4, 128, 256), jnp.asarray([60, 0, 130, 66], jnp.int32)
    close(grouped.gmm(x, weights, sizes, tiling=(64, 128, 128)), jax.lax.ragged_dot(x, weights, sizes), 1e-4)
    y, ends = some(256, 256), np.cumsum([0, 60, 0, 130, 66])
    expected = np.stack([np.asarray(x)[a:b].T @ np.asarray(y)[a:b] for a, b in zip(ends, ends[1:])])
    close(grouped.tgmm(x.T, y, sizes, tiling=(64, 128, 128)), expected, 1e-3)


@long
def test_tpu_grouped_product_gradients():
    x, weights, sizes = some(256, 128), some(4, 128, 256), jnp.asarray([60, 0, 130, 66], jnp.int32)
    close(gradients(lambda x, w: grouped_with_gradients.gmm(x, w, sizes, tiling=(64, 128, 128)), x, weights),
          gradients(lambda x, w: jax.lax.ragged_dot(x, w, sizes), x, weights), 2e-3)


def pages(kv_heads, dim):
    table = jnp.asarray(random.permutation(16).reshape(2, 8), jnp.int32)
    return some(kv_heads, 16, 16, dim), some(kv_heads, 16, 16, dim), table, jnp.asarray([37, 100], jnp.int32)


@long
def test_tpu_paged_attention():
    q, (k, v, table, lengths) = some(2, 8, 128) / 8, pages(2, 128)
    # The kernel multiplies in bfloat16.
    close(tpu_paged_attention(q, k, v, lengths, table, pages_per_compute_block=4), paged_reference(q, k, v, table, lengths), 3e-2)


@long
def test_tpu_ragged_paged_attention():
    q, kv = some(40, 4, 128) / 8, some(24, 16, 4, 128)
    lengths, table = jnp.asarray([37, 20, 60, 0], jnp.int32), jnp.asarray(random.permutation(24).reshape(4, 6), jnp.int32)
    starts, count = jnp.asarray([0, 10, 11, 40, 40], jnp.int32), jnp.asarray([3], jnp.int32)
    result = ragged.ragged_paged_attention(q, kv, lengths, table, starts, count, num_kv_pages_per_block=2, num_queries_per_block=8)
    close(result, ragged.ref_ragged_paged_attention(q, kv, lengths, table, starts, count), 1e-3)


def test_tpu_threefry():
    pytest.importorskip("jax.experimental.pallas.ops.tpu.random.threefry")
    bits = jax.random.bits(jax.random.key(7, impl="pallas_threefry2x32"), (300, 257))
    np.testing.assert_array_equal(bits, jax.random.bits(jax.random.key(7, impl="threefry2x32"), (300, 257)))


def test_tpu_philox():
    philox = pytest.importorskip("jax.experimental.pallas.ops.tpu.random.philox")
    key = jax.random.key_data(jax.random.key(7))
    bits = philox.philox_4x32_count(key, (300, 257))
    counts = jnp.arange(300 * 257, dtype=jnp.uint32).reshape(300, 257)
    zeros = jnp.zeros_like(counts)
    expected = philox.philox_4x32(zeros, counts, zeros, zeros, key[0], key[1])
    np.testing.assert_array_equal(bits, expected[0] ^ expected[1])


def test_tpu_example_kernel():
    x = some(8, 128)
    close(example_kernel.double(x), 2 * x, 0)


def test_gpu_softmax():
    x = some(8, 200)
    close(gpu_softmax.softmax(x), jax.nn.softmax(x, -1), 1e-5)


@pytest.mark.parametrize("module, function, reference", [(layer_norm, layer_norm.layer_norm, layer_norm.layer_norm_reference),
                                                         (rms_norm, rms_norm.rms_norm, rms_norm.rms_norm_reference)])
def test_gpu_norms(module, function, reference):
    x, weight, bias = some(2, 384, 192), some(192), some(192)
    close(function(x, weight, bias), reference(x, weight, bias), 1e-4)
    close(gradients(function, x, weight, bias), gradients(reference, x, weight, bias), 2e-3)


@pytest.mark.parametrize("causal", [False, True])
def test_gpu_attention(causal):
    q, k, v = some(1, 256, 2, 64), some(1, 256, 2, 64), some(1, 256, 2, 64)
    close(gpu_attention.mha(q, k, v, None, causal=causal), gpu_attention.mha_reference(q, k, v, None, causal=causal), 1e-4)


@long
@pytest.mark.parametrize("causal", [False, True])
def test_gpu_attention_gradients(causal):
    q, k, v = some(1, 256, 2, 64), some(1, 256, 2, 64), some(1, 256, 2, 64)
    names = ("block_q", "block_k", "block_q_dkv", "block_kv_dkv", "block_q_dq", "block_kv_dq")
    blocks = gpu_attention.BlockSizes(**dict.fromkeys(names, 128))
    close(gradients(lambda *a: gpu_attention.mha(*a, None, causal=causal, block_sizes=blocks), q, k, v),
          gradients(lambda *a: gpu_attention.mha_reference(*a, None, causal=causal), q, k, v), 2e-3)


def test_gpu_decode_attention():
    q, k, v = some(1, 8, 64), some(1, 256, 64), some(1, 256, 64)
    close(decode_attention.mqa(q, k, v), decode_attention.mqa_reference(q, k, v), 1e-4)
    q, k, v = some(1, 8, 64), some(1, 256, 2, 64), some(1, 256, 2, 64)
    close(decode_attention.gqa(q, k, v), decode_attention.gqa_reference(q, k, v), 1e-4)


def test_gpu_paged_attention():
    q, (k, v, table, lengths) = some(2, 8, 64), pages(2, 64)
    result = paged_attention.paged_attention(q, k, v, table, lengths, k_splits=4, pages_per_compute_block=2)
    close(result, paged_reference(q, k, v, table, lengths), 1e-4)
