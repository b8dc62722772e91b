# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operator torch.ops.xla.dynamo_mark_sharding: mark_sharding() inside of functions that torch.compile compiles."""
import ast
from collections.abc import Sequence

import torch

from ._marking import mark
from .mesh import Mesh


@torch.library.custom_op("xla::dynamo_mark_sharding", mutates_args=(),
                         schema="(Tensor t, int[] device_ids, int[] mesh_shape, str axis_names, str partition_spec) -> Tensor")
def dynamo_mark_sharding(t: torch.Tensor, device_ids: Sequence[int], mesh_shape: Sequence[int], axis_names: str,
                         partition_spec: str) -> torch.Tensor:
    """Returns a sharded copy of a tensor, as an operator that torch.compile traces.

    Args:
      t: A tensor of the xla device.
      device_ids: The devices of the mesh, in row-major order.
      mesh_shape: The sizes of the mesh.
      axis_names: str() of a tuple with the names of its axes.
      partition_spec: str() of a tuple, see mark_sharding().

    Raises:
      ShardingError: See mark_sharding().
    """
    mesh = Mesh(device_ids, tuple(mesh_shape), ast.literal_eval(axis_names))
    return mark(t.clone(), mesh, ast.literal_eval(partition_spec))


@dynamo_mark_sharding.register_fake
def _(t, device_ids, mesh_shape, axis_names, partition_spec):
    return torch.empty_like(t)


def _backward(ctx, grad):
    return grad, None, None, None, None


dynamo_mark_sharding.register_autograd(_backward)
