# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts a DeviceMesh and the placements of torch.distributed.tensor to a Mesh and a partition spec."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from ._places import ShardingDimError, ShardingUnsupported, describe, error
from .mesh import Mesh, check_devices, mesh_of_dtensor

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh


def check_kind(dt_mesh: DeviceMesh, what: str) -> None:
    """Checks that a DeviceMesh is one of xla devices.

    Args:
      dt_mesh: The mesh.
      what: The operation, for the message of the error.

    Raises:
      ShardingError: It is one of other devices.
    """
    if dt_mesh.device_type != "xla":
        raise error(what, 'a DeviceMesh of the device type "xla"', repr(dt_mesh.device_type))


def convert_to_xla_mesh(dt_mesh: DeviceMesh, what: str = "DeviceMesh") -> Mesh:
    """Returns the Mesh of the devices of a DeviceMesh("xla", ...), which are all devices or some.

    Args:
      dt_mesh: The DeviceMesh.
      what: The operation, for the message of an error.

    Raises:
      ShardingError: The mesh is one of other devices, or has a device that does not exist, or one twice.
    """
    check_kind(dt_mesh, what)
    check_devices(dt_mesh.mesh.flatten().tolist(), tuple(dt_mesh.mesh.shape), what)
    mesh = mesh_of_dtensor(dt_mesh)
    mesh.over_all(what)
    return mesh


def convert_to_xla_partition_spec(tensor: torch.Tensor, placements: Sequence[Any], mesh: Mesh | None = None, is_method: bool = False) -> tuple:
    """Returns the partition spec of placements.

    Args:
      tensor: The tensor that is placed.
      placements: Shard(dim) or Replicate() per axis of the mesh.
      mesh: The mesh; None: its size is not checked.
      is_method: Whether the user calls a method of the tensor, for the message of an error.

    Raises:
      ShardingError: The placements do not fit. For Partial(), which partition specs cannot express, it is a NotImplementedError, too.
    """
    what = f"placements of {describe(tensor, is_method)}"
    if mesh is not None and len(placements) != len(mesh.mesh_shape):
        raise error(what, f"one for each of the mesh's {len(mesh.mesh_shape)} axes", placements)
    if any(placement.is_partial() for placement in placements):
        raise error(what, "Shard and Replicate", placements, ShardingUnsupported)
    return partition_spec_of(tensor, placements, None if mesh is None else mesh.mesh_shape, what)


def partition_spec_of(tensor: torch.Tensor, placements: Sequence[Any], sizes: Sequence[int] | None, what: str) -> tuple:
    """Returns the partition spec of placements, among which Partial() counts as Replicate().

    Args:
      tensor: The tensor that is placed.
      placements: A placement per axis of the mesh.
      sizes: The sizes of the mesh; None: strided placements are not resolved.
      what: The operation, for the message of an error.

    Raises:
      ShardingError: The placements do not fit.
    """
    axes: list[list[int]] = [[] for _ in range(tensor.dim())]
    for axis, placement in reversed(list(enumerate(placements))):
        factor = getattr(placement, "split_factor", None)
        if placement.is_shard() or factor is not None:
            dim = placement.dim + tensor.dim() if placement.dim < 0 else placement.dim
            if not 0 <= dim < tensor.dim():
                raise error(what, f"dims below {tensor.dim()}", placement, ShardingDimError)
            # The axis of a strided placement follows the axes whose sizes have its factor as product.
            behind = 0
            while factor is not None and factor > 1 and sizes is not None and behind < len(axes[dim]) and factor % sizes[axes[dim][behind]] == 0:
                factor //= sizes[axes[dim][behind]]
                behind += 1
            if factor not in (None, 1):
                raise error(what, "a split factor that is the product of the axes behind", placement)
            axes[dim].insert(behind, axis)
        elif not (placement.is_replicate() or placement.is_partial()):
            raise error(what, "Shard, Replicate and Partial", placement, ShardingUnsupported)
    return tuple(None if not dim else dim[0] if len(dim) == 1 else tuple(dim) for dim in axes)
