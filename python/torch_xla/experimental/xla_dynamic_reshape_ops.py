# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.ops.xla.dynamic_expand and dynamic_view: shapes of which one size is read from another tensor when they run. The passes of
unbounded_dynamism_export put them in the place of expand and view with an open size."""
import math
from collections.abc import Sequence

import torch

_library = torch.library.Library("xla", "FRAGMENT")
_library.define("dynamic_expand(Tensor input, SymInt[] size, Tensor src_tensor, int src_dim, int target_dim) -> Tensor")
_library.define("dynamic_view(Tensor input, SymInt[] size, Tensor src_tensor, int src_dim, int target_dim, SymInt mul_scaler) -> Tensor")


def _sizes(size, target_dim, value):
    made = list(size)
    made[target_dim] = value
    return made


def dynamic_expand(input: torch.Tensor, size: Sequence[int | torch.SymInt], src_tensor: torch.Tensor, src_dim: int,
                   target_dim: int) -> torch.Tensor:
    """Broadcasts a tensor to sizes of which one is read from another tensor.

    Args:
      input: The tensor.
      size: The sizes of the result; -1 keeps the size of `input`. That of `target_dim` has no effect.
      src_tensor: The tensor that the size is read from.
      src_dim: The dimension of `src_tensor` that has the size.
      target_dim: The dimension of the result that gets it.

    Returns:
      A copy of input.expand(...).
    """
    return input.expand(_sizes(size, target_dim, src_tensor.shape[src_dim])).clone()


def dynamic_view(input: torch.Tensor, size: Sequence[int | torch.SymInt], src_tensor: torch.Tensor, src_dim: int, target_dim: int,
                 mul_scaler: int | torch.SymInt) -> torch.Tensor:
    """Reshapes a tensor to sizes of which one is read from another tensor.

    Args:
      input: The tensor.
      size: The sizes of the result; -1 is computed from the others. That of `target_dim` has no effect.
      src_tensor: The tensor that the size is read from.
      src_dim: The dimension of `src_tensor` that has the size.
      target_dim: The dimension of the result that gets the size times `mul_scaler`.
      mul_scaler: The factor.

    Returns:
      A copy of input.reshape(...).
    """
    return input.reshape(_sizes(size, target_dim, src_tensor.shape[src_dim] * mul_scaler)).clone()


def dynamic_expand_meta(input: torch.Tensor, size: Sequence[int | torch.SymInt], src_tensor: torch.Tensor, src_dim: int,
                        target_dim: int) -> torch.Tensor:
    """Returns a tensor of the sizes and type of dynamic_expand()'s result, for tracing without values.

    Args:
      input: The tensor.
      size: The sizes of the result; -1 keeps the size of `input`.
      src_tensor: The tensor that the size is read from.
      src_dim: The dimension of `src_tensor` that has the size.
      target_dim: The dimension of the result that gets it.
    """
    made = _sizes(size, target_dim, src_tensor.shape[src_dim])
    ahead = len(made) - input.dim()
    return input.new_empty([input.shape[dim - ahead] if isinstance(n, int) and n == -1 else n for dim, n in enumerate(made)])


def dynamic_view_meta(input: torch.Tensor, size: Sequence[int | torch.SymInt], src_tensor: torch.Tensor, src_dim: int, target_dim: int,
                      mul_scaler: int | torch.SymInt) -> torch.Tensor:
    """Returns a tensor of the sizes and type of dynamic_view()'s result, for tracing without values.

    Args:
      input: The tensor.
      size: The sizes of the result; -1 is computed from the others.
      src_tensor: The tensor that the size is read from.
      src_dim: The dimension of `src_tensor` that has the size.
      target_dim: The dimension of the result that gets the size times `mul_scaler`.
      mul_scaler: The factor.
    """
    made = _sizes(size, target_dim, src_tensor.shape[src_dim] * mul_scaler)
    unknown = [dim for dim, n in enumerate(made) if isinstance(n, int) and n == -1]
    for dim in unknown:
        made[dim] = input.numel() // math.prod(n for other, n in enumerate(made) if other != dim)
    return input.new_empty(made)


for _function, _meta in ((dynamic_expand, dynamic_expand_meta), (dynamic_view, dynamic_view_meta)):
    _library.impl(_function.__name__, _function, "CompositeExplicitAutograd")
    torch.library.register_fake(f"xla::{_function.__name__}", _meta, lib=_library)
