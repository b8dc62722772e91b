# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention of sequences of any lengths: loops over blocks of queries and over the pieces of keys that these see, and its gradients.

The work is that of the lengths that are there. What a query gets depends on its own sequence only: keys are added up in pieces whose places and
order are the same in every batch, and a row is computed in blocks of the same sizes."""
from collections.abc import Callable

import torch

from . import _tiles

MASK = -0.7 * torch.finfo(torch.float32).max
# Keys of a piece at least, rows of a product of scores about, and queries of a block at least, where a sequence has more than one.
KEYS, _ROWS, _QUERIES = 128, 64, 16
# The keys and values of a piece of a sequence, (heads, keys, dim) of float32, and the positions of the keys.
Piece = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class Sequences:
    """What the rows of q are: those of sequence i are `counts[i]` from `starts[i]` on, at the positions from `positions[i]` on, with `lengths[i]` keys.
    Wrong numbers cost no more than a sequence of all `rows` and `keys` that there are."""

    def __init__(self, starts: torch.Tensor, counts: torch.Tensor, positions: torch.Tensor, lengths: torch.Tensor, rows: int, keys: int) -> None:
        self.starts, self.positions = starts.to(torch.int32), positions.to(torch.int32)
        self.counts, self.lengths = _tiles.bounded(counts, rows), _tiles.bounded(lengths, keys)


class Rules:
    """Which keys a query sees, and how scores are made. `left` and `right`: how many keys before and after its own position; None: all."""

    def __init__(self, kv_heads: int, keys: int, scale: float, left: int | None = None, right: int | None = None, cap: float | None = None) -> None:
        self.kv_heads, self.keys, self.scale, self.left, self.right, self.cap = kv_heads, keys, scale, left, right, cap

    def pieces(self, first: torch.Tensor, last: torch.Tensor, length: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The first piece and the one after the last that queries at these positions see."""
        begin = torch.zeros_like(length) if self.left is None else (first - self.left).clamp(min=0)
        end = length if self.right is None else torch.minimum(length, last + (self.right + 1)).clamp(min=0)
        return torch.div(begin, self.keys, rounding_mode="floor"), torch.div(end + (self.keys - 1), self.keys, rounding_mode="floor")

    def visible(self, block: "_Block", key: torch.Tensor, number: torch.Tensor) -> torch.Tensor:
        """Which keys of a piece the queries of a block see, (queries, keys)."""
        found = (key >= number * self.keys) & (key < block.length) & block.inside[:, None]
        if self.right is not None:
            found = found & (key <= block.place[:, None] + self.right)
        if self.left is not None:
            found = found & (key >= block.place[:, None] - self.left)
        return found


class _Block:
    """A block of rows of one sequence: where it is read, and which of its rows exist."""

    def __init__(self, sequences: Sequences, visits: _tiles.Visits, counts: torch.Tensor, rows: int, number: torch.Tensor) -> None:
        self.size = visits.size
        self.sequence, first = visits.at(number)
        start, count, position, self.length = (_tiles.picked(values, self.sequence) for values in (
            sequences.starts, counts, sequences.positions, sequences.lengths))
        self.at = (start + first).clamp(max=rows - self.size)
        row = self.at + torch.arange(self.size, dtype=torch.int32, device=self.at.device)
        self.inside = (row >= start + first) & (row < start + count)
        self.first = position + first
        self.place = position + row - start
        self.last = torch.where(self.inside, self.place, self.first).amax()

    def rows(self, tensor: torch.Tensor, kv_heads: int) -> torch.Tensor:
        """Its rows of a tensor (rows, heads, dim), as (key heads, queries * heads of a group, dim) of float32."""
        _, heads, dim = tensor.shape
        part = _tiles.taken(tensor, [self.at, 0, 0], [self.size, heads, dim]).float()
        return part.view(self.size, kv_heads, heads // kv_heads, dim).transpose(0, 1).reshape(kv_heads, -1, dim)

    def spread(self, visible: torch.Tensor, group: int) -> torch.Tensor:
        """(queries, keys) for the rows of rows()."""
        return visible[:, None, :].expand(self.size, group, visible.shape[1]).reshape(1, -1, visible.shape[1])

    def written(self, result: torch.Tensor, value: torch.Tensor, kv_heads: int) -> torch.Tensor:
        """The result with its rows replaced by what rows() would read."""
        _, heads, dim = result.shape
        value = value.view(kv_heads, self.size, heads // kv_heads, dim).transpose(0, 1).reshape(self.size, heads, dim).to(result.dtype)
        old = _tiles.taken(result, [self.at, 0, 0], [self.size, heads, dim])
        return _tiles.replaced(result, torch.where(self.inside[:, None, None], value, old), [self.at, 0, 0])


def _scores(queries: torch.Tensor, k: torch.Tensor, cap: float | None) -> torch.Tensor:
    scores = _tiles.product(queries, k, ([2], [2]), ([0], [0]))
    return scores if cap is None else cap * torch.tanh(scores / cap)


def _forward(q: torch.Tensor, results: list[torch.Tensor], sequences: Sequences, size: int, counts: torch.Tensor,
             read: Callable[[torch.Tensor, torch.Tensor], Piece], rules: Rules) -> list[torch.Tensor]:
    """The results (rows, heads, dim) and logarithms of sums (rows, heads, 1), with the rows of some sequences replaced: `counts` of each."""
    rows, heads, _ = q.shape
    kv_heads, group, device = rules.kv_heads, heads // rules.kv_heads, q.device
    visits = _tiles.Visits(counts, size)

    def step(number, result, sums):
        block = _Block(sequences, visits, counts, rows, number)
        queries = block.rows(q, kv_heads) * rules.scale

        def part(number, best, total, value):
            k, v, key = read(block.sequence, number)
            visible = block.spread(rules.visible(block, key, number), group)
            scores = torch.where(visible, _scores(queries, k, rules.cap), torch.full((), MASK, device=device))
            new = torch.maximum(best, scores.amax(-1, keepdim=True))
            weights = torch.where(visible, torch.exp(scores - new), torch.zeros((), device=device))
            old = torch.exp(best - new)
            return [new, total * old + weights.sum(-1, keepdim=True), value * old + _tiles.product(weights, v, ([2], [1]), ([0], [0]))]

        state = [torch.full((kv_heads, size * group, 1), MASK, device=device), torch.zeros(kv_heads, size * group, 1, device=device),
                 torch.zeros(kv_heads, size * group, result.shape[2], device=device)]
        best, total, value = _tiles.counted(*rules.pieces(block.first, block.last, block.length), part, state)
        total = torch.where(total == 0, torch.ones((), device=device), total)
        return [block.written(result, value / total, kv_heads), block.written(sums, best + torch.log(total), kv_heads)]

    return _tiles.counted(torch.zeros_like(visits.total), visits.total, step, results)


def _padded(tensor: torch.Tensor, rows: int) -> torch.Tensor:
    return tensor if tensor.size(0) >= rows else torch.nn.functional.pad(tensor, (0, 0, 0, 0, 0, rows - tensor.size(0)))


def attended(q: torch.Tensor, sequences: Sequences, read: Callable[[torch.Tensor, torch.Tensor], Piece], rules: Rules, width: int,
             most: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns attention of all sequences, (rows, heads, width), and the logarithms of the sums of exponentials, (rows, heads) of float32.

    Args:
      q: The queries, (rows, heads, dim).
      sequences: What its rows are; others get 0.
      read: Returns the keys and values of a piece, for the number of a sequence and of the piece.
      rules: What a query sees.
      width: The last size of the values.
      most: No sequence has more queries.
    """
    rows, heads, _ = q.shape
    size = max(_QUERIES, _ROWS * rules.kv_heads // heads)
    q = _padded(q, size if most > 1 else 1)
    results = [torch.zeros(q.size(0), heads, width, dtype=q.dtype, device=q.device), torch.zeros(q.size(0), heads, 1, device=q.device)]
    if sequences.counts.size(0) == 0:
        return results[0][:rows], results[1][:rows, :, 0]
    counts, none = sequences.counts, torch.zeros_like(sequences.counts)
    # Sequences with one query come first: their blocks have one row.
    results = _forward(q, results, sequences, 1, torch.where(counts == 1, counts, none), read, rules)
    if most > 1:
        results = _forward(q, results, sequences, size, torch.where(counts > 1, counts, none), read, rules)
    return results[0][:rows], results[1][:rows, :, 0]


def gradients(grad: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, result: torch.Tensor, sums: torch.Tensor, sequences: Sequences,
              key_starts: torch.Tensor, rules: Rules) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns the gradients of attended() for q, k and v (keys, key heads, dim), of which sequence i has those from key_starts[i] on."""
    if sequences.counts.size(0) == 0:
        return torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    rows, heads, _ = q.shape
    kv_heads, group, device = rules.kv_heads, heads // rules.kv_heads, q.device
    size = max(_QUERIES, _ROWS * kv_heads // heads)
    shares = (grad.float() * result.float()).sum(-1, keepdim=True)
    q_, grad, sums, shares = (_padded(tensor, size) for tensor in (q, grad, sums[..., None], shares))
    k_, v_ = _padded(k, rules.keys), _padded(v, rules.keys)
    visits = _tiles.Visits(sequences.counts, size)
    read = contiguous(k_, v_, key_starts, rules.keys)

    def step(number, dq, dk, dv):
        block = _Block(sequences, visits, sequences.counts, q_.size(0), number)
        queries, gradient, total, share = (block.rows(tensor, kv_heads) for tensor in (q_, grad, sums, shares))

        def part(number, dq, dk, dv):
            k, v, key = read(block.sequence, number)
            visible = block.spread(rules.visible(block, key, number), group)
            scores = _scores(queries * rules.scale, k, rules.cap)
            weights = torch.where(visible, torch.exp(scores - total), torch.zeros((), device=device))
            slopes = weights * (_tiles.product(gradient, v, ([2], [2]), ([0], [0])) - share) * rules.scale
            if rules.cap is not None:
                slopes = slopes * (1 - (scores / rules.cap) ** 2)
            at = [_tiles.picked(key_starts, block.sequence) + key[0], 0, 0]
            made = []
            for old, factor, other in ((dk, slopes, queries), (dv, weights, gradient)):
                more = _tiles.product(factor, other, ([1], [1]), ([0], [0])).transpose(0, 1)
                made.append(_tiles.replaced(old, _tiles.taken(old, at, list(more.shape)) + more, at))
            return [dq + _tiles.product(slopes, k, ([2], [1]), ([0], [0])), *made]

        state = [torch.zeros_like(queries), dk, dv]
        own, dk, dv = _tiles.counted(*rules.pieces(block.first, block.last, block.length), part, state)
        return [block.written(dq, own, kv_heads), dk, dv]

    made = [torch.zeros_like(q_), torch.zeros_like(k_, dtype=torch.float32), torch.zeros_like(v_, dtype=torch.float32)]
    dq, dk, dv = _tiles.counted(torch.zeros_like(visits.total), visits.total, step, made)
    return dq[:rows], dk[:k.size(0)].to(k.dtype), dv[:v.size(0)].to(v.dtype)


def _own(cumulative: torch.Tensor | None, batch: int, length: int, like: torch.Tensor) -> torch.Tensor:
    """Where sequences begin and end; without such numbers all have the same length."""
    return torch.arange(batch + 1, dtype=torch.int32, device=like.device) * length if cumulative is None else cumulative.to(torch.int32)


@_tiles.recorded
def _flash_forward(q, k, v, ends_q, ends_k, used, table, scale, left, right):
    counts = ends_q[1:] - ends_q[:-1]
    lengths = ends_k[1:] - ends_k[:-1] if used is None else used.to(torch.int32)
    sequences = Sequences(ends_q[:-1], counts, lengths - counts, lengths, q.size(0), k.size(0) if table is None else table.size(1) * k.size(1))
    if table is not None:
        keys, read = paged(table, k.size(1), lambda numbers: tuple(
            pages.index_select(0, numbers).float().flatten(0, 1).transpose(0, 1) for pages in (k, v)))
    else:
        keys, read = KEYS, contiguous(_padded(k, KEYS), _padded(v, KEYS), ends_k[:-1], KEYS)
    return attended(q, sequences, read, Rules(k.size(-2), keys, scale, left, right), v.size(-1), q.size(0))


@_tiles.recorded
def _flash_backward(grad, q, k, v, result, sums, ends_q, ends_k, scale, left, right):
    counts, lengths = ends_q[1:] - ends_q[:-1], ends_k[1:] - ends_k[:-1]
    sequences = Sequences(ends_q[:-1], counts, lengths - counts, lengths, q.size(0), k.size(0))
    return gradients(grad, q, k, v, result, sums, sequences, ends_k[:-1], Rules(k.size(1), KEYS, scale, left, right))


def _sides(is_causal: bool, left: int | None, right: int | None) -> tuple[int | None, int | None]:
    left, right = (None if side is None or side < 0 else side for side in (left, right))
    return left, 0 if is_causal else right


def flash_forward(query, key, value, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, return_debug_mask, *, scale=None, window_size_left=None,
                  window_size_right=None, seqused_k=None, alibi_slopes=None, block_table=None, num_splits=None):
    """aten::_flash_attention_forward on the device: what torch.nn.attention.varlen.varlen_attn() calls."""
    if dropout_p or alibi_slopes is not None:
        raise NotImplementedError("flash attention with dropout or alibi slopes is not supported on the device xla")
    is_dense = query.dim() == 4
    batch = query.size(0)
    q, k, v = (tensor.flatten(0, 1) if is_dense else tensor for tensor in (query, key, value))
    ends_q = _own(cum_seq_q, batch, query.size(1), q)
    ends_k = ends_q if cum_seq_k is None and not is_dense else _own(cum_seq_k, batch, key.size(1), q)
    if ends_q.dim() != 1 or ends_q.size(0) == 0 or ends_k.dim() != 1:
        raise ValueError(f"expects vectors of where sequences begin and the last one ends, but got {tuple(ends_q.shape)} and {tuple(ends_k.shape)}")
    if ends_k.size(0) != ends_q.size(0):
        raise ValueError(f"expects as many sequences of keys as of queries, but got {ends_k.size(0) - 1} and {ends_q.size(0) - 1}")
    if k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"expects as many keys as values, but got {tuple(k.shape)} and {tuple(v.shape)}")
    result, sums = _flash_forward(q, k, v, ends_q, ends_k, seqused_k, block_table, q.size(-1) ** -0.5 if scale is None else scale,
                                  *_sides(is_causal, window_size_left, window_size_right))
    if is_dense:
        result, sums = result.unflatten(0, (batch, -1)), sums.unflatten(0, (batch, -1)).transpose(1, 2)
    else:
        sums = sums.t()
    state = torch.zeros(2, dtype=torch.int64, device=q.device)
    return result, sums.contiguous(), state, torch.zeros(0, dtype=torch.int64, device=q.device), torch.zeros(0, dtype=q.dtype, device=q.device)


def flash_backward(grad_out, query, key, value, out, logsumexp, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, rng_state, unused, *, scale=None,
                   window_size_left=None, window_size_right=None):
    """aten::_flash_attention_backward on the device."""
    is_dense = query.dim() == 4
    batch = query.size(0)
    grad, q, k, v, result = (tensor.flatten(0, 1) if is_dense else tensor for tensor in (grad_out, query, key, value, out))
    sums = logsumexp.transpose(1, 2).flatten(0, 1) if is_dense else logsumexp.t()
    ends_q = _own(cum_seq_q, batch, query.size(1), q)
    ends_k = ends_q if cum_seq_k is None and not is_dense else _own(cum_seq_k, batch, key.size(1), q)
    made = _flash_backward(grad, q, k, v, result, sums, ends_q, ends_k, q.size(-1) ** -0.5 if scale is None else scale,
                           *_sides(is_causal, window_size_left, window_size_right))
    return tuple(tensor.unflatten(0, (batch, -1)) for tensor in made) if is_dense else tuple(made)


def contiguous(k: torch.Tensor, v: torch.Tensor, starts: torch.Tensor, keys: int) -> Callable[[torch.Tensor, torch.Tensor], Piece]:
    """Returns the reader of keys and values (keys, heads, dim) of sequences one after the other, which begin at `starts`."""
    offset = torch.arange(keys, dtype=torch.int32, device=k.device)

    def read(sequence: torch.Tensor, number: torch.Tensor) -> Piece:
        start = _tiles.picked(starts, sequence)
        at = (start + number * keys).clamp(max=k.size(0) - keys)
        parts = (_tiles.taken(tensor, [at, 0, 0], [keys, *tensor.shape[1:]]).float().transpose(0, 1) for tensor in (k, v))
        return *parts, at - start + offset

    return read


def paged(table: torch.Tensor, page_size: int, take: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]) -> tuple[int, Callable[..., Piece]]:
    """Returns the number of keys of a piece and the reader of keys and values in pages: take() returns for numbers of pages (heads, keys, dim)."""
    pages = max(1, KEYS // page_size)
    table = torch.nn.functional.pad(table.to(torch.int32), (0, -table.size(1) % pages))
    offset = torch.arange(pages * page_size, dtype=torch.int32, device=table.device)

    def read(sequence: torch.Tensor, number: torch.Tensor) -> Piece:
        return *take(_tiles.taken(table, [sequence, number * pages], [1, pages]).reshape(pages)), number * (pages * page_size) + offset

    return pages * page_size, read
