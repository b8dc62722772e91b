# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.ops.xla.dynamic_expand and dynamic_view: shapes of which one size is read from another tensor when they run. The passes of
unbounded_dynamism_export put them in the place of expand and view with an open size."""
import math

import torch

_library = torch.library.Library("xla", "FRAGMENT")
_library.define("dynamic_expand(Tensor input, SymInt[] size, Tensor src_tensor, int src_dim, int target_dim) -> Tensor")
_library.define("dynamic_view(Tensor input, SymInt[] size, Tensor src_tensor, int src_dim, int target_dim, SymInt mul_scaler) -> Tensor")


def _sizes(size, target_dim, value):
    made = list(size)
    made[target_dim] = value
    return made


def dynamic_expand(input, size, src_tensor, src_dim, target_dim):
    """input.expand(size), where size[target_dim] is src_tensor.size(src_dim)."""
    return input.expand(_sizes(size, target_dim, src_tensor.shape[src_dim])).clone()


def dynamic_view(input, size, src_tensor, src_dim, target_dim, mul_scaler):
    """input.reshape(size), where size[target_dim] is src_tensor.size(src_dim) * mul_scaler; a copy, as results of operators are."""
    return input.reshape(_sizes(size, target_dim, src_tensor.shape[src_dim] * mul_scaler)).clone()


def dynamic_expand_meta(input, size, src_tensor, src_dim, target_dim):
    """The shape of dynamic_expand()'s result."""
    made = _sizes(size, target_dim, src_tensor.shape[src_dim])
    ahead = len(made) - input.dim()
    return input.new_empty([input.shape[dim - ahead] if isinstance(n, int) and n == -1 else n for dim, n in enumerate(made)])


def dynamic_view_meta(input, size, src_tensor, src_dim, target_dim, mul_scaler):
    """The shape of dynamic_view()'s result."""
    made = _sizes(size, target_dim, src_tensor.shape[src_dim] * mul_scaler)
    unknown = [dim for dim, n in enumerate(made) if isinstance(n, int) and n == -1]
    for dim in unknown:
        made[dim] = input.numel() // math.prod(n for other, n in enumerate(made) if other != dim)
    return input.new_empty(made)


for _function, _meta in ((dynamic_expand, dynamic_expand_meta), (dynamic_view, dynamic_view_meta)):
    _library.impl(_function.__name__, _function, "CompositeExplicitAutograd")
    torch.library.register_fake(f"xla::{_function.__name__}", _meta, lib=_library)
