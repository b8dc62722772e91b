# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding annotations of plain tensors. xla_sharding.py has the public functions, which return XLAShardedTensors."""
import sys

import torch

from ... import _XLAC
from ... import runtime as xr
from ._places import describe, error
from .mesh import Mesh, OpSharding, PartitionSpec, shift_axes


def is_wrapped(t: object) -> bool:
    """Returns whether `t` is an XLAShardedTensor. While that class has not been imported, nothing is."""
    module = sys.modules.get(f"{__package__}.xla_sharded_tensor")
    return module is not None and isinstance(t, module.XLAShardedTensor)


def unwrap_sharded_tensor(t: torch.Tensor) -> torch.Tensor:
    """Returns the plain tensor of an XLAShardedTensor, and any other tensor as it is."""
    return t.global_tensor if is_wrapped(t) else t


def check(t: torch.Tensor, mesh: Mesh | None, partition_spec: tuple, what: str) -> OpSharding:
    """Returns the OpSharding that a partition spec means for a tensor.

    Args:
      t: The tensor.
      mesh: The mesh whose axes the spec names.
      partition_spec: One entry per dimension of the tensor; see mark_sharding().
      what: The function that the user has called, for the error message.

    Raises:
      ShardingError: The tensor, the mesh and the spec do not fit together, or SPMD is off.
    """
    if not isinstance(t, torch.Tensor):
        raise error(what, "a tensor", type(t).__name__)
    title = f"{what} of {describe(t)}"
    if not xr.is_spmd():
        raise error(title, "SPMD to be on (torch_xla.runtime.use_spmd())", "a process where it is off")
    if mesh is None:
        raise error(title, "a mesh, or one from set_global_mesh()", "None")
    if not isinstance(mesh, Mesh):
        raise error(title, "a torch_xla.distributed.spmd.Mesh", f"a {type(mesh).__name__}")
    every, before = mesh.over_all(title)
    if len(partition_spec) != t.dim():
        raise error(title, f"a partition spec with {t.dim()} entries, one per dim", f"{len(partition_spec)}: {partition_spec}")
    mesh.axes_of(partition_spec, title)
    return every.get_op_sharding(shift_axes(partition_spec, before))


def mark(t: torch.Tensor, mesh: Mesh, partition_spec: PartitionSpec) -> torch.Tensor:
    """Shards a tensor in place and returns it; see mark_sharding(), whose errors these are.

    In a function that Dynamo compiles, the result is a new plain tensor.
    """
    if not isinstance(partition_spec, (tuple, list)):
        raise error(f"mark_sharding of {describe(t)}" if isinstance(t, torch.Tensor) else "mark_sharding",
                    "a tuple with an entry per dim as partition spec", repr(partition_spec))
    partition_spec = tuple(partition_spec)
    if torch.compiler.is_dynamo_compiling():
        return torch.ops.xla.dynamo_mark_sharding(t, mesh.device_ids.tolist(), list(mesh.mesh_shape), str(mesh.axis_names),
                                                  str(partition_spec))
    sharding = check(t, mesh, partition_spec, "mark_sharding")
    if t.device.type != "xla":
        raise error(f"mark_sharding of {describe(t)}", "a tensor of the xla device", f"one of {t.device}")
    _XLAC._count("VirtualDeviceUsage")
    plain = unwrap_sharded_tensor(t)
    if any(stride == 0 and size > 1 for stride, size in zip(plain.stride(), plain.shape)):
        t.data = plain.detach().clone()  # an expanded tensor, which cannot be written to, gets its own memory
        plain = unwrap_sharded_tensor(t)
    _XLAC._xla_mark_sharding(plain, sharding)
    return t


def clear_sharding(t: torch.Tensor) -> torch.Tensor:
    """Removes the sharding of a tensor, in place, and returns the plain tensor."""
    t = unwrap_sharded_tensor(t)
    _XLAC._xla_clear_sharding(t)
    return t
