# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How loaders and xm.send_cpu_data_to_device() shard the batches that they copy to the devices."""
import dataclasses

import torch

from ... import _devices, _XLAC
from ... import runtime as xr
from ._marking import check, mark
from ._places import describe, error
from .mesh import Mesh, OpSharding


@dataclasses.dataclass
class ShardingSpec:
    """How loaders and send_cpu_data_to_device() split a batch: mesh and partition spec. `minibatch`: each process gives its own share of the batch,
    which is all shares in the order of the processes; else every process gives the whole batch."""
    mesh: Mesh
    partition_spec: tuple
    minibatch: bool = False

    def __post_init__(self):
        self.mesh.axes_of(self.partition_spec, "ShardingSpec")
        if self.minibatch and self.partition_spec and self.partition_spec[0] is None:
            raise error("ShardingSpec", "a batch dim (0) that is sharded, because minibatch is set", self.partition_spec)

    def xla_spec(self, t):
        """The sharding of that tensor, or None if it has another rank."""
        return XlaShardingSpec(t, self.mesh.get_op_sharding(self.partition_spec), self.minibatch) if self.can_apply(t) else None

    def can_apply(self, t):
        """Whether the tensor has the rank that the spec is for."""
        return t.dim() == len(self.partition_spec)

    def apply(self, t):
        """Splits a tensor of the device."""
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
    """A tensor and the sharding that it is to get: an OpSharding, or what makes one (tile_assignment, group_assignment, replication_groups,
    sharding_type). `minibatch`: see ShardingSpec."""

    def __init__(self, tensor, *sharding, minibatch=False):
        if len(sharding) in (2, 5):
            *sharding, minibatch = sharding
        self.shape, self.minibatch = tuple(tensor.shape), minibatch
        self.sharding = sharding[0] if isinstance(sharding[0], OpSharding) else OpSharding(*sharding)
