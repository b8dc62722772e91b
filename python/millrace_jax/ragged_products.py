# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.lax.ragged_dot() as a loop over pieces of groups: JAX's own lowering for CPUs multiplies all rows by the matrix of every group."""
import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

# Rows of a piece. A piece is multiplied whole, the last one of a group partly in vain: short groups have short pieces.
_LEAST, _MOST = 8, 128


def _piece(rows: int, groups: int) -> int:
    size = _LEAST
    while size < _MOST and size * groups < rows:
        size *= 2
    return min(size, rows)


def _is_plain(lhs: Any, rhs: Any, sizes: Any, numbers: Any) -> bool:
    """Returns whether these are groups of one array of rows: without batch dimensions, and with one contracted dimension."""
    (contracting, _), (batch, _) = numbers.dot_dimension_numbers
    return (lhs.ndim == 2 and sizes.ndim == 1 and len(contracting) == 1 and not batch and len(numbers.lhs_ragged_dimensions) == 1 and
            rhs.ndim == 2 + len(numbers.rhs_group_dimensions) and 0 not in (*lhs.shape, *rhs.shape) and sizes.shape[0] > 1)


def _is_alone(context: Any) -> bool:
    """Returns whether the program is for one device, or for one device's part: the partitioner cuts products, and no loops over rows."""
    axes = context.module_context.axis_context
    if hasattr(axes, "num_devices"):
        return axes.num_devices == 1
    return math.prod(axes.mesh.shape.values()) == 1 or set(axes.manual_axes) == set(axes.mesh.axis_names)


def product(lhs: Any, rhs: Any, sizes: Any, *, ragged_dot_dimension_numbers: Any, precision: Any = None, preferred_element_type: Any = None,
            **_: Any) -> Any:
    """Returns jax.lax.ragged_dot_general() of two factors without batch dimensions.

    Args:
      lhs: Two dimensions, one of which the groups divide.
      rhs: One matrix per group, or, where the divided dimension is contracted, two dimensions.
      sizes: The size of each group.
      ragged_dot_dimension_numbers: JAX's RaggedDotDimensionNumbers.
      precision: JAX's precision of the products.
      preferred_element_type: The type of the result; None: that of the operands.
    """
    numbers = ragged_dot_dimension_numbers
    ((left,), (right,)), _batch = numbers.dot_dimension_numbers
    (ragged,), dtype = numbers.lhs_ragged_dimensions, preferred_element_type or jnp.result_type(lhs, rhs)
    rows, count = lhs.shape[ragged], sizes.shape[0]
    size = _piece(rows, count)
    if jnp.dtype(sizes.dtype).itemsize < 4:
        sizes = sizes.astype(jnp.int32)
    sizes = jnp.clip(sizes, 0, rows).astype(jnp.int32)  # wrong numbers cost no more than all rows for each group
    ends = jnp.cumsum(sizes, dtype=jnp.int32)
    pieces = (sizes + np.int32(size - 1)) // np.int32(size)
    last = jnp.cumsum(pieces, dtype=jnp.int32)

    def where(number: Any) -> tuple[Any, Any, Any]:
        """The group of a piece, where its rows are read, and which of these it consists of."""
        group = (last <= number).sum(dtype=jnp.int32)
        end = ends[group]
        first = end - sizes[group] + (number - (last[group] - pieces[group])) * np.int32(size)
        at = jnp.minimum(first, np.int32(rows - size))
        row = at + jnp.arange(size, dtype=jnp.int32)
        return group, at, (row >= first) & (row < end)

    if left == ragged:  # the rows are contracted: a matrix per group
        other = 1 - right

        def step(number: Any, result: Any) -> Any:
            group, at, inside = where(number)
            x = lax.dynamic_slice_in_dim(lhs, at, size, ragged)
            x = jnp.where(lax.broadcast_in_dim(inside, x.shape, (ragged,)), x, jnp.zeros((), x.dtype))
            made = lax.dot_general(x, lax.dynamic_slice_in_dim(rhs, at, size, right), (((left,), (right,)), ((), ())), precision, result.dtype)
            return lax.dynamic_update_index_in_dim(result, lax.dynamic_index_in_dim(result, group, 0, False) + made, group, 0)

        total = jnp.promote_types(dtype, jnp.float32) if jnp.issubdtype(dtype, jnp.floating) else dtype
        start = jnp.zeros((count, lhs.shape[1 - ragged], rhs.shape[other]), total)
    else:
        (group_dim,) = numbers.rhs_group_dimensions
        inner = right - (right > group_dim)
        columns = next(extent for dim, extent in enumerate(rhs.shape) if dim not in (group_dim, right))

        def step(number: Any, result: Any) -> Any:
            group, at, inside = where(number)
            x, matrix = lax.dynamic_slice_in_dim(lhs, at, size, ragged), lax.dynamic_index_in_dim(rhs, group, group_dim, False)
            made = lax.dot_general(x, matrix, (((left,), (inner,)), ((), ())), precision, result.dtype)
            old = lax.dynamic_slice_in_dim(result, at, size, 0)
            return lax.dynamic_update_slice_in_dim(result, jnp.where(inside[:, None], made, old), at, 0)

        start = jnp.zeros((rows, columns), dtype)
    return lax.fori_loop(np.int32(0), last[-1], step, start).astype(dtype)


def install() -> None:
    """Registers the lowering for the platform cpu."""
    from jax._src.interpreters import mlir
    from jax._src.lax import lax as lax_operations

    primitive = getattr(lax_operations, "ragged_dot_general_p", None)
    if primitive is None:
        return
    original = mlir._lowerings[primitive].rule
    loop = mlir.lower_fun(product, multiple_results=False)

    def lowered(context: Any, *nodes: Any, **parameters: Any) -> Any:
        lhs, rhs, sizes = context.avals_in[:3]
        is_loop = (parameters.get("group_offset") is None and _is_plain(lhs, rhs, sizes, parameters["ragged_dot_dimension_numbers"]) and
                   _is_alone(context))
        return (loop if is_loop else original)(context, *nodes, **parameters)

    mlir.register_lowering(primitive, lowered, platform="cpu")
