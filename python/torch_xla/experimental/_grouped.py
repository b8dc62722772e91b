# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of consecutive groups of rows with one matrix each, and their gradients: a loop over pieces of groups, so that the work is that of the
rows that are there, not of all rows once per group. Under SPMD all rows are multiplied, masked, for the partitioner cuts products and no loops."""
import torch

from . import _tiles

# Rows of a piece. A piece is read whole, the last one of a group partly in vain: short groups have short pieces.
_LEAST, _MOST = 8, 128


def _piece(rows: int, groups: int) -> int:
    """Returns the number of rows of a piece for groups of about equal sizes."""
    size = _LEAST
    while size < _MOST and size * groups < rows:
        size *= 2
    return min(size, rows)


class _Groups:
    """Pieces of those groups that have a matrix: `count` groups from the number `offset` on (None: 0)."""

    def __init__(self, sizes: torch.Tensor, offset: torch.Tensor | None, count: int, rows: int) -> None:
        self.sizes, self.rows = _tiles.bounded(sizes, rows), rows  # wrong numbers cost no more than all rows for each group
        self.size = _piece(rows, count)
        self.ends = self.sizes.cumsum(0, dtype=torch.int32)
        self.offset = torch.zeros((), dtype=torch.int32, device=sizes.device) if offset is None else offset.to(torch.int32).reshape(())
        counts = self.sizes
        if offset is not None or count != sizes.size(0):
            number = torch.arange(sizes.size(0), dtype=torch.int32, device=sizes.device) - self.offset
            counts = torch.where((number >= 0) & (number < count), counts, torch.zeros_like(counts))
        self.visits = _tiles.Visits(counts, self.size)

    def at(self, number: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns for the number of a piece its matrix, where its rows are read, and which of these it consists of, (size, 1)."""
        group, first = self.visits.at(number)
        end = _tiles.picked(self.ends, group)
        first = end - _tiles.picked(self.sizes, group) + first
        at = first.clamp(max=self.rows - self.size)
        row = at + torch.arange(self.size, dtype=torch.int32, device=at.device)
        return group - self.offset, at, ((row >= first) & (row < end))[:, None]

    def each(self, step, result):
        """Returns the result after step(number, result) ran for all pieces."""
        return _tiles.counted(torch.zeros_like(self.visits.total), self.visits.total, lambda number, now: [step(number, now)], [result])[0]


def _is_shared(tensor: torch.Tensor) -> bool:
    """Returns whether several devices have the tensor."""
    from .. import runtime
    return tensor.device.type == "xla" and runtime.is_spmd()


def _masked(rows: torch.Tensor, sizes: torch.Tensor, offset: torch.Tensor | None, count: int) -> torch.Tensor:
    """Returns (count, rows, columns): for each group from the number `offset` on its rows, and 0 for the others."""
    ends = sizes.to(torch.int32).cumsum(0, dtype=torch.int32)
    starts = ends - sizes.to(torch.int32)
    if offset is not None or count != sizes.size(0):
        group = torch.arange(count, dtype=torch.int32, device=sizes.device) + (0 if offset is None else offset.to(torch.int32).reshape(()))
        there, group = group < sizes.size(0), group.clamp(max=sizes.size(0) - 1)
        starts, ends = starts.index_select(0, group), torch.where(there, ends.index_select(0, group), torch.zeros_like(group))
    row = torch.arange(rows.size(0), dtype=torch.int32, device=rows.device)
    inside = (row >= starts[:, None]) & (row < ends[:, None])
    return torch.where(inside[:, :, None], rows, torch.zeros((), dtype=rows.dtype, device=rows.device))


def _sums(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype == torch.float64 else torch.float32


@torch.library.custom_op("xla::grouped_product", mutates_args=())
@_tiles.recorded
def grouped_product(lhs: torch.Tensor, rhs: torch.Tensor, sizes: torch.Tensor, offset: torch.Tensor | None, transposed: bool) -> torch.Tensor:
    """Returns (m, n): rows of `lhs` (m, k), of which `sizes` counts those of each group, times the matrix of the group. rhs (g, k, n), or (g, n, k) if it
    is transposed, has the matrices from the group `offset` on. Rows of other groups and of none are 0. Sums are of float32, of float64 for that."""
    (rows, inner), columns = lhs.shape, rhs.size(1 if transposed else 2)
    result = torch.zeros(rows, columns, dtype=lhs.dtype, device=lhs.device)
    if 0 in (rows, sizes.size(0), rhs.numel()):
        return result
    if _is_shared(lhs):
        parts = _masked(lhs, sizes, offset, rhs.size(0))
        return _tiles.product(parts, rhs, ([0, 2], [0, 2 if transposed else 1]), sums=_sums(lhs.dtype)).to(lhs.dtype)
    groups = _Groups(sizes, offset, rhs.size(0), rows)

    def step(number, result):
        matrix, at, inside = groups.at(number)
        weights = _tiles.taken(rhs, [matrix, 0, 0], [1, *rhs.shape[1:]]).reshape(rhs.shape[1:])
        made = _tiles.product(_tiles.taken(lhs, [at, 0], [groups.size, inner]), weights, ([1], [1 if transposed else 0]), sums=_sums(lhs.dtype)).to(result.dtype)
        old = _tiles.taken(result, [at, 0], [groups.size, columns])
        return _tiles.replaced(result, torch.where(inside, made, old), [at, 0])

    return groups.each(step, result)


@grouped_product.register_fake
def _(lhs, rhs, sizes, offset, transposed):
    return lhs.new_empty(lhs.size(0), rhs.size(1 if transposed else 2))


@torch.library.custom_op("xla::grouped_outer", mutates_args=())
@_tiles.recorded
def grouped_outer(lhs: torch.Tensor, rhs: torch.Tensor, sizes: torch.Tensor, offset: torch.Tensor | None, count: int) -> torch.Tensor:
    """Returns (count, k, n): lhs.T @ rhs of the rows of each group, from the group `offset` on; lhs is (m, k), rhs (m, n). Sums are of float32, of float64 for that."""
    (rows, inner), columns = lhs.shape, rhs.size(1)
    result = torch.zeros(count, inner, columns, dtype=_sums(lhs.dtype), device=lhs.device)
    if 0 in (rows, sizes.size(0), result.numel()):
        return result.to(lhs.dtype)
    if _is_shared(lhs):
        return _tiles.product(_masked(lhs, sizes, offset, count), rhs, ([1], [0]), sums=_sums(lhs.dtype)).to(lhs.dtype)
    groups = _Groups(sizes, offset, count, rows)

    def step(number, result):
        matrix, at, inside = groups.at(number)
        part = _tiles.taken(lhs, [at, 0], [groups.size, inner])
        part = torch.where(inside, part, torch.zeros_like(part))
        made = _tiles.product(part, _tiles.taken(rhs, [at, 0], [groups.size, columns]), ([0], [0]), sums=_sums(lhs.dtype))
        return _tiles.replaced(result, _tiles.taken(result, [matrix, 0, 0], [1, inner, columns]) + made[None], [matrix, 0, 0])

    return groups.each(step, result).to(lhs.dtype)


@grouped_outer.register_fake
def _(lhs, rhs, sizes, offset, count):
    return lhs.new_empty(count, lhs.size(1), rhs.size(1))


def _save_product(ctx, inputs, output):
    lhs, rhs, sizes, offset, ctx.transposed = inputs
    ctx.save_for_backward(lhs, rhs, sizes, offset)


def _product_gradients(ctx, gradient):
    lhs, rhs, sizes, offset = ctx.saved_tensors
    left = grouped_product(gradient, rhs, sizes, offset, not ctx.transposed) if ctx.needs_input_grad[0] else None
    right = None
    if ctx.needs_input_grad[1]:
        right = grouped_outer(*((gradient, lhs) if ctx.transposed else (lhs, gradient)), sizes, offset, rhs.size(0))
    return left, right, None, None, None


def _save_outer(ctx, inputs, output):
    ctx.save_for_backward(*inputs[:4])


def _outer_gradients(ctx, gradient):
    lhs, rhs, sizes, offset = ctx.saved_tensors
    left = grouped_product(rhs, gradient, sizes, offset, True) if ctx.needs_input_grad[0] else None
    right = grouped_product(lhs, gradient, sizes, offset, False) if ctx.needs_input_grad[1] else None
    return left, right, None, None, None


grouped_product.register_autograd(_product_gradients, setup_context=_save_product)
grouped_outer.register_autograd(_outer_gradients, setup_context=_save_outer)


def grouped_mm(a: torch.Tensor, b: torch.Tensor, ends: torch.Tensor | None = None, bias: torch.Tensor | None = None,
               out_dtype: torch.dtype | None = None) -> torch.Tensor:
    """Returns torch._grouped_mm(): products of groups of the rows of `a` (b has a matrix per group), of the columns of `b` (a has one), or of the dimension
    that both have in common (the result has one). Without `ends` both have a matrix per group.

    Args:
      a: Two or three dimensions.
      b: Two or three dimensions.
      ends: Where the groups end, integers.
      bias: Must be None.
      out_dtype: The type of the result; None: that of `a`.

    Raises:
      NotImplementedError: There is a bias.
      ValueError: There are no `ends`, and not both have three dimensions.
    """
    if bias is not None:
        raise NotImplementedError("products of groups with a bias are not supported")
    dtype = out_dtype or a.dtype
    if ends is None:
        if a.dim() != 3 or b.dim() != 3:
            raise ValueError(f"expects the ends of groups for {tuple(a.shape)} and {tuple(b.shape)}")
        return _tiles.product(a, b, ([2], [1]), ([0], [0]), sums=_sums(a.dtype)).to(dtype)
    ends = ends.to(torch.int32)
    sizes = torch.cat([ends[:1], ends[1:] - ends[:-1]])
    if a.dim() == 2 and b.dim() == 3:
        made = grouped_product(a, b, sizes, None, False)
    elif a.dim() == 3:
        made = grouped_product(b.t(), a, sizes, None, True).t()
    else:
        made = grouped_outer(a.t(), b, sizes, None, sizes.size(0))
    return made.to(dtype)
