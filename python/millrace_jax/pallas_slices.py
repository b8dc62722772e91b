# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices that stay slices under jax.vmap. JAX makes a gather and a scatter of a batched dynamic slice, even where all cells read the same
place; passes and emitters know slices better, and loops update them in place."""
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core
from jax._src.interpreters import batching, mlir

_take_p = core.Primitive("millrace_grid_slice")
_wherep = core.Primitive("millrace_grid_update")


def take(array: Any, starts: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Returns a slice of an array, as lax.dynamic_slice(); a static slice if all starts are known, and the array if it is all of it.

    Args:
      array: The array.
      starts: The first index per dimension: numbers or scalars, which are clamped so that the slice lies inside.
      sizes: The number of elements per dimension.
    """
    if tuple(sizes) == array.shape:
        return array
    if all(isinstance(start, (int, np.generic)) for start in starts):
        fixed = [min(max(int(start), 0), length - size) for start, size, length in zip(starts, sizes, array.shape, strict=True)]
        return lax.slice(array, fixed, [start + size for start, size in zip(fixed, sizes, strict=True)])
    return _take_p.bind(array, *(jnp.asarray(start, jnp.int32) for start in starts), sizes=tuple(int(size) for size in sizes))


def place(array: Any, update: Any, starts: Sequence[Any]) -> Any:
    """Returns an array with a slice replaced, as lax.dynamic_update_slice(); the update itself if it is all of it.

    Args:
      array: The array.
      update: The new elements, of the same rank.
      starts: The first index per dimension: numbers or scalars, which are clamped so that the slice lies inside.
    """
    if update.shape == array.shape:
        return update
    return _wherep.bind(array, update, *(jnp.asarray(start, jnp.int32) for start in starts))


def _taken(array: Any, *starts: Any, sizes: Sequence[int]) -> Any:
    return lax.dynamic_slice_p.bind(array, *starts, slice_sizes=sizes)


def _placed(array: Any, update: Any, *starts: Any) -> Any:
    return lax.dynamic_update_slice_p.bind(array, update, *starts)


def _take_batched(values: Sequence[Any], axes: Sequence[Any], *, sizes: Sequence[int]) -> tuple[Any, int]:
    array, *starts = values
    axis, *start_axes = axes
    if all(where is None for where in start_axes):
        wider = [*starts[:axis], jnp.int32(0), *starts[axis:]]
        return _take_p.bind(array, *wider, sizes=(*sizes[:axis], array.shape[axis], *sizes[axis:])), axis
    into = [None if where is None else where for where in axes]
    return jax.vmap(lambda given, *rest: lax.dynamic_slice(given, rest, sizes), in_axes=into)(array, *starts), 0


def _wherebatched(values: Sequence[Any], axes: Sequence[Any]) -> tuple[Any, int]:
    array, update, *starts = values
    axis, update_axis, *start_axes = axes
    if all(where is None for where in start_axes):
        size = array.shape[axis] if axis is not None else update.shape[update_axis]
        if axis is None:
            array, axis = jnp.broadcast_to(array, (size, *array.shape)), 0
        if update_axis is None:
            update = lax.broadcast_in_dim(update, (*update.shape[:axis], size, *update.shape[axis:]),
                                          [d + (d >= axis) for d in range(update.ndim)])
        else:
            update = jnp.moveaxis(update, update_axis, axis)
        return _wherep.bind(array, update, *starts[:axis], jnp.int32(0), *starts[axis:]), axis
    into = [None if where is None else where for where in axes]
    return jax.vmap(lambda given, new, *rest: lax.dynamic_update_slice(given, new, rest), in_axes=into)(array, update, *starts), 0


def _take_type(array: Any, *starts: Any, sizes: Sequence[int]) -> Any:
    return array.update(shape=tuple(sizes), weak_type=False)


def _wheretype(array: Any, update: Any, *starts: Any) -> Any:
    return array.update(weak_type=False)


_take_p.def_abstract_eval(_take_type)
_wherep.def_abstract_eval(_wheretype)
batching.primitive_batchers[_take_p] = _take_batched
batching.primitive_batchers[_wherep] = _wherebatched
mlir.register_lowering(_take_p, mlir.lower_fun(_taken, multiple_results=False))
mlir.register_lowering(_wherep, mlir.lower_fun(_placed, multiple_results=False))
