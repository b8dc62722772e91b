# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors that are split over the devices, as mark_sharding() returns them."""
import dataclasses
import re
from typing import Union

import numpy as np
import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta

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


class XLAShardedTensor(DTensor):
    """A tensor of the device of which every device beneath holds a part. Operations with it give tensors of this type.

    `XLAShardedTensor(t)` is an alias: the tensor that was marked is split as well, and gradients flow through. With `mesh` and
    `placements`, or `mesh_shape` and `partition_spec`, it is a leaf of its own with the value of `t`, split like that; one of the CPU
    stays there and only remembers them. It is a DTensor by name and by what can be asked of it; its arithmetic is that of any tensor of the
    device."""

    __torch_dispatch__ = torch._C._disabled_torch_dispatch_impl

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        made = torch.Tensor.__torch_function__.__func__(cls, func, types, args, kwargs or {})
        # On the CPU a tensor is whole, and a plain one.
        if isinstance(made, cls) and not any(made is each for each in args):
            with torch._C.DisableTorchFunctionSubclass():
                return made if made.device.type == "xla" else made.as_subclass(torch.Tensor)
        return made

    def __new__(cls, elem, mesh=None, placements=None, *, mesh_shape=None, partition_spec=None, requires_grad=None):
        if mesh is None and partition_spec is None:
            if requires_grad is not None:
                return elem.detach().as_subclass(cls).requires_grad_(requires_grad)
            if isinstance(elem, cls):
                return elem
            made = elem.as_subclass(cls)
            if elem.is_leaf and elem.requires_grad:
                made._marked = elem
            return made
        from .api import convert_to_xla_mesh, convert_to_xla_partition_spec
        from .mesh import Mesh
        from .xla_sharding import mark_sharding
        value = elem.detach().as_subclass(torch.Tensor)
        mesh = convert_to_xla_mesh(mesh) if mesh is not None else Mesh(np.arange(np.prod(mesh_shape)), mesh_shape)
        spec = partition_spec if partition_spec is not None else convert_to_xla_partition_spec(value, placements, mesh)
        if value.device.type == "xla":
            made = mark_sharding(value.clone(), mesh, spec)
        else:
            made = value.as_subclass(cls)
            made._noted = mesh.plain(), [[mesh.plain()[0][axis] for axis in dim] for dim in mesh.axes_of(spec)]
        return made.requires_grad_(elem.requires_grad if requires_grad is None else requires_grad)

    def __init__(self, *args, **kwargs):
        pass  # DTensor's takes other arguments

    @property
    def is_leaf(self):
        """As of the tensor that was marked."""
        return self.__dict__.get("_marked") is not None or torch.Tensor.is_leaf.__get__(self)

    @property
    def grad(self):
        """As of the tensor that was marked."""
        marked = self.__dict__.get("_marked")
        return torch.Tensor.grad.__get__(self) if marked is None else marked.grad

    @grad.setter
    def grad(self, value):
        torch.Tensor.grad.__set__(self.__dict__.get("_marked", self), value)

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
        return _XLAC._spmd_text(self) if self.device.type == "xla" else ""

    @property
    def sharding_type(self):
        """Its ShardingType, or None."""
        return type_of(self.sharding_spec)

    @property
    def mesh_shape(self):
        """Sizes of the mesh. AttributeError where there is nothing to split."""
        mesh = mesh_of(self)
        if mesh is None or self.dim() == 0:
            raise AttributeError("mesh_shape: the tensor has not been split over a mesh")
        return tuple(mesh[1])

    @property
    def partition_spec(self):
        """Per dim None, the index of the mesh's axis that splits it, or a tuple of several. AttributeError as mesh_shape."""
        names = list(_mesh_or_raise(self, AttributeError, "partition_spec")[0])
        axes = [[names.index(name) for name in dim] for dim in _axes(self)]
        return tuple(None if not dim else dim[0] if len(dim) == 1 else tuple(dim) for dim in axes)

    @property
    def _spec(self):
        """What DTensor knows of its tensors; found once for a sharding. ValueError for a tensor that nobody has put on a mesh."""
        mesh = _mesh_or_raise(self, ValueError, "placements")
        known = self.__dict__.get("_cached_spec")
        text = (self.sharding_spec, str(mesh))
        if known is None or self.__dict__.get("_spec_of") != text:
            names, sizes, devices = mesh
            places = {name: dim for dim, names_of_dim in enumerate(_axes(self)) for name in names_of_dim}
            known = DTensorSpec(DeviceMesh("xla", torch.tensor(devices).reshape(sizes), mesh_dim_names=tuple(names), _init_backend=False),
                                tuple(Shard(places[name]) if name in places else Replicate() for name in names),
                                tensor_meta=TensorMeta(self.shape, self.stride(), self.dtype))
            self._cached_spec, self._spec_of = known, text
        return known

    @property
    def placements(self):
        """The placements of torch.distributed.tensor, one per axis of the mesh. ValueError for a tensor that is on none."""
        return self._spec.placements

    @property
    def device_mesh(self):
        """The mesh of the placements as a DeviceMesh; None of a tensor that nobody has put on one."""
        return self._spec.mesh if mesh_of(self) is not None else None

    @property
    def _local_tensor(self):
        return self.global_tensor

    def to_local(self, *, grad_placements=None):
        """The tensor as a plain one. One process has all devices, so what is local is everything; local_shards has the parts."""
        made = self.global_tensor
        if self.is_leaf and self.requires_grad:
            made = made.detach().requires_grad_()
            made.grad = None if self.grad is None else self.grad.as_subclass(torch.Tensor)
        return made

    def full_tensor(self, *, grad_placements=None):
        """The whole tensor, on every device, as a plain one."""
        from .xla_sharding import clear_sharding
        return clear_sharding(self.global_tensor + 0)

    def redistribute(self, device_mesh=None, placements=None, *, async_op=False, forward_dtype=None, backward_dtype=None):
        """The tensor with other placements (a new one), on a DeviceMesh or Mesh, by default its own; `async_op`: no effect, nothing is
        waited for. `forward_dtype`: the type of the result."""
        from .api import convert_to_xla_mesh, convert_to_xla_partition_spec
        from .mesh import Mesh
        from .xla_sharding import mark_sharding
        if placements is None:
            raise ShardingError("redistribute: expects placements, but got None")
        if isinstance(device_mesh, Mesh):
            mesh = device_mesh
        elif device_mesh is not None:
            mesh = convert_to_xla_mesh(device_mesh)
        else:
            names, sizes, devices = _mesh_or_raise(self, ShardingError, "redistribute")
            mesh = Mesh(devices, sizes, names)
        value = self.global_tensor if forward_dtype is None else self.global_tensor.to(forward_dtype)
        return mark_sharding(value.clone(), mesh, convert_to_xla_partition_spec(self, placements, mesh))

    def invalidate_spec_cache(self):
        """Forgets what _spec has found. It notices other shardings by itself."""
        self._cached_spec = None

    # A compiler must not take the tensor apart as it does DTensors.
    @property
    def __tensor_flatten__(self):
        raise AttributeError("an XLAShardedTensor is no wrapper of tensors")

    # torch.distributed.checkpoint without SPMDSavePlanner: the whole tensor, as of one that is not split.
    def __create_write_items__(self, fqn, object):
        from torch.distributed.checkpoint.planner_helpers import _create_write_items
        return _create_write_items(fqn, self.global_tensor)

    def __create_chunk_list__(self):
        from torch.distributed.checkpoint.planner_helpers import _create_chunk_from_tensor
        return [_create_chunk_from_tensor(self.global_tensor)]

    def __get_tensor_shard__(self, index):
        return self.global_tensor

    def __repr__(self, *, tensor_contents=None):
        return f"XLAShardedTensor({torch.Tensor.__repr__(self.global_tensor)})"

    def __deepcopy__(self, memo):
        made = self.global_tensor.detach().clone().requires_grad_(self.requires_grad).as_subclass(type(self))
        memo[id(self)] = made
        return made


def _from_local(local_tensor, device_mesh=None, placements=None, **options):
    """DTensor.from_local() on a mesh of the type "xla": one process has all devices, so its tensor is the whole."""
    if device_mesh is None or device_mesh.device_type != "xla":
        return _from_local_of_torch(local_tensor, device_mesh, placements, **options)
    from .api import xla_distribute_tensor
    return xla_distribute_tensor(local_tensor, device_mesh, placements)


_from_local_of_torch, DTensor.from_local = DTensor.from_local, staticmethod(_from_local)


def mesh_of(tensor):
    """(names, sizes, devices) of the mesh of a tensor's sharding, or None."""
    if tensor.device.type != "xla":
        return tensor.__dict__["_noted"][0] if "_noted" in tensor.__dict__ else None
    return _XLAC._spmd_mesh(tensor)[1]


def _mesh_or_raise(tensor, kind, what):
    found = mesh_of(tensor)
    if found is None:
        raise kind(f"{what}: expects a tensor that has been split (mark_sharding, or mesh_shape and partition_spec), but this one has no sharding")
    return found


def _axes(tensor):
    """Names of the axes that split each dim."""
    if tensor.device.type != "xla":
        return tensor.__dict__["_noted"][1]
    attribute = _XLAC._spmd_mesh(tensor)[0]
    if not attribute:
        return []
    dims = attribute[attribute.rindex("]>, [") + 5:-2]
    return [re.findall(r'"((?:[^"\\]|\\.)*)"', part) for part in re.findall(r"\{([^{}]*)\}", dims)]
