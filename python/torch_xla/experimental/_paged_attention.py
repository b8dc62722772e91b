# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention over keys and values that are stored in pages, as servers of language models store them.

On the device it is loops (_ragged_attention.py). Where gradients are wanted, under SPMD, and on PyTorch's CPU, all pages of a sequence are
gathered."""
import torch

from . import _ragged_attention, _tiles

_MASK = _ragged_attention.MASK


def _loops(*tensors: torch.Tensor) -> bool:
    """Returns whether the loops compute these: they have no gradients, and the partitioner does not cut them."""
    from .. import runtime
    return (tensors[0].device.type in ("xla", "meta") and not runtime.is_spmd() and
            not (torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)))


@torch.library.custom_op("xla::paged_loops", mutates_args=())
@_tiles.recorded
def _paged_loops(q: torch.Tensor, k_pages: torch.Tensor, v_pages: torch.Tensor, lengths: torch.Tensor, table: torch.Tensor, q_lengths: torch.Tensor,
                 cap: float | None) -> torch.Tensor:
    """q (batch, queries, heads, dim), pages (key heads, pages, page size, dim)."""
    batch, queries, heads, dim = q.shape
    kv_heads, _, page_size, _ = k_pages.shape
    starts = torch.arange(batch, dtype=torch.int32, device=q.device) * queries

    if 0 in (q.numel(), table.numel()):
        return torch.zeros_like(q)

    def take(numbers):
        return tuple(pages.index_select(1, numbers).float().reshape(kv_heads, -1, dim) for pages in (k_pages, v_pages))

    keys, read = _ragged_attention.paged(table, page_size, take)
    sequences = _ragged_attention.Sequences(starts, torch.full_like(starts, queries), lengths - q_lengths, lengths, batch * queries,
                                            table.size(1) * page_size)
    rules = _ragged_attention.Rules(kv_heads, keys, 1.0, right=0, cap=cap)
    return _ragged_attention.attended(q.reshape(-1, heads, dim), sequences, read, rules, dim, queries)[0].reshape(q.shape)


@_paged_loops.register_fake
def _(q, k_pages, v_pages, lengths, table, q_lengths, cap):
    return torch.empty_like(q)


@torch.library.custom_op("xla::ragged_paged_loops", mutates_args=())
@_tiles.recorded
def _ragged_loops(q: torch.Tensor, kv_pages: torch.Tensor, kv_lens: torch.Tensor, page_indices: torch.Tensor, cu_q_lens: torch.Tensor,
                  num_seqs: torch.Tensor, sm_scale: float, sliding_window: int | None, soft_cap: float | None, k_scale: float | None,
                  v_scale: float | None) -> torch.Tensor:
    _, page_size, combined, dim = kv_pages.shape

    if 0 in (q.numel(), page_indices.numel()):
        return torch.zeros_like(q)

    def take(numbers):
        both = kv_pages.index_select(0, numbers).float().view(-1, combined // 2, 2, dim).permute(2, 1, 0, 3)
        k, v = both[0], both[1]
        return k if k_scale is None else k * k_scale, v if v_scale is None else v * v_scale

    there = torch.arange(kv_lens.size(0), device=q.device) < num_seqs.reshape(())
    counts = torch.where(there, cu_q_lens[1:] - cu_q_lens[:-1], torch.zeros_like(cu_q_lens[1:]))
    keys, read = _ragged_attention.paged(page_indices, page_size, take)
    sequences = _ragged_attention.Sequences(cu_q_lens[:-1], counts, kv_lens - counts, kv_lens, q.size(0), page_indices.size(1) * page_size)
    rules = _ragged_attention.Rules(combined // 2, keys, sm_scale, None if sliding_window is None else sliding_window - 1, 0, soft_cap)
    return _ragged_attention.attended(q, sequences, read, rules, dim, q.size(0))[0]


@_ragged_loops.register_fake
def _(q, kv_pages, kv_lens, page_indices, cu_q_lens, num_seqs, sm_scale, sliding_window, soft_cap, k_scale, v_scale):
    return torch.empty_like(q)


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


def _check_sequences(count, table, **numbers):
    wrong = {name: tuple(each.shape) for name, each in numbers.items() if tuple(each.shape) != (count,)}
    if wrong or table.dim() != 2 or table.size(0) != count:
        raise ValueError(f"expects numbers of {count} sequences and their pages, but got {wrong or tuple(table.shape)}")


def _check_pages(k_pages, v_pages):
    if k_pages.shape != v_pages.shape:
        raise ValueError(f"expects pages of keys and values of one shape, but got {tuple(k_pages.shape)} and {tuple(v_pages.shape)}")


def _gathered(pages, page_indices, q_heads):
    """pages (kv_heads, pages, page_size, dim) as (batch, keys, q_heads, dim)."""
    kv_heads, _, page_size, dim = pages.shape
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
      ValueError: The numbers of heads, sequences or pages do not fit, or megacore_mode is another text.
    """
    if megacore_mode not in (None, "kv_head", "batch"):
        raise ValueError(f"expects megacore_mode kv_head, batch or None, but got {megacore_mode!r}")
    _check_heads(q.size(1), k_pages.size(0))
    _check_sequences(q.size(0), page_indices, lengths=lengths)
    _check_pages(k_pages, v_pages)
    if _loops(q, k_pages, v_pages):
        return _paged_loops(q[:, None], k_pages, v_pages, lengths, page_indices, torch.ones_like(lengths), attn_logits_soft_cap)[:, 0]
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
      ValueError: The numbers of heads, sequences or pages do not fit.
    """
    _check_heads(q.size(2), k_pages.size(0))
    _check_sequences(q.size(0), page_indices, lengths=lengths, effective_q_lens=effective_q_lens)
    _check_pages(k_pages, v_pages)
    if _loops(q, k_pages, v_pages):
        return _paged_loops(q, k_pages, v_pages, lengths, page_indices, effective_q_lens, attn_logits_soft_cap)
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
      ValueError: The numbers of heads, sequences or pages do not fit.
    """
    tokens, heads, _ = q.shape
    _, page_size, combined, dim = kv_pages.shape
    _check_heads(heads, combined // 2)
    _check_sequences(cu_q_lens.size(0) - 1, page_indices, kv_lens=kv_lens)
    if _loops(q, kv_pages):
        return _ragged_loops(q, kv_pages, kv_lens, page_indices, cu_q_lens, num_seqs, sm_scale, sliding_window, soft_cap, k_scale, v_scale)
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
