# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How loaders and xm.send_cpu_data_to_device() shard the batches that they copy to the devices."""
import dataclasses
from typing import Any

import torch

from ... import _devices, _XLAC
from ... import runtime as xr
from ._marking import check, mark
from ._places import describe, error
from .mesh import Mesh, OpSharding


@dataclasses.dataclass
class ShardingSpec:
    """The sharding of batches that loaders and xm.send_cpu_data_to_device() copy to the devices.

    Args:
      mesh: The devices.
      partition_spec: Per dimension of the batch an axis of the mesh, a tuple of axes, or None, see mark_sharding().
      minibatch: Whether each process gives its own share of the batch, which consists of all shares in the order of the processes; otherwise every
        process gives the whole batch.

    Raises:
      ShardingError: The partition spec does not fit the mesh, or leaves the first dimension unsharded although `minibatch` is set.
    """
    mesh: Mesh
    partition_spec: tuple
    minibatch: bool = False

    def __post_init__(self):
        self.mesh.axes_of(self.partition_spec, "ShardingSpec")
        if self.minibatch and self.partition_spec and self.partition_spec[0] is None:
            raise error("ShardingSpec", "a batch dim (0) that is sharded, because minibatch is set", self.partition_spec)

    def xla_spec(self, t: torch.Tensor) -> "XlaShardingSpec | None":
        """Returns the sharding of a tensor, or None if it has another rank.

        Args:
          t: The tensor.
        """
        return XlaShardingSpec(t, self.mesh.get_op_sharding(self.partition_spec), self.minibatch) if self.can_apply(t) else None

    def can_apply(self, t: torch.Tensor) -> bool:
        """Returns whether a tensor has the rank that the spec is for.

        Args:
          t: The tensor.
        """
        return t.dim() == len(self.partition_spec)

    def apply(self, t: torch.Tensor) -> None:
        """Shards a tensor of the device in place, see mark_sharding().

        Args:
          t: The tensor.

        Raises:
          ShardingError: The tensor does not fit the spec.
        """
        mark(t, self.mesh, tuple(self.partition_spec))

    def upload(self, cpu: torch.Tensor) -> torch.Tensor:
        """Copies a CPU tensor to the devices, sharded as this spec says. A tensor of another rank becomes a whole one.

        Raises:
          ShardingError: The tensor does not fit the spec.
        """
        if not self.can_apply(cpu):
            return cpu.to(_devices.xla_device())
        sharding = check(cpu, self.mesh, tuple(self.partition_spec), "input_sharding")
        shares = xr.addressable_runtime_device_count()
        if self.minibatch and cpu.dim() and cpu.shape[0] % shares:
            raise error(f"input_sharding of {describe(cpu)} with minibatch=True",
                        f"a multiple of {shares} rows, one share for each device of this process", cpu.shape[0])
        return _XLAC._spmd_upload(cpu, str(sharding), sharding.mesh.plain(), bool(self.minibatch)).requires_grad_(cpu.requires_grad)


class XlaShardingSpec:
    """A tensor and the sharding that it is to get.

    Args:
      tensor: The tensor, of which the sizes are kept.
      *sharding: An OpSharding, or the arguments of one: tile_assignment, group_assignment, replication_groups, sharding_type.
      minibatch: See ShardingSpec; PyTorch/XLA passes it as the last positional argument.
    """

    def __init__(self, tensor: torch.Tensor, *sharding: Any, minibatch: bool = False) -> None:
        if len(sharding) in (2, 5):
            sharding, minibatch = sharding[:-1], sharding[-1]
        self.shape, self.minibatch = tuple(tensor.shape), minibatch
        self.sharding = sharding[0] if isinstance(sharding[0], OpSharding) else OpSharding(*sharding)
