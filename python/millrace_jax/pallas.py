# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.experimental.pallas with interpret=False: a kernel over a grid becomes operations on whole arrays (docs/rfcs/0005-kernels.md).

Cells that do not depend on each other are one more dimension of the arrays (jax.vmap over a body on blocks), so that passes and emitters
see large operations, fuse them and use all threads; dimensions in order are loops. Nothing of it is special to this compiler but the
rule's place: JAX's own lowering is replaced for `cpu` only, and only for calls that are not interpreted."""
import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import config, core
from jax._src.pallas import core as pallas_core

from millrace_jax.pallas_body import Body, Carried, Ranged, Ref, draws, effect_inputs, is_semaphore, plain, unset
from millrace_jax.pallas_operations import GENERATOR
from millrace_jax.pallas_slices import place, take

# Bytes of a body's largest intermediate values, over all cells that run as one: more of them run one after the other, where the body
# multiplies matrices. Fewer than the least do not give the threads enough to do.
_TOGETHER, _LEAST = 4 << 20, 256 << 10


@dataclasses.dataclass
class _Operand:
    """An input or output of the grid. `starts`: for each dimension of the array the kind of block; `parallel`: dimensions that a parallel
    dimension of the grid indexes, by it: {dimension of the array: dimension of the grid}."""
    mapping: Any
    parallel: dict[int, int]

    @property
    def sizes(self) -> list[int]:
        """The block's size in every dimension of the array."""
        return list(pallas_core._get_block_shape(self.mapping.block_shape))

    def squeezed(self, dimension: int) -> bool:
        """Returns whether the kernel does not see that dimension."""
        return isinstance(self.mapping.block_shape[dimension], pallas_core.Squeezed)

    def labels(self) -> list[Any]:
        """The dimensions of the array as it is computed with: ("cells", dimension of the grid) before the block's own."""
        found: list[Any] = []
        for dimension in range(len(self.sizes)):
            if dimension in self.parallel:
                found.append(("cells", self.parallel[dimension]))
            if dimension not in self.parallel or not self.squeezed(dimension):
                found.append(dimension)
        return found

    def padded(self) -> list[tuple[int, int]]:
        """What is added before and after each dimension of the array to make it a number of whole blocks."""
        result = []
        for size, block, length in zip(self.mapping.array_aval.shape, self.mapping.block_shape, self.sizes, strict=True):
            low, high = block.padding if isinstance(block, pallas_core.Element) else (0, 0)
            result.append((low, high + -(size + low + high) % max(1, length)))
        return result

    def split(self, array: Any, grid: Sequence[Any]) -> Any:
        """Returns the array, padded, with the dimensions that labels() lists."""
        padding = self.padded()
        if any(pair != (0, 0) for pair in padding):
            array = lax.pad(array, unset((), array.dtype), [(*pair, 0) for pair in padding])
        shape: list[int] = []
        for dimension, size in enumerate(array.shape):
            if dimension in self.parallel:
                shape.append(grid[self.parallel[dimension]])
                if not self.squeezed(dimension):
                    shape.append(size // grid[self.parallel[dimension]])
            else:
                shape.append(size)
        return lax.reshape(array, shape)

    def whole(self, array: Any) -> Any:
        """split() undone."""
        padding = self.padded()
        shape = self.mapping.array_aval.shape
        array = lax.reshape(array, [size + low + high for size, (low, high) in zip(shape, padding, strict=True)])
        if any(pair != (0, 0) for pair in padding):
            array = lax.slice(array, [low for low, _ in padding], [low + size for size, (low, _) in zip(shape, padding, strict=True)])
        return array

    def starts(self, indices: Sequence[Any]) -> list[Any]:
        """Where a block begins in the part of the array that a cell sees, for what the index map yields."""
        found = []
        for dimension, (index, block) in enumerate(zip(indices, self.mapping.block_shape, strict=True)):
            if dimension in self.parallel:
                if not self.squeezed(dimension):
                    found.append(np.int32(0))
            elif isinstance(block, pallas_core.Blocked):
                found.append(np.int32(int(index) * block.block_size) if isinstance(index, np.generic) else plain(index) * block.block_size)
            else:
                found.append(plain(index))
        return found

    def part_sizes(self) -> list[int]:
        """Returns the block's size in every dimension of a part."""
        return [size for dimension, size in enumerate(self.sizes) if not (dimension in self.parallel and self.squeezed(dimension))]

    def part_squeezed(self) -> list[int]:
        """Dimensions of a part that the kernel does not see."""
        kept = [dimension for dimension in range(len(self.sizes)) if not (dimension in self.parallel and self.squeezed(dimension))]
        return [place for place, dimension in enumerate(kept) if self.squeezed(dimension)]


def _check(mapping: Any, name: str) -> None:
    for block in mapping.block_shape:
        if not isinstance(block, (pallas_core.Blocked, pallas_core.Squeezed, pallas_core.Element)):
            raise NotImplementedError(f"{mapping.origin} of the Pallas kernel {name}: blocks of the kind {type(block).__name__} are not "
                                      "supported; Blocked, Squeezed and Element are")
    if mapping.transforms:
        raise NotImplementedError(f"{mapping.origin} of the Pallas kernel {name}: transforms of block specifications are for GPUs")


def _identities(mapping: Any, dimension: int) -> list[int]:
    """Dimensions of the array whose block index is that dimension of the grid, as it is."""
    jaxpr = mapping.index_map_jaxpr.jaxpr
    return [place for place, atom in enumerate(jaxpr.outvars) if atom is jaxpr.invars[dimension]]


def _separates(mapping: Any, dimension: int, size: int) -> bool:
    """Returns whether cells along that dimension of the grid have blocks of their own, which together are the whole array."""
    jaxpr = mapping.index_map_jaxpr.jaxpr
    places = _identities(mapping, dimension)
    if len(places) != 1 or any(jaxpr.invars[dimension] in equation.invars for equation in jaxpr.eqns):
        return False
    return _covers(mapping, places[0], size)


def _covers(mapping: Any, place: int, size: int) -> bool:
    """Returns whether `size` blocks are the whole dimension of the array."""
    block = mapping.block_shape[place]
    length = pallas_core._get_block_dim_size(block)
    is_block = isinstance(block, (pallas_core.Blocked, pallas_core.Squeezed))
    return is_block and -(-mapping.array_aval.shape[place] // length) == size


def _declared(parameters: Any, dimensions: int) -> list[bool]:
    """Which dimensions of the grid the user called parallel: all of them in kernels in the style of Triton."""
    if parameters is not None and type(parameters).__module__.startswith("jax._src.pallas.triton"):
        return [True] * dimensions
    semantics = getattr(parameters, "dimension_semantics", None) or ()
    names = [str(getattr(item, "value", getattr(item, "name", item))).lower() for item in semantics]
    return [name == "parallel" for name in names] + [False] * (dimensions - len(names))


def _largest(jaxpr: core.Jaxpr) -> tuple[int, bool]:
    """Returns the bytes of the largest value that a body computes, and whether it multiplies matrices."""
    largest, has_product = 0, False
    for equation in jaxpr.eqns:
        for variable in equation.outvars:
            if isinstance(variable.aval, core.ShapedArray) and not is_semaphore(variable.aval.dtype):
                largest = max(largest, variable.aval.size * variable.aval.dtype.itemsize)
        has_product |= equation.primitive.name == "dot_general"
        for inner in core.jaxprs_in_params(equation.params):
            size, product = _largest(inner)
            largest, has_product = max(largest, size), has_product or product
    return largest, has_product


def _deciding(jaxpr: core.Jaxpr, given: Sequence[frozenset[int]]) -> tuple[set[int], list[frozenset[int]]]:
    """Axes whose pl.program_id decides about a branch or about how often a loop runs, and the axes that each result depends on, for those
    that each argument depends on."""
    depends: dict[Any, frozenset[int]] = dict(zip(jaxpr.invars, given, strict=True))
    found: set[int] = set()

    def of(atom: Any) -> frozenset[int]:
        return frozenset() if isinstance(atom, core.Literal) else depends.get(atom, frozenset())

    for equation in jaxpr.eqns:
        name, arguments = equation.primitive.name, [of(atom) for atom in equation.invars]
        together = frozenset().union(*arguments)
        if name == "program_id":
            together = frozenset([equation.params["axis"]])
        elif name == "cond":
            found |= arguments[0]
            for branch in equation.params["branches"]:
                found |= _deciding(branch.jaxpr, arguments[1:])[0]
        elif name == "while":
            # The loop's scalars decide; arrays that only its body reads do not.
            found |= frozenset().union(*(axes for axes, atom in zip(arguments, equation.invars, strict=True)
                                         if isinstance(atom.aval, core.ShapedArray) and not atom.aval.shape))
        else:
            for inner in core.jaxprs_in_params(equation.params):
                if len(inner.invars) == len(arguments):
                    found |= _deciding(inner, arguments)[0]
        depends.update((variable, together) for variable in equation.outvars)
    return found, [of(atom) for atom in jaxpr.outvars]


def _branches(jaxpr: core.Jaxpr) -> bool:
    return any(equation.primitive.name == "cond" or any(_branches(inner) for inner in core.jaxprs_in_params(equation.params))
               for equation in jaxpr.eqns)


class _Grid:
    """One pallas_call."""

    def __init__(self, jaxpr: core.Jaxpr, mapping: Any, aliases: Sequence[tuple[int, int]], parameters: Any):
        self.jaxpr, self.mapping, self.aliases = jaxpr, mapping, {out: given for given, out in aliases}
        info = jaxpr.debug_info
        self.name = info.func_src_info if info is not None else "?"
        for block in mapping.block_mappings:
            _check(block, self.name)
        self.declared = _declared(parameters, len(mapping.grid))
        self.draws = draws(jaxpr)
        self.semaphores = [is_semaphore(aval.dtype) for aval in self._scratch()]
        self.has_branches = _branches(jaxpr)

    def _scratch(self) -> list[Any]:
        """The scratch memory, and the state of the random generator if the kernel draws numbers."""
        count = self.mapping.num_scratch_operands
        found = [variable.aval for variable in self.jaxpr.invars[len(self.jaxpr.invars) - count:]]
        return [*found, GENERATOR] if self.draws else found

    def parallel(self, is_proven: bool) -> list[int]:
        """Dimensions of the grid whose cells can run at once. `is_proven`: also undeclared ones, while no cell reads what another
        left in the scratch memory (Carried)."""
        found: list[int] = []
        has_scratch, in_front = not all(self.semaphores), True
        for dimension, size in enumerate(self.mapping.grid):
            if not isinstance(size, (int, np.integer)):
                in_front = False
                continue
            is_free = dimension in self.mapping.vmapped_dims or self.declared[dimension] or not has_scratch or (is_proven and in_front)
            if size > 1 and is_free and all(_separates(out, dimension, int(size)) for out in self.mapping.block_mappings_output):
                found.append(dimension)
            elif size != 1:
                in_front = False
        return found

    def run(self, *arguments: Any) -> list[Any]:
        """Returns the outputs for (bounds of the grid that only a run knows, scalars, inputs)."""
        dynamic = iter(arguments[:self.mapping.num_dynamic_grid_bounds])
        rest = arguments[self.mapping.num_dynamic_grid_bounds:]
        grid = [int(size) if isinstance(size, (int, np.integer)) else next(dynamic) for size in self.mapping.grid]
        scalars, inputs = rest[:self.mapping.num_index_operands], rest[self.mapping.num_index_operands:]
        with config._check_vma(False):
            try:
                return _Run(self, grid, scalars, self.parallel(True), strict=True).outputs(inputs, rest)
            except Carried:
                return _Run(self, grid, scalars, self.parallel(False), strict=False).outputs(inputs, rest)


class _Run:
    """The grid with a choice of parallel dimensions."""

    def __init__(self, call: _Grid, grid: list[Any], scalars: Sequence[Any], parallel: list[int], strict: bool):
        self.call, self.grid, self.scalars, self.strict = call, grid, scalars, strict
        self.parallel = parallel
        self.in_order = [dimension for dimension in range(len(grid)) if dimension not in parallel]
        self.operands = []
        for block in call.mapping.block_mappings:
            places: dict[int, int] = {}
            for dimension in parallel:
                for position in _identities(block, dimension)[:1]:
                    if _covers(block, position, grid[dimension]):
                        places[position] = dimension
            self.operands.append(_Operand(block, places))
        count = call.mapping.num_inputs
        self.inputs, self.results = self.operands[:count], self.operands[count:]

    def outputs(self, inputs: Sequence[Any], rest: Sequence[Any]) -> list[Any]:
        """Returns the arrays that the grid writes."""
        parts = [operand.split(array, self.grid) for operand, array in zip(self.inputs, inputs, strict=True)]
        given = [self.results[out].split(rest[self.call.aliases[out]], self.grid) if out in self.call.aliases else None
                 for out in range(len(self.results))]
        count = self._one_by_one()
        self.loops, self.together = self.parallel[:count], self.parallel[count:]
        made = self._looped(list(self.loops), {}, parts, given, [operand.labels() for operand in self.inputs],
                            [operand.labels() for operand in self.results])
        return [operand.whole(array) for operand, array in zip(self.results, made, strict=True)]

    def _one_by_one(self) -> int:
        """How many of the parallel dimensions, from the first, are loops: where all cells at once would need more memory than a cache."""
        largest, has_product = _largest(self.call.jaxpr)
        together = math.prod(self.grid[dimension] for dimension in self.parallel)
        loops = 0
        if has_product:
            # A test on a number that all cells share skips what they need not do; on one of each cell's own, both sides are computed.
            axes = [dimension for dimension in range(len(self.grid)) if dimension not in self.call.mapping.vmapped_dims]
            deciding = {axes[axis] for axis in _deciding(self.call.jaxpr, [frozenset()] * len(self.call.jaxpr.invars))[0]}
            apart = [dimension for dimension in self.parallel if dimension in deciding]
            left = together // math.prod(self.grid[dimension] for dimension in apart)
            if apart and largest * left >= _LEAST:
                self.parallel = apart + [dimension for dimension in self.parallel if dimension not in deciding]
                together, loops = left, len(apart)
        while has_product and loops < len(self.parallel) and largest * together > _TOGETHER:
            together //= self.grid[self.parallel[loops]]
            loops += 1
        return loops

    def _looped(self, dimensions: list[int], numbers: dict[int, Any], parts: list[Any], given: list[Any], labels_in: list[list[Any]],
                labels_out: list[list[Any]]) -> list[Any]:
        """Returns the outputs' parts for the cells along `dimensions`, one after the other."""
        if not dimensions:
            made, _ = self._steps(self.in_order, numbers, parts, list(given), [None] * len(self.call.semaphores))
            return [self._empty(out) if array is None else array for out, array in enumerate(made)]
        dimension, *others = dimensions
        axes_in, inner_in = _without(dimension, labels_in)
        axes_out, inner_out = _without(dimension, labels_out)

        def step(number: Any, arrays: list[Any]) -> list[Any]:
            here = [part if axis is None else lax.dynamic_index_in_dim(part, number, axis, keepdims=False)
                    for part, axis in zip(parts, axes_in, strict=True)]
            before = [None if start is None else lax.dynamic_index_in_dim(array, number, axis, keepdims=False)
                      for start, array, axis in zip(given, arrays, axes_out, strict=True)]
            made = self._looped(others, {**numbers, dimension: Ranged(number, 0, self.grid[dimension] - 1)}, here, before, inner_in, inner_out)
            return [lax.dynamic_update_index_in_dim(array, new, number, axis)
                    for array, new, axis in zip(arrays, made, axes_out, strict=True)]

        start = [self._memory(out, labels) if value is None else value
                 for out, (value, labels) in enumerate(zip(given, labels_out, strict=True))]
        return lax.fori_loop(np.int32(0), np.int32(self.grid[dimension]), step, start)

    def _memory(self, out: int, labels: Sequence[Any]) -> Any:
        """Memory for what the labels list of an output."""
        operand = self.results[out]
        shape: list[int] = []
        for label in labels:
            if isinstance(label, tuple):
                shape.append(self.grid[label[1]])
            else:
                size = operand.mapping.array_aval.shape[label] + sum(operand.padded()[label])
                shape.append(size // self.grid[operand.parallel[label]] if label in operand.parallel else size)
        return unset(shape, operand.mapping.array_aval.dtype)

    def _labels(self, operand: _Operand) -> list[Any]:
        """Returns the dimensions of what cells that run at once have of an array."""
        return [label for label in operand.labels() if not isinstance(label, tuple) or label[1] in self.together]

    def _empty(self, out: int) -> Any:
        """Memory for the output of cells that run at once."""
        return self._memory(out, self._labels(self.results[out]))

    def _part(self, out: int) -> Any:
        """Memory for the output of one cell."""
        return self._memory(out, [label for label in self.results[out].labels() if not isinstance(label, tuple)])

    def _scratch_labels(self, index: int) -> list[Any]:
        """Where the cells' dimensions stand in scratch memory: as in an output with blocks of that shape, so that what is summed up there is
        written without moving it; else in front."""
        shape = tuple(self.call._scratch()[index].shape)
        for operand in self.results:
            seen = [label for label in self._labels(operand) if isinstance(label, tuple) or not operand.squeezed(label)]
            if tuple(operand.sizes[label] for label in seen if not isinstance(label, tuple)) == shape:
                places = iter(range(len(shape)))
                return [label if isinstance(label, tuple) else next(places) for label in seen]
        return [("cells", dimension) for dimension in self.together] + list(range(len(shape)))

    def _scratch_memory(self, index: int) -> Any:
        aval = self.call._scratch()[index]
        return unset([self.grid[label[1]] if isinstance(label, tuple) else aval.shape[label] for label in self._scratch_labels(index)], aval.dtype)

    def _at_once(self, dimensions: list[int], numbers: dict[int, Any], parts: list[Any], made: list[Any], scratch: list[Any],
                 labels: Sequence[list[list[Any]]]) -> tuple[list[Any], list[Any]]:
        """One step of all cells along `dimensions`. `labels`: of the inputs, the outputs and the scratch memory."""
        if not dimensions:
            return self._step(numbers, parts, made, scratch)
        dimension, *others = dimensions
        axes, inner = zip(*(_without(dimension, each) for each in labels))

        def function(number: Any, parts: list[Any], made: list[Any], scratch: list[Any]) -> tuple[list[Any], list[Any]]:
            return self._at_once(others, {**numbers, dimension: number}, parts, made, scratch, inner)

        axes_in = [[None if value is None else axis for value, axis in zip(values, each, strict=True)]
                   for values, each in zip((parts, made, scratch), axes, strict=True)]
        return jax.vmap(function, in_axes=(0, *axes_in), out_axes=(axes[1], axes[2]), axis_size=self.grid[dimension])(
            jnp.arange(self.grid[dimension], dtype=jnp.int32), parts, made, scratch)

    def _steps(self, dimensions: list[int], numbers: dict[int, Any], parts: list[Any], made: list[Any],
               scratch: list[Any]) -> tuple[list[Any], list[Any]]:
        """Returns the outputs' parts and the scratch memory after the steps along `dimensions`."""
        if not dimensions:
            labels = ([self._labels(operand) for operand in self.inputs], [self._labels(operand) for operand in self.results],
                      [self._scratch_labels(index) for index in range(len(scratch))])
            return self._at_once(self.together, numbers, parts, made, scratch, labels)
        dimension, *others = dimensions
        size = self.grid[dimension]

        def at(number: Any, made: list[Any], scratch: list[Any]) -> tuple[list[Any], list[Any]]:
            return self._steps(others, {**numbers, dimension: number}, parts, made, scratch)

        first, last = 0, size
        is_static = isinstance(size, int)
        if is_static:
            # First and last steps are apart where tests on them are to vanish: in the two innermost dimensions, for code grows threefold.
            inner = sum(1 for other in others if not isinstance(self.grid[other], int) or self.grid[other] > 1)
            is_apart = inner < 2 and (self.call.has_branches or any(value is None for value in scratch))
            if size == 0:
                return made, scratch
            if is_apart or size == 1:
                made, scratch = at(np.int32(0), made, scratch)
                first = 1
            if is_apart and self.call.has_branches and size > 1:
                last = size - 1
        if not is_static or first < last:
            if is_static and last - first == 1:
                made, scratch = at(np.int32(first), made, scratch)
            else:
                made = [self._empty(out) if array is None else array for out, array in enumerate(made)]
                if self.strict and self.parallel and any(value is None and not is_sem for value, is_sem in
                                                         zip(scratch, self.call.semaphores, strict=True)):
                    raise Carried
                scratch = [self._scratch_memory(index) if value is None else value for index, value in enumerate(scratch)]

                def step(number: Any, arrays: Any) -> Any:
                    known = Ranged(number, first, last - 1) if is_static else number
                    return at(known, list(arrays[0]), list(arrays[1]))

                made, scratch = lax.fori_loop(np.int32(first), np.int32(last) if is_static else jnp.asarray(last, jnp.int32), step,
                                              (made, scratch))
        if is_static and first <= last < size:
            made, scratch = at(np.int32(last), list(made), list(scratch))
        return list(made), list(scratch)

    def _step(self, numbers: dict[int, Any], parts: list[Any], made: list[Any], scratch: list[Any]) -> tuple[list[Any], list[Any]]:
        """One run of the kernel."""
        mapping, jaxpr = self.call.mapping, self.call.jaxpr
        numbers_in_order = [numbers[dimension] for dimension in range(len(self.grid))]
        if mapping.local_grid_env is not None:
            local = mapping.local_grid_env([plain(number) for number in numbers_in_order], self.grid)
            axes = [(axis.index, axis.size) for axis in local]
        else:
            axes = [(number, np.int32(size) if isinstance(size, int) else size) for dimension, (number, size) in
                    enumerate(zip(numbers_in_order, self.grid, strict=True)) if dimension not in mapping.vmapped_dims]
        names, own = mapping.grid_names or (), [number for dimension, number in enumerate(numbers_in_order) if dimension not in mapping.vmapped_dims]
        memory = [Ref(aval, value, strict=self.strict and bool(self.parallel) and not is_sem)
                  for aval, value, is_sem in zip(self.call._scratch(), scratch, self.call.semaphores, strict=True)]
        body = Body(axes, dict(zip(names, own if len(names) == len(own) else numbers_in_order, strict=False)), self.call.name,
                    memory[-1] if self.call.draws else None)
        scalars = [Ref(variable.aval, scalar) for variable, scalar in zip(jaxpr.invars, self.scalars)]
        blocks, places = [], []
        for index, operand in enumerate(self.operands):
            maps = operand.mapping.index_map_jaxpr
            starts = operand.starts(body.run(maps.jaxpr, maps.consts, [*numbers_in_order, *scalars]))
            variable = jaxpr.invars[len(scalars) + index]
            places.append(starts)
            if index < len(self.inputs):
                read: Callable[[], Any] = partial(_block, operand, parts[index], starts)
            else:
                out = index - len(self.inputs)
                read = partial(self._old_block, operand, out, made[out], starts)
            blocks.append(Ref(variable.aval, make=read))
        # Whole arrays that an output takes over are one memory, also where the kernel writes the input: references that it closes over are such.
        shared = [index for out, given in self.call.aliases.items() if (index := given - len(scalars)) >= 0 and self._is_one_memory(index, out)]
        for out, given in self.call.aliases.items():
            if given - len(scalars) in shared:
                blocks[given - len(scalars)] = blocks[len(self.inputs) + out]
        body.run(jaxpr, (), [*scalars, *blocks, *(memory[:-1] if self.call.draws else memory)])
        for out, operand in enumerate(self.results):
            ref, starts = blocks[len(self.inputs) + out], places[len(self.inputs) + out]
            if ref.written:
                block = lax.expand_dims(ref.read(), operand.part_squeezed())
                shape = self._part_shape(out)
                if tuple(operand.part_sizes()) == shape:
                    made[out] = block
                else:
                    whole = self._part(out) if made[out] is None else made[out]
                    made[out] = place(whole, block, starts)
        for index in range(len(self.inputs)):
            if blocks[index].written and index not in shared:
                raise NotImplementedError(f"{self.operands[index].mapping.origin} of the Pallas kernel {self.call.name} is an input, and the "
                                          "kernel writes it: make it an output with input_output_aliases")
        return made, [ref.peek() for ref in memory]

    def _is_one_memory(self, index: int, out: int) -> bool:
        """Returns whether an input and the output that takes it over are the same memory in the kernel: whole arrays that stay where they are."""
        given, operand = self.inputs[index], self.results[out]
        place = len(self.scalars) + index
        space = getattr(self.call.jaxpr.invars[place].aval, "memory_space", None)
        is_there = str(getattr(space, "value", space)).lower() in ("any", "hbm") or effect_inputs(self.call.jaxpr)[len(self.call.jaxpr.constvars) + place]
        return (is_there and given.parallel == operand.parallel and
                tuple(operand.part_sizes()) == self._part_shape(out) and given.part_sizes() == operand.part_sizes())

    def _part_shape(self, out: int) -> tuple[int, ...]:
        operand, shape = self.results[out], []
        for dimension, size in enumerate(operand.mapping.array_aval.shape):
            size += sum(operand.padded()[dimension])
            if dimension not in operand.parallel:
                shape.append(size)
            elif not operand.squeezed(dimension):
                shape.append(size // self.grid[operand.parallel[dimension]])
        return tuple(shape)

    def _old_block(self, operand: _Operand, out: int, part: Any, starts: Sequence[Any]) -> Any:
        return _block(operand, self._part(out) if part is None else part, starts)


def _without(dimension: int, labels: Sequence[list[Any]]) -> tuple[list[int | None], list[list[Any]]]:
    """Where the cells along a dimension of the grid stand, for each list of labels, and the lists without it."""
    label = ("cells", dimension)
    return ([each.index(label) if label in each else None for each in labels],
            [[item for item in each if item != label] for each in labels])


def _block(operand: _Operand, part: Any, starts: Sequence[Any]) -> Any:
    """Returns the block of a part of an array."""
    sizes = operand.part_sizes()
    return lax.squeeze(take(part, starts, sizes), operand.part_squeezed())


def lowered(context: Any, *nodes: Any, interpret: Any, **parameters: Any) -> Any:
    """Lowers a pallas_call that is not interpreted; pallas_hook registers it as the rule for the CPU.

    Args:
      context: The LoweringRuleContext of JAX.
      *nodes: The MLIR values of the operands.
      interpret: Has no effect.
      **parameters: The parameters of the pallas_call.

    Returns:
      The MLIR values of the results.

    Raises:
      ValueError: The kernel captures arrays.
      NotImplementedError: The kernel is for a mesh of a GPU, or sizes of arrays are open.
    """
    from jax._src.interpreters import mlir

    info = parameters["jaxpr"].debug_info
    if parameters.get("debug"):
        print(f"\nThe kernel jaxpr for pallas_call {info.func_src_info}:\n{parameters['jaxpr']}")
    if not all(core.is_constant_shape(aval.shape) for aval in (*context.avals_in, *context.avals_out)):
        raise NotImplementedError(f"the Pallas kernel {info.func_src_info} has arrays whose sizes an exported program leaves open, dynamic grids with "
                                  "them are not supported on CPUs: export it for sizes")
    if parameters["jaxpr"].constvars:
        raise ValueError(f"the Pallas kernel {info.func_src_info} captures arrays: pass them as inputs")
    mesh = parameters.get("mesh")
    # The cores of a TPU run one after the other here; a GPU's mesh has threads that synchronize with each other.
    if mesh is not None and type(mesh).__name__ != "TensorCoreMesh":
        raise NotImplementedError(f"the Pallas kernel {info.func_src_info} is for a mesh of the kind {type(mesh).__name__}, which a CPU does not "
                                  "have: use pl.pallas_call with a grid")
    call = _Grid(parameters["jaxpr"], parameters["grid_mapping"], parameters["input_output_aliases"], parameters["compiler_params"])
    return mlir.lower_fun(call.run, multiple_results=True)(context, *nodes)
