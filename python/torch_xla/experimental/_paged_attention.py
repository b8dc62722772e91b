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


def paged_attention(q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, lengths: torch.Tensor, page_indices: torch.Tensor,
                    pages_per_compute_block: int, megacore_mode: str | None = None, attn_logits_soft_cap: float | None = None) -> torch.Tensor:
    """Computes attention of one query per sequence over keys and values in pages; the queries are not scaled.

    Args:
      q: The queries, (batch, heads, dim).
      k_pages: The keys, (key heads, pages, page size, dim); the number of key heads divides that of heads.
      v_pages: The values, of the sizes of `k_pages`.
      lengths: The number of keys of each sequence, integers (batch).
      page_indices: The pages of each sequence, integers (batch, pages per sequence).
      pages_per_compute_block: Has no effect.
      megacore_mode: Has no effect; "kv_head", "batch" or None.
      attn_logits_soft_cap: Scores are replaced by cap * tanh(score / cap); None: they are not.

    Returns:
      A tensor (batch, heads, dim) of the type of q.

    Raises:
      ValueError: The numbers of heads do not fit, or megacore_mode is another text.
    """
    if megacore_mode not in (None, "kv_head", "batch"):
        raise ValueError(f"expects megacore_mode kv_head, batch or None, but got {megacore_mode!r}")
    k, v = _gathered(k_pages, page_indices, q.size(1)), _gathered(v_pages, page_indices, q.size(1))
    visible = torch.arange(k.size(1), device=q.device)[None, :] < lengths[:, None]
    return _attend(q, k, v, visible, attn_logits_soft_cap)


def multi_queries_paged_attention(q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, lengths: torch.Tensor,
                                  page_indices: torch.Tensor, effective_q_lens: torch.Tensor, num_kv_pages_per_compute_block: int,
                                  num_queries_per_compute_block: int, use_kernel: bool = True,
                                  attn_logits_soft_cap: float | None = None) -> torch.Tensor:
    """Computes attention of several queries per sequence, its last tokens, over keys and values in pages; the queries are not scaled.

    Query i stands at position length - effective_q_len + i of its sequence, and sees the keys before it and its own.

    Args:
      q: The queries, (batch, queries, heads, dim).
      k_pages: The keys, (key heads, pages, page size, dim); the number of key heads divides that of heads.
      v_pages: The values, of the sizes of `k_pages`.
      lengths: The number of keys of each sequence, integers (batch).
      page_indices: The pages of each sequence, integers (batch, pages per sequence).
      effective_q_lens: The number of queries of each sequence that count, integers (batch).
      num_kv_pages_per_compute_block: Has no effect.
      num_queries_per_compute_block: Has no effect.
      use_kernel: Has no effect.
      attn_logits_soft_cap: Scores are replaced by cap * tanh(score / cap); None: they are not.

    Returns:
      A tensor (batch, queries, heads, dim) of the type of q.

    Raises:
      ValueError: The numbers of heads do not fit.
    """
    k, v = _gathered(k_pages, page_indices, q.size(2)), _gathered(v_pages, page_indices, q.size(2))
    position = (lengths - effective_q_lens)[:, None] + torch.arange(q.size(1), device=q.device)[None, :]
    keys = torch.arange(k.size(1), device=q.device)
    visible = (keys <= position[:, :, None]) & (keys < lengths[:, None, None])
    return _attend(q, k[:, None], v[:, None], visible, attn_logits_soft_cap)


def ragged_paged_attention(q: torch.Tensor, kv_pages: torch.Tensor, kv_lens: torch.Tensor, page_indices: torch.Tensor, cu_q_lens: torch.Tensor,
                           num_seqs: torch.Tensor, *, sm_scale: float = 1.0, sliding_window: int | None = None, soft_cap: float | None = None,
                           mask_value: float | None = None, k_scale: float | None = None, v_scale: float | None = None, use_kernel: bool = True,
                           num_kv_pages_per_block: int | None = None, num_queries_per_block: int | None = None,
                           vmem_limit_bytes: int | None = None) -> torch.Tensor:
    """Computes attention of queries of sequences of any lengths, one after the other, over keys and values in pages.

    Sequence i has the queries cu_q_lens[i] to cu_q_lens[i + 1] - 1, which are its last tokens; each sees the keys before it and its own.

    Args:
      q: The queries, (tokens, heads, dim).
      kv_pages: Keys and values, (pages, page size, 2 * key heads, dim); those of a head are next to each other.
      kv_lens: The number of keys of each sequence, integers (sequences).
      page_indices: The pages of each sequence, integers (sequences, pages per sequence).
      cu_q_lens: The number of queries before each sequence, integers (sequences + 1).
      num_seqs: The number of sequences that exist, an integer tensor of one element.
      sm_scale: The factor of the scores.
      sliding_window: The number of keys, up to its own, that a query sees; None: all.
      soft_cap: Scores are replaced by cap * tanh(score / cap); None: they are not.
      mask_value: The score of keys that are not seen; None: -0.7 times the largest float32.
      k_scale: A factor of the keys; None: 1.
      v_scale: A factor of the values; None: 1.
      use_kernel: Has no effect.
      num_kv_pages_per_block: Has no effect.
      num_queries_per_block: Has no effect.
      vmem_limit_bytes: Has no effect.

    Returns:
      A tensor of the sizes and type of q; the rows of tokens of no sequence are 0.

    Raises:
      ValueError: The numbers of heads do not fit.
    """
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
