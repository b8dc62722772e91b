# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors that are split over the devices, as mark_sharding() returns them."""
import dataclasses
import re
from typing import Union

import torch

from ... import _XLAC
from ._places import ShardingError
from .mesh import ShardingType, type_of


@dataclasses.dataclass
class XLAShard:
    """What one device holds: `data` (a copy on the CPU, filled up with zeros), `indices` (its place in the tensor: a list of slices, or
    `...`), `shard_device` ("CPU:3") and `replica_id` (0 for the first device that holds this part)."""
    data: torch.Tensor
    indices: Union[type(Ellipsis), list]
    shard_device: str
    replica_id: int

    @property
    def unpadded_data(self):
        """`data` without what fills it up: a view."""
        if self.indices is Ellipsis:
            return self.data
        return self.data[tuple(slice(0, max(part.stop - part.start, 0)) for part in self.indices)]

    @unpadded_data.setter
    def unpadded_data(self, t):
        self.unpadded_data.copy_(t)


class XLAShardedTensor(torch.Tensor):
    """A tensor of the device of which every device beneath holds a part. An alias: the tensor that was marked is split as well, and
    gradients flow through. Operations with it give tensors of this type."""

    def __new__(cls, elem, *args, **kwargs):
        return elem if isinstance(elem, cls) else elem.as_subclass(cls)

    @property
    def global_tensor(self):
        """The same tensor, as a plain one."""
        return self.as_subclass(torch.Tensor)

    @property
    def local_shards(self):
        """What the devices of this process hold, an XLAShard each."""
        replicated = self.sharding_type in (None, ShardingType.REPLICATED)
        shards = []
        for device, (data, begin, size, replica) in enumerate(_XLAC._spmd_parts(self)):
            indices = ... if replicated else [slice(start, start + length, 1) for start, length in zip(begin, size)]
            shards.append(XLAShard(data, indices, f"CPU:{device}", replica))
        return shards

    def load_local_shards_(self, shards):
        """Gives every device its part anew; `shards` as local_shards returns them. RuntimeError if one is missing or has another
        shape, or the tensor is not split."""
        if self.sharding_type in (None, ShardingType.REPLICATED):
            raise ShardingError("load_local_shards_: expects a tensor that is split, but every device has all of this one")
        known = self.local_shards
        if len(shards) != len(known):
            raise ShardingError(f"load_local_shards_: expects {len(known)} shards, one per device, but got {len(shards)}")
        parts = []
        for old, new in zip(known, shards):
            if new.data.shape == old.data.shape:
                parts.append(new.data.to(self.dtype))
            elif new.data.shape == old.unpadded_data.shape:
                old.unpadded_data = new.data
                parts.append(old.data)
            else:
                raise ShardingError(f"load_local_shards_: expects {list(old.unpadded_data.shape)} for {old.shard_device}, but got "
                                    f"{list(new.data.shape)}")
        with torch.no_grad():
            _XLAC._spmd_replace(self, _XLAC._spmd_from_parts(parts, self.sharding_spec, self.shape, mesh_of(self)))

    @property
    def sharding_spec(self):
        """The sharding as XLA writes it, "" for a tensor without one."""
        return _XLAC._spmd_text(self)

    @property
    def sharding_type(self):
        """Its ShardingType, or None."""
        return type_of(self.sharding_spec)

    @property
    def placements(self):
        """The placements of torch.distributed.tensor, one per axis of the mesh."""
        from torch.distributed.tensor import Replicate, Shard
        axes = _axes(self)
        mesh = mesh_of(self)
        if mesh is None:
            return (Replicate(),)
        places = {name: dim for dim, names in enumerate(axes) for name in names}
        return tuple(Shard(places[name]) if name in places else Replicate() for name in mesh[0])

    @property
    def device_mesh(self):
        """The mesh of the placements as a DeviceMesh; None of a tensor that nobody has put on one."""
        from torch.distributed.device_mesh import DeviceMesh
        mesh = mesh_of(self)
        if mesh is None:
            return None
        names, sizes, devices = mesh
        return DeviceMesh("xla", torch.tensor(devices).reshape(sizes), mesh_dim_names=tuple(names))

    def redistribute(self, device_mesh=None, placements=None, *, async_op=False):
        """The tensor with other placements (a new one); `async_op`: no effect, nothing is waited for."""
        from .api import convert_to_xla_mesh, convert_to_xla_partition_spec
        from .mesh import Mesh
        from .xla_sharding import mark_sharding
        if placements is None:
            raise ShardingError("redistribute: expects placements, but got None")
        if device_mesh is None:
            names, sizes, devices = mesh_of(self) or (None, None, None)
            if sizes is None:
                raise ShardingError("redistribute: expects a device_mesh for a tensor that is not on one")
            mesh = Mesh(devices, sizes, names)
        else:
            mesh = convert_to_xla_mesh(device_mesh)
        return mark_sharding(self.global_tensor + 0, mesh, convert_to_xla_partition_spec(self, placements))

    def invalidate_spec_cache(self):
        """Nothing is cached: no effect."""

    def __repr__(self, *, tensor_contents=None):
        return f"XLAShardedTensor({torch.Tensor.__repr__(self.global_tensor)})"

    def __deepcopy__(self, memo):
        made = self.global_tensor.detach().clone().requires_grad_(self.requires_grad).as_subclass(type(self))
        memo[id(self)] = made
        return made


def mesh_of(tensor):
    """(names, sizes, devices) of the mesh of a tensor's sharding, or None."""
    return _XLAC._spmd_mesh(tensor)[1]


def _axes(tensor):
    """Names of the axes that split each dim."""
    attribute = _XLAC._spmd_mesh(tensor)[0]
    if not attribute:
        return []
    dims = attribute[attribute.rindex("]>, [") + 5:-2]
    return [re.findall(r'"((?:[^"\\]|\\.)*)"', part) for part in re.findall(r"\{([^{}]*)\}", dims)]
