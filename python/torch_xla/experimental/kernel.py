# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels over a grid of blocks, in Python, without JAX (docs/guide/kernels.md).

`kernel(body, grid=..., in_specs=..., out_specs=..., out_shape=...)` is a function of tensors. The body sees a block of each tensor as a
reference: `x[...]` reads it, `out[...] = value` writes it, with PyTorch's operations in between. Cells of the grid that do not depend on each
other are one more dimension of these operations (torch.vmap); the others follow each other, with numbers that Python knows, so that
`if program_id(2) == 0:` is an ordinary if. Gradients are autograd's."""
import dataclasses
import itertools
import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.overrides
import torch.utils._pytree as pytree

__all__ = ["kernel", "Block", "Memory", "program_id", "num_programs"]

# The largest number of runs of the body that are recorded one after the other: each adds its operations to the program.
_MOST_STEPS = 1024
_cells: list[tuple[list[Any], tuple[int, ...]]] = []


@dataclasses.dataclass(frozen=True)
class Block:
    """The blocks that a tensor is divided into.

    Args:
      shape: The sizes of a block; None stands for a dimension of size 1 that the body does not see. Where they do not divide the tensor's, the last
        block reaches beyond it: what it reads there is NaN, or the smallest integer, and what it writes there is dropped.
      index_map: Returns for the numbers of a cell, one per dimension of the grid, the number of its block per dimension of the tensor; None: always
        the first block.
    """
    shape: Sequence[int | None]
    index_map: Callable[..., Sequence[int]] | None = None

    def sizes(self) -> list[int]:
        """Returns the sizes of a block in all dimensions of the tensor."""
        return [1 if size is None else size for size in self.shape]

    def visible_sizes(self) -> list[int]:
        """Returns the sizes of a block as the body sees it."""
        return [size for size in self.shape if size is not None]


@dataclasses.dataclass(frozen=True)
class Memory:
    """Memory that a cell keeps for those after it; its value is undefined before it is written.

    Args:
      shape: Its sizes.
      dtype: Its element type.
    """
    shape: Sequence[int]
    dtype: torch.dtype = torch.float32


def program_id(axis: int) -> Any:
    """Returns the number of the cell along a dimension of the grid, in a body.

    Args:
      axis: The dimension of the grid.

    Returns:
      An int where cells run one after the other, and a scalar where they run at once.

    Raises:
      RuntimeError: No body of kernel() runs.
    """
    return _cell()[0][axis]


def num_programs(axis: int) -> int:
    """Returns the size of a dimension of the grid, in a body.

    Args:
      axis: The dimension of the grid.

    Raises:
      RuntimeError: No body of kernel() runs.
    """
    return _cell()[1][axis]


def _cell() -> tuple[list[Any], tuple[int, ...]]:
    if not _cells:
        raise RuntimeError("program_id() and num_programs() are for bodies of torch_xla.experimental.kernel")
    return _cells[-1]


class _Decides(Exception):
    """A body decides by the number of a cell that runs together with others."""

    def __init__(self, axis: int):
        super().__init__(axis)
        self.axis = axis


class _Number:
    """The number of a cell among those that run at once: a tensor in operations, and no int."""

    def __init__(self, value: torch.Tensor, axis: int):
        self.value, self.axis = value, axis

    def __bool__(self) -> bool:
        raise _Decides(self.axis)

    __int__ = __index__ = __float__ = __hash__ = __bool__

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = pytree.tree_map(_plain, (tuple(args), dict(kwargs or {})))
        return function(*args, **kwargs)


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, _Number) else value


def _arithmetic(name: str) -> None:
    function = getattr(operator, name)

    def apply(self: _Number, other: Any, is_reversed: bool = False) -> Any:
        left, right = (_plain(other), self.value) if is_reversed else (self.value, _plain(other))
        result = function(left, right)
        return result if isinstance(other, torch.Tensor) else _Number(result, self.axis)

    setattr(_Number, f"__{name}__", apply)
    if name in ("add", "sub", "mul", "floordiv", "mod"):
        setattr(_Number, f"__r{name}__", lambda self, other: apply(self, other, True))


for _name in ("add", "sub", "mul", "floordiv", "mod", "eq", "ne", "lt", "le", "gt", "ge"):
    _arithmetic(_name)


class _Carried(Exception):
    """A cell reads memory that it did not write."""


class _Product(torch.autograd.Function):
    """x @ y of matrices (m, k) and (k, n). Cells along which only one of them differs are more rows or columns of one product: torch.vmap's own
    rule repeats the other matrix for each."""

    @staticmethod
    def forward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, y)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        x, y = ctx.saved_tensors
        return (_Product.apply(grad, y.t()) if ctx.needs_input_grad[0] else None,
                _Product.apply(x.t(), grad) if ctx.needs_input_grad[1] else None)

    @staticmethod
    def vmap(info: Any, in_dims: Sequence[int | None], x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, int]:
        if in_dims[0] is not None and in_dims[1] is not None:
            return torch.bmm(x.movedim(in_dims[0], 0), y.movedim(in_dims[1], 0)), 0
        if in_dims[0] is not None:
            x = x.movedim(in_dims[0], 0)
            return _Product.apply(x.flatten(0, 1), y).unflatten(0, x.shape[:2]), 0
        y = y.movedim(in_dims[1], 1)
        return _Product.apply(x, y.flatten(1, 2)).unflatten(1, y.shape[1:]), 1


class _Products(torch.overrides.TorchFunctionMode):
    """Makes a _Product of every product of two matrices."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (function in (torch.matmul, torch.mm, torch.Tensor.matmul, torch.Tensor.mm, torch.Tensor.__matmul__) and len(args) == 2 and not kwargs and
                all(isinstance(arg, torch.Tensor) and arg.dim() == 2 for arg in args)):
            return _Product.apply(*args)
        return function(*args, **(kwargs or {}))


def _line() -> str:
    """Returns the line of the body that uses a reference."""
    frame = sys._getframe(2)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


class Ref:
    """A reference to a block, or to memory, in a body: `ref[...]` reads it and `ref[...] = value` writes it.

    Reading what was not written, writing an input, and values of another shape or type raise ValueError or TypeError, with the line of the body.

    Args:
      name: Its name in messages.
      shape: Its sizes.
      dtype: Its element type.
      value: Its present value; None: not written.
      can_write: Whether it is an output or memory.
      strict: Whether reading what was not written ends the attempt to run cells at once.
    """

    def __init__(self, name: str, shape: Sequence[int], dtype: torch.dtype, value: torch.Tensor | None, can_write: bool, strict: bool = False):
        self.name, self.shape, self.dtype = name, torch.Size(shape), dtype
        self._value, self._can_write, self._strict, self.written = value, can_write, strict, False

    def __getitem__(self, index: Any) -> torch.Tensor:
        if self._value is None:
            if self._strict:
                raise _Carried
            raise ValueError(f"{_line()}: {self.name} is read before it was written")
        return self._value if index is Ellipsis else self._value[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._can_write:
            raise ValueError(f"{_line()}: {self.name} is an input, which a kernel does not write")
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{_line()}: expects a tensor for {self.name}, but got {type(value).__name__}")
        if value.dtype != self.dtype:
            raise TypeError(f"{_line()}: expects {self.dtype} for {self.name}, but got {value.dtype}: convert it with .to()")
        if index is Ellipsis:
            if value.shape != self.shape:
                raise ValueError(f"{_line()}: expects the shape {tuple(self.shape)} for {self.name}, but got {tuple(value.shape)}")
            self._value = value
        else:
            if self._value is None:
                raise ValueError(f"{_line()}: elements of {self.name} are written before the block was: write {self.name}[...] first")
            index = index if isinstance(index, tuple) else (index,)
            self._value = _replaced(self._value, index, value, _line())
        self.written = True


def _replaced(tensor: torch.Tensor, index: Sequence[Any], value: torch.Tensor, line: str) -> torch.Tensor:
    """Returns the tensor with a part, given by ints and slices, replaced."""
    if not index:
        if value.shape != tensor.shape:
            raise ValueError(f"{line}: expects the shape {tuple(tensor.shape)} for the part, but got {tuple(value.shape)}")
        return value
    first, *rest = index
    dim = 0
    if isinstance(first, int):
        return torch.select_scatter(tensor, _replaced(tensor.select(dim, first), rest, value, line), dim, first)
    if not isinstance(first, slice):
        raise TypeError(f"{line}: expects ints and slices as the indices of a write, but got {type(first).__name__}")
    start, stop, step = first.indices(tensor.shape[dim])
    part = tensor[first]
    if rest:
        moved = torch.movedim(part, dim, -1)
        inner = torch.movedim(value, 0, -1)
        value = torch.movedim(_replaced(moved, rest, inner, line), -1, dim)
    elif value.shape != part.shape:
        raise ValueError(f"{line}: expects the shape {tuple(part.shape)} for the part, but got {tuple(value.shape)}")
    return torch.slice_scatter(tensor, value, dim, start, stop, step)


def _beyond(dtype: torch.dtype) -> float | int | bool:
    """Returns what blocks read beyond the end of a tensor."""
    if dtype.is_floating_point or dtype.is_complex:
        return float("nan")
    return False if dtype == torch.bool else torch.iinfo(dtype).min


class _Operand:
    """A tensor of the grid: which dimension of it each parallel dimension of the grid cuts, and where its blocks lie."""

    def __init__(self, name: str, block: Block, shape: Sequence[int], grid: tuple[int, ...]):
        self.name, self.block, self.shape = name, block, tuple(shape)
        if len(block.shape) != len(shape):
            raise ValueError(f"{name}: expects a block of {len(shape)} sizes for a tensor of the shape {tuple(shape)}, but got {tuple(block.shape)}")
        self.counts = [-(-size // length) for size, length in zip(shape, block.sizes(), strict=True)]
        self.padded = tuple(count * length for count, length in zip(self.counts, block.sizes(), strict=True))
        self.table: dict[tuple[int, ...], tuple[int, ...]] = {}
        for point in itertools.product(*map(range, grid)):
            index = (0,) * len(shape) if block.index_map is None else tuple(block.index_map(*point))
            if len(index) != len(shape) or not all(isinstance(number, int) and 0 <= number < count
                                                   for number, count in zip(index, self.counts, strict=True)):
                raise ValueError(f"{name}: expects {len(shape)} ints below {tuple(self.counts)} of the index map for the cell {point}, but got {index}")
            self.table[point] = index
        self.parallel: dict[int, int] = {}
        self.selected: dict[int, list[int]] = {}

    def separates(self, axis: int, size: int) -> bool:
        """Returns whether cells along the axis have blocks of their own."""
        places = [place for place in range(len(self.shape)) if all(index[place] == point[axis] for point, index in self.table.items())]
        return len(places) == 1 and self.counts[places[0]] == size and not any(
            self._depends(place, axis) for place in range(len(self.shape)) if place != places[0])

    def _depends(self, place: int, axis: int) -> bool:
        """Returns whether the block's number in a dimension of the tensor differs along an axis."""
        return any(self.table[point[:axis] + (0,) + point[axis + 1:]][place] != index[place] for point, index in self.table.items())

    def cut(self, parallel: Sequence[int], grid: tuple[int, ...]) -> None:
        """Finds the dimensions that parallel axes cut."""
        for place in range(len(self.shape)):
            axes = [axis for axis in parallel if self._depends(place, axis)]
            if not axes:
                continue
            others = [axis for axis in range(len(grid)) if axis not in axes and self._depends(place, axis)]
            if len(axes) > 1 or others or axes[0] in self.parallel.values():
                raise _Mixed(axes)
            chosen = []
            for number in range(grid[axes[0]]):
                point = tuple(number if axis == axes[0] else 0 for axis in range(len(grid)))
                chosen.append(self.table[point][place])
            self.parallel[place] = axes[0]
            if chosen != list(range(self.counts[place])):
                self.selected[place] = chosen

    def labels(self) -> list[Any]:
        """Returns the dimensions of split(): ("cells", axis) before those of the block."""
        found: list[Any] = []
        for place in range(len(self.shape)):
            found += [("cells", self.parallel[place]), place] if place in self.parallel else [place]
        return found

    def split(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns the tensor, padded to whole blocks, with a dimension for the cells of each parallel axis."""
        if self.padded != self.shape:
            padding = [end for size, whole in zip(reversed(self.shape), reversed(self.padded), strict=True) for end in (0, whole - size)]
            tensor = torch.nn.functional.pad(tensor, padding, value=_beyond(tensor.dtype))
        for place in sorted(self.parallel, reverse=True):
            tensor = tensor.unflatten(place, (self.counts[place], self.block.sizes()[place]))
            if place in self.selected:
                tensor = tensor.index_select(place, torch.tensor(self.selected[place], device=tensor.device))
        return tensor

    def whole(self, tensor: torch.Tensor) -> torch.Tensor:
        """split() undone."""
        tensor = tensor.reshape(self.padded)
        for place, size in enumerate(self.shape):
            tensor = tensor if size == self.padded[place] else tensor.narrow(place, 0, size)
        return tensor

    def start(self, point: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the number of the block in what one cell of the parallel axes sees."""
        return tuple(0 if place in self.parallel else number for place, number in enumerate(self.table[point]))

    def read(self, part: torch.Tensor, start: Sequence[int]) -> torch.Tensor:
        """Returns the block as the body sees it."""
        sizes = self.block.sizes()
        for place in reversed(range(len(self.shape))):
            if sizes[place] != part.shape[place]:
                part = part.narrow(place, start[place] * sizes[place], sizes[place])
            if self.block.shape[place] is None:
                part = part.squeeze(place)
        return part

    def joined(self, blocks: dict[tuple[int, ...], torch.Tensor]) -> torch.Tensor:
        """Returns the part of the tensor that consists of these blocks."""
        counts = [1 if place in self.parallel else count for place, count in enumerate(self.counts)]
        missing = [start for start in itertools.product(*map(range, counts)) if start not in blocks]
        if missing:
            raise ValueError(f"{self.name}: expects that all blocks are written, but no cell writes {len(missing)} of them, such as {missing[0]}")

        def along(prefix: tuple[int, ...]) -> torch.Tensor:
            if len(prefix) == len(counts):
                block = blocks[prefix]
                for place, size in enumerate(self.block.shape):
                    block = block.unsqueeze(place) if size is None else block
                return block
            pieces = [along((*prefix, number)) for number in range(counts[len(prefix)])]
            return pieces[0] if len(pieces) == 1 else torch.cat(pieces, len(prefix))

        return along(())


class _Mixed(Exception):
    """An index map mixes axes, so that they cannot be parallel."""

    def __init__(self, axes: Sequence[int]):
        super().__init__(axes)
        self.axes = axes


def kernel(body: Callable[..., None], *, grid: Sequence[int], in_specs: Sequence[Block], out_specs: Block | Sequence[Block],
           out_shape: Any, scratch: Sequence[Memory] = ()) -> Callable[..., Any]:
    """Returns a function of tensors that runs a body for every cell of a grid.

    Cells run at once along the axes where each has its own block of every output, reads no memory that it did not write, and makes no decision by its
    number; along the others they run one after the other. The function raises ValueError for blocks that no cell writes, and for more than 1024 cells one
    after the other.

    Args:
      body: The body, called with a Ref per input, output and memory, in this order.
      grid: The number of cells per dimension.
      in_specs: The blocks of each input.
      out_specs: The blocks of the output, or a sequence of them.
      out_shape: The sizes and the type of the output, or a sequence of such pairs.
      scratch: The memory that cells share.

    Returns:
      A function of as many tensors as there are `in_specs`, on any device, which returns the output, or a tuple if `out_specs` is a sequence.
    """
    grid = tuple(int(size) for size in grid)
    is_single = isinstance(out_specs, Block)
    outs, shapes = ([out_specs], [out_shape]) if isinstance(out_specs, Block) else (list(out_specs), list(out_shape))
    name = getattr(body, "__name__", "kernel")

    def run(*tensors: torch.Tensor) -> Any:
        if len(tensors) != len(in_specs):
            raise TypeError(f"{name}: expects {len(in_specs)} tensors, but got {len(tensors)}")
        strict, in_order = True, set()
        while True:
            inputs = [_Operand(f"input {i} of {name}", spec, tensor.shape, grid) for i, (spec, tensor) in enumerate(zip(in_specs, tensors, strict=True))]
            results = [_Operand(f"output {i} of {name}", spec, sizes, grid) for i, (spec, (sizes, _)) in enumerate(zip(outs, shapes, strict=True))]
            parallel, in_front = [], True
            for axis, size in enumerate(grid):
                if (axis not in in_order and size > 1 and (not scratch or (strict and in_front)) and
                        all(result.separates(axis, size) for result in results)):
                    parallel.append(axis)
                elif size != 1:
                    in_front = False
            try:
                for operand in (*inputs, *results):
                    operand.cut(parallel, grid)
                made = _run(body, name, grid, parallel, inputs, results, [dtype for _, dtype in shapes], scratch, tensors, strict and bool(parallel))
            except _Decides as decides:
                in_order.add(decides.axis)
            except _Carried:
                strict = False  # cells that share memory run one after the other
            except _Mixed as mixed:
                in_order.update(mixed.axes)
            else:
                return made[0] if is_single else tuple(made)

    return run


def _run(body: Callable[..., None], name: str, grid: tuple[int, ...], parallel: list[int], inputs: list[_Operand], results: list[_Operand],
         dtypes: list[torch.dtype], scratch: Sequence[Memory], tensors: Sequence[torch.Tensor], strict: bool) -> list[torch.Tensor]:
    """Returns the outputs, with these axes parallel."""
    others = [axis for axis in range(len(grid)) if axis not in parallel]
    steps = math.prod(grid[axis] for axis in others)
    if steps > _MOST_STEPS:
        raise ValueError(f"{name}: {steps} cells would be recorded one after the other, at most {_MOST_STEPS} are: take larger blocks")

    def cell(numbers: dict[int, Any], parts: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        memory = [Ref(f"scratch {i} of {name}", space.shape, space.dtype, None, True, strict) for i, space in enumerate(scratch)]
        written: list[dict[tuple[int, ...], torch.Tensor]] = [{} for _ in results]
        for chosen in itertools.product(*(range(grid[axis]) for axis in others)):
            known = dict(zip(others, chosen, strict=True))
            point = tuple(known.get(axis, 0) for axis in range(len(grid)))
            refs = [Ref(operand.name, operand.block.visible_sizes(), part.dtype, operand.read(part, operand.start(point)), False)
                    for operand, part in zip(inputs, parts, strict=True)]
            out = [Ref(operand.name, operand.block.visible_sizes(), dtype, blocks.get(operand.start(point)), True)
                   for operand, dtype, blocks in zip(results, dtypes, written, strict=True)]
            _cells.append(([known.get(axis, numbers.get(axis)) for axis in range(len(grid))], grid))
            try:
                with _Products():
                    body(*refs, *out, *memory)
            finally:
                _cells.pop()
            for operand, ref, blocks in zip(results, out, written, strict=True):
                if ref.written:
                    blocks[operand.start(point)] = ref[...]
        return [operand.joined(blocks) for operand, blocks in zip(results, written, strict=True)]

    def over(axes: list[int], numbers: dict[int, Any], parts: Sequence[torch.Tensor], labels_in: list[list[Any]],
             labels_out: list[list[Any]]) -> list[torch.Tensor]:
        if not axes:
            return cell(numbers, parts)
        label = ("cells", axes[0])
        where_in = [labels.index(label) if label in labels else None for labels in labels_in]
        where_out = tuple(labels.index(label) for labels in labels_out)
        inner_in, inner_out = ([[item for item in labels if item != label] for labels in each] for each in (labels_in, labels_out))

        def function(number: torch.Tensor, *parts: torch.Tensor) -> tuple[torch.Tensor, ...]:
            return tuple(over(axes[1:], {**numbers, axes[0]: _Number(number, axes[0])}, parts, inner_in, inner_out))

        all_numbers = torch.arange(grid[axes[0]], device=tensors[0].device)
        return list(torch.func.vmap(function, in_dims=(0, *where_in), out_dims=where_out)(all_numbers, *parts))

    parts = [operand.split(tensor) for operand, tensor in zip(inputs, tensors, strict=True)]
    made = over(parallel, {}, parts, [operand.labels() for operand in inputs], [operand.labels() for operand in results])
    return [operand.whole(tensor) for operand, tensor in zip(results, made, strict=True)]
