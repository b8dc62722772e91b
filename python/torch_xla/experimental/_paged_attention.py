# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention over keys and values that are stored in pages, as servers of language models store them."""
import torch

_MASK = -0.7 * torch.finfo(torch.float32).max


def _attend(q, k, v, visible, soft_cap=None):
    """q (..., heads, dim) with k and v (..., keys, heads, dim), visible (..., keys)."""
    scores = torch.einsum("...hd,...khd->...hk", q.float(), k.float())
    if soft_cap is not None:
        scores = soft_cap * torch.tanh(scores / soft_cap)
    scores = torch.where(visible.unsqueeze(-2), scores, torch.full((), _MASK, device=q.device))
    return torch.einsum("...hk,...khd->...hd", torch.softmax(scores, -1), v.float()).to(q.dtype)


def _check_heads(q_heads, kv_heads):
    if q_heads % kv_heads:
        raise ValueError(f"expects a number of query heads that the number of key heads divides, but got {q_heads} and {kv_heads}")


def _gathered(pages, page_indices, q_heads):
    """pages (kv_heads, pages, page_size, dim) as (batch, keys, q_heads, dim)."""
    kv_heads, _, page_size, dim = pages.shape
    _check_heads(q_heads, kv_heads)
    batch, count = page_indices.shape
    taken = pages.index_select(1, page_indices.reshape(-1)).reshape(kv_heads, batch, count * page_size, dim).permute(1, 2, 0, 3)
    return taken.repeat_interleave(q_heads // kv_heads, dim=2)


def paged_attention(q, k_pages, v_pages, lengths, page_indices, pages_per_compute_block, megacore_mode=None, attn_logits_soft_cap=None):
    """One query per sequence: q (batch, heads, dim), pages (key heads, pages, page size, dim), lengths (batch) of the sequences,
    page_indices (batch, pages per sequence). Queries are not scaled. Scores pass cap * tanh(score / cap) if there is a cap.
    `pages_per_compute_block`, `megacore_mode`: no effect on results."""
    if megacore_mode not in (None, "kv_head", "batch"):
        raise ValueError(f"expects megacore_mode kv_head, batch or None, but got {megacore_mode!r}")
    k, v = _gathered(k_pages, page_indices, q.size(1)), _gathered(v_pages, page_indices, q.size(1))
    visible = torch.arange(k.size(1), device=q.device)[None, :] < lengths[:, None]
    return _attend(q, k, v, visible, attn_logits_soft_cap)


def multi_queries_paged_attention(q, k_pages, v_pages, lengths, page_indices, effective_q_lens, num_kv_pages_per_compute_block,
                                  num_queries_per_compute_block, use_kernel=True, attn_logits_soft_cap=None):
    """Several queries per sequence, the last of it: q (batch, queries, heads, dim). Query i of effective_q_lens (batch) stands at
    position length - effective_q_len + i and sees what comes before it and itself. Blocks and `use_kernel`: no effect."""
    k, v = _gathered(k_pages, page_indices, q.size(2)), _gathered(v_pages, page_indices, q.size(2))
    position = (lengths - effective_q_lens)[:, None] + torch.arange(q.size(1), device=q.device)[None, :]
    keys = torch.arange(k.size(1), device=q.device)
    visible = (keys <= position[:, :, None]) & (keys < lengths[:, None, None])
    return _attend(q, k[:, None], v[:, None], visible, attn_logits_soft_cap)


def ragged_paged_attention(q, kv_pages, kv_lens, page_indices, cu_q_lens, num_seqs, *, sm_scale=1.0, sliding_window=None, soft_cap=None,
                           mask_value=None, k_scale=None, v_scale=None, use_kernel=True, num_kv_pages_per_block=None,
                           num_queries_per_block=None, vmem_limit_bytes=None):
    """Queries of sequences of any lengths, one after the other: q (tokens, heads, dim), of which sequence i has those from
    cu_q_lens[i] to cu_q_lens[i + 1]; they are its last ones of kv_lens[i]. kv_pages (pages, page size, 2 * key heads, dim) hold keys
    and values of a head next to each other; page_indices (sequences, pages per sequence). num_seqs (1): sequences there are.
    Tokens beyond them give 0. `sliding_window`: keys so far back are seen. Blocks, limits and `use_kernel`: no effect."""
    tokens, heads, _ = q.shape
    _, page_size, combined, dim = kv_pages.shape
    _check_heads(heads, combined // 2)
    token = torch.arange(tokens, device=q.device)
    sequence = (token[:, None] >= cu_q_lens[None, 1:]).sum(1).clamp(max=kv_lens.size(0) - 1)
    pages = page_indices.index_select(0, sequence)
    taken = kv_pages.index_select(0, pages.reshape(-1)).reshape(tokens, -1, combined, dim).float()
    k, v = taken[:, :, 0::2], taken[:, :, 1::2]
    k = k if k_scale is None else k * k_scale
    v = v if v_scale is None else v * v_scale
    k, v = (part.repeat_interleave(heads // (combined // 2), dim=2) for part in (k, v))
    length = kv_lens.index_select(0, sequence)
    start, end = cu_q_lens.index_select(0, sequence), cu_q_lens.index_select(0, sequence + 1)
    position = length - (end - start) + token - start
    key = torch.arange(pages.size(1) * page_size, device=q.device)
    visible = (key[None, :] <= position[:, None]) & (key[None, :] < length[:, None])
    if sliding_window is not None:
        visible = visible & (key[None, :] > position[:, None] - sliding_window)
    scores = torch.einsum("thd,tkhd->thk", q.float(), k) * sm_scale
    if soft_cap is not None:
        scores = soft_cap * torch.tanh(scores / soft_cap)
    masked = torch.full((), _MASK if mask_value is None else mask_value, device=q.device)
    scores = torch.where(visible[:, None, :], scores, masked)
    result = torch.einsum("thk,tkhd->thd", torch.softmax(scores, -1), v)
    there = token < cu_q_lens.index_select(0, num_seqs.reshape(1).to(cu_q_lens.dtype))
    return torch.where(there[:, None, None], result, torch.zeros_like(result)).to(q.dtype)
