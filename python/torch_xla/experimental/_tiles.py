# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops over tiles of tensors whose number only a run knows: what kernels for groups and pages are made of.

On the device a loop is one of the program, on PyTorch's CPU it runs in Python."""
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .. import _load
from ..core import _builder


def recorded(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Returns a function of tensors and constants without gradients, which is recorded once per combination of sizes and constants on the device."""
    @functools.cache
    def pure() -> Callable[..., torch.Tensor]:
        from .assume_pure import assume_pure
        return assume_pure(function)

    @functools.wraps(function)
    def run(*arguments: Any) -> torch.Tensor:
        if arguments[0].device.type != "xla":
            return function(*arguments)
        with torch.no_grad():
            return pure()(*(argument.detach() if isinstance(argument, torch.Tensor) else argument for argument in arguments))

    return run


def _embedded(name: str, text: str, tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    return _load.sys.modules["torch_xla._XLAC"]._embed(f"xla::{name}", text, list(tensors))[0]


@functools.lru_cache(maxsize=1024)
def _program(op: str, shapes: tuple[tuple[torch.dtype, tuple[int, ...]], ...], result: tuple[torch.dtype, tuple[int, ...]], attributes: str) -> str:
    builder = _builder.Builder(op)
    given = [builder.parameter(i, {"type": _builder.NAMES[dtype], "sizes": sizes}) for i, (dtype, sizes) in enumerate(shapes)]
    made = builder.one(f"stablehlo.{op}", given, _builder.NAMES[result[0]], result[1], attributes)
    return builder.build(op, made).text()


def _shapes(tensors: Sequence[torch.Tensor]) -> tuple[tuple[torch.dtype, tuple[int, ...]], ...]:
    return tuple((tensor.dtype, tuple(tensor.shape)) for tensor in tensors)


def _starts(like: torch.Tensor, starts: Sequence[Any]) -> list[torch.Tensor]:
    return [start.to(torch.int32).reshape(()) if isinstance(start, torch.Tensor) else torch.full((), start, dtype=torch.int32, device=like.device)
            for start in starts]


def taken(tensor: torch.Tensor, starts: Sequence[Any], sizes: Sequence[int]) -> torch.Tensor:
    """Returns a part of a tensor that begins at these ints or scalars, moved so that it lies inside."""
    if tensor.device.type != "xla":
        for dim, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            tensor = tensor.narrow(dim, min(max(int(start), 0), tensor.size(dim) - size), size)
        return tensor
    given = [tensor, *_starts(tensor, starts)]
    return _embedded("dynamic_slice", _program("dynamic_slice", _shapes(given), (tensor.dtype, tuple(sizes)),
                                               f"slice_sizes = {_builder.array(list(sizes))}"), given)


def replaced(tensor: torch.Tensor, part: torch.Tensor, starts: Sequence[Any]) -> torch.Tensor:
    """Returns the tensor with the part that taken() reads replaced; on the CPU it is changed."""
    if tensor.device.type != "xla":
        taken(tensor, starts, part.shape).copy_(part)
        return tensor
    given = [tensor, part, *_starts(tensor, starts)]
    return _embedded("dynamic_update_slice", _program("dynamic_update_slice", _shapes(given), (tensor.dtype, tuple(tensor.shape)), ""), given)


def product(lhs: torch.Tensor, rhs: torch.Tensor, contracting: tuple[Sequence[int], Sequence[int]], batch: Any = ((), ()),
            sums: torch.dtype = torch.float32) -> torch.Tensor:
    """Returns a product with sums of float32, or as `sums` says: batch dimensions, those left of `lhs`, those left of `rhs`."""
    if lhs.device.type == "xla":
        return _load.sys.modules["torch_xla._XLAC"]._xla_dot_general(lhs, rhs, (contracting, batch), preferred_element_type=sums)
    letters = "abcdefghijklmnopqrstuvwxyz"
    left, right = list(letters[:lhs.dim()]), list(letters[lhs.dim():lhs.dim() + rhs.dim()])
    for a, b in (*zip(*contracting), *zip(*batch)):
        right[b] = left[a]
    common = [left[a] for a in batch[0]]
    result = common + [c for d, c in enumerate(left) if d not in (*batch[0], *contracting[0])]
    result += [c for d, c in enumerate(right) if d not in (*batch[1], *contracting[1])]
    return torch.einsum(f"{''.join(left)},{''.join(right)}->{''.join(result)}", lhs.to(sums), rhs.to(sums))


def bounded(numbers: torch.Tensor, most: int) -> torch.Tensor:
    """Returns numbers as int32 between 0 and `most`, whatever type they have."""
    if numbers.dtype in (torch.int8, torch.uint8, torch.int16):  # which may not have `most`
        numbers = numbers.to(torch.int32)
    return numbers.clamp(0, most).to(torch.int32)


def picked(vector: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Returns an element of a vector, as a scalar."""
    return vector.index_select(0, index.reshape(1)).reshape(())


def counted(first: torch.Tensor, end: torch.Tensor, body: Callable[..., Sequence[torch.Tensor]], values: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Returns the values after body(number, *values) ran for every number from `first` to `end` - 1, scalars of int32."""
    if end.device.type != "xla":
        values = list(values)
        for number in range(int(first), int(end)):
            values = list(body(torch.tensor(number, dtype=torch.int32), *values))
        return values
    from ._control_flow import while_loop
    return list(while_loop(lambda number, *now: number < end, lambda number, *now: [number + 1, *body(number, *now)], [first, *values]))[1:]


class Visits:
    """Pieces of consecutive groups of rows: every group has as many pieces of `size` rows as it needs.

    Args:
      counts: The number of rows of each group, int32.
      size: The largest number of rows of a piece.
    """

    def __init__(self, counts: torch.Tensor, size: int) -> None:
        self.size, self.pieces = size, torch.div(counts + (size - 1), size, rounding_mode="floor")
        self.last = self.pieces.cumsum(0, dtype=torch.int32)
        self.first = self.last - self.pieces

    @property
    def total(self) -> torch.Tensor:
        """The number of pieces of all groups."""
        return self.last[-1].reshape(())

    def at(self, number: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns for the number of a piece its group, and its first row in the group."""
        group = (self.last <= number).sum(dtype=torch.int32)
        return group, (number - picked(self.first, group)) * self.size
