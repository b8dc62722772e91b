# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XLAShardedTensor, the type of the tensors that mark_sharding() returns."""
import contextlib
import dataclasses
import functools
import re
from typing import Any

import numpy as np
import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta
from torch.distributed.tensor.placement_types import _StridedShard

from ... import _XLAC
from ._marking import clear_sharding, mark
from ._placements import check_kind, convert_to_xla_partition_spec, partition_spec_of
from ._places import ShardingError, describe, error
from .debugging import parse
from .mesh import COPIES, Mesh, ShardingType, _tiles_text, mesh_and_axes, shift_axes, type_of


def no_dispatch() -> contextlib.AbstractContextManager[None]:
    """Returns a context in which no __torch_dispatch__ is called."""
    return torch._C._DisableTorchDispatch()


@dataclasses.dataclass
class XLAShard:
    """The shard of one device.

    Attributes:
      data: A copy on the CPU, padded with zeros.
      indices: Its place in the tensor: a list of slices, or `...` for all elements.
      shard_device: The device, such as "CPU:3".
      replica_id: 0 for the first device that holds this shard, 1 for the next one.
    """
    data: torch.Tensor
    indices: Any
    shard_device: str
    replica_id: int

    @property
    def unpadded_data(self) -> torch.Tensor:
        """The elements of `data` without the padding, an alias."""
        if self.indices is Ellipsis:
            return self.data
        return self.data[tuple(slice(0, max(part.stop - part.start, 0)) for part in self.indices)]

    @unpadded_data.setter
    def unpadded_data(self, t: torch.Tensor) -> None:
        """Overwrites the elements of `data` without the padding."""
        self.unpadded_data.copy_(t)


class XLAShardedTensor(DTensor):
    """A tensor of the device that is sharded over several devices. The results of operations with it are of this type.

    `XLAShardedTensor(elem)` is an alias: the tensor that was marked is sharded as well, and gradients flow through. With a mesh it is a leaf of its
    own with the value of `elem`. It is a DTensor by name and by its queries; its arithmetic is that of any tensor of the device.

    Args:
      elem: A tensor. One of the CPU stays there, and only records mesh and placements.
      mesh: A DeviceMesh, with `placements`.
      placements: A placement per dimension of the mesh; Partial() is computed at once.
      mesh_shape: The sizes of a mesh of all devices in their order, with `partition_spec`.
      partition_spec: See mark_sharding().
      requires_grad: Whether the tensor requires gradients; None: as `elem`.

    Raises:
      ShardingError: The arguments do not fit one another.
    """

    __torch_dispatch__ = torch._C._disabled_torch_dispatch_impl

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        made = torch.Tensor.__torch_function__.__func__(cls, func, types, args, kwargs or {})
        if isinstance(made, cls) and not any(made is each for each in args):
            with torch._C.DisableTorchFunctionSubclass():
                if made.device.type != "xla":  # results on the CPU are unsharded, of the type torch.Tensor
                    return made.as_subclass(torch.Tensor)
            mesh = next((each.__dict__["_on"] for each in args if isinstance(each, cls) and "_on" in each.__dict__), None)
            if mesh is not None:
                made._on = mesh
        return made

    def __new__(cls, elem: torch.Tensor, mesh: Any = None, placements: Any = None, *, mesh_shape: Any = None, partition_spec: Any = None,
                requires_grad: bool | None = None) -> Any:
        if mesh is None and partition_spec is None:
            if requires_grad is not None:
                return elem.detach().as_subclass(cls).requires_grad_(requires_grad)
            if isinstance(elem, cls):
                return elem
            made = elem.as_subclass(cls)
            if elem.is_leaf and elem.requires_grad:
                made._marked = elem
            return made
        value, on = elem.detach().as_subclass(torch.Tensor), mesh
        if mesh is not None:
            mesh, spec = mesh_and_partition_spec(value, mesh, placements, f"XLAShardedTensor of {describe(value)}")
        else:
            mesh, spec = Mesh(np.arange(np.prod(mesh_shape)), mesh_shape), partition_spec
        if value.device.type == "xla":
            made = _marked(value.clone(), mesh, spec)
        else:
            made = value.as_subclass(cls)
            made._noted = mesh.plain(), [[mesh.plain()[0][axis] for axis in dim] for dim in mesh.axes_of(spec)]
        return cls._placed(made, on, placements).requires_grad_(elem.requires_grad if requires_grad is None else requires_grad)

    @classmethod
    def _placed(cls, made, device_mesh, placements):
        """Returns the tensor, which remembers the DeviceMesh that the user has put it on, and which of the placements were Partial. (In a function
        that is being compiled it is a plain one.)"""
        if device_mesh is not None and isinstance(made, cls):
            made._on = device_mesh
            made._partial = {axis: each for axis, each in enumerate(placements or ()) if each.is_partial()}
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass  # DTensor's takes other arguments

    @property
    def is_leaf(self) -> bool:
        """Whether the tensor, or the one that was marked, is a leaf of autograd."""
        return self.__dict__.get("_marked") is not None or torch.Tensor.is_leaf.__get__(self)

    @property
    def grad(self) -> torch.Tensor | None:
        """The gradient of the tensor, or of the one that was marked."""
        marked = self.__dict__.get("_marked")
        return torch.Tensor.grad.__get__(self) if marked is None else marked.grad

    @grad.setter
    def grad(self, value: torch.Tensor | None) -> None:
        """Sets the gradient of the tensor, or of the one that was marked."""
        torch.Tensor.grad.__set__(self.__dict__.get("_marked", self), value)

    @property
    def global_tensor(self) -> torch.Tensor:
        """An alias of the tensor of the type torch.Tensor."""
        return self.as_subclass(torch.Tensor)

    @property
    def local_shards(self) -> list[XLAShard]:
        """The shards of the devices of this process, copied to the CPU."""
        replicated = self.sharding_type in (None, ShardingType.REPLICATED)
        shards = []
        for data, begin, size, replica, device in _XLAC._spmd_shards(self):
            indices = ... if replicated else [slice(start, start + length, 1) for start, length in zip(begin, size)]
            shards.append(XLAShard(data, indices, f"CPU:{device}", replica))
        return shards

    def load_local_shards_(self, shards: list[torch.Tensor]) -> None:
        """Gives every device its part anew; `shards` as local_shards returns them. RuntimeError if one is missing or has another
        shape, or the tensor is not split."""
        what = f"load_local_shards_ of {describe(self, is_method=True)}"
        if self.sharding_type in (None, ShardingType.REPLICATED):
            raise error(what, "a sharded tensor", "a replicated one")
        known = self.local_shards
        if len(shards) != len(known):
            raise error(what, f"{len(known)} shards, one per device of this process", len(shards))
        parts = []
        for old, new in zip(known, shards):
            if new.data.shape == old.data.shape:
                parts.append(new.data.to(self.dtype))
            elif new.data.shape == old.unpadded_data.shape:
                old.unpadded_data = new.data
                parts.append(old.data)
            else:
                raise error(what, f"{list(old.unpadded_data.shape)} for {old.shard_device}", list(new.data.shape))
        with torch.no_grad():
            _XLAC._spmd_replace(self, _XLAC._spmd_from_shards(parts, self.sharding_spec, self.shape, mesh_of(self)))

    @property
    def sharding_spec(self) -> str:
        """The sharding in the form of XLA; "" for a tensor without one."""
        return _XLAC._spmd_text(self) if self.device.type == "xla" else ""

    @property
    def sharding_type(self) -> ShardingType | None:
        """The ShardingType of the sharding, or None for a tensor without one."""
        return type_of(self.sharding_spec)

    @property
    def mesh_shape(self) -> tuple[int, ...]:
        """The sizes of the mesh; AttributeError for a tensor that is sharded over no mesh."""
        mesh = mesh_of(self)
        if mesh is None or self.dim() == 0:
            raise AttributeError("mesh_shape: the tensor is not sharded over a mesh")
        return tuple(mesh[1])

    @property
    def partition_spec(self) -> tuple:
        """Per dimension None, the index of the axis that shards it, or a tuple of indices; AttributeError for a tensor that is sharded over no
        mesh."""
        names = list(_mesh_or_raise(self, AttributeError, "partition_spec")[0])
        axes = [[names.index(name) for name in dim] for dim in _axes(self)]
        return tuple(None if not dim else dim[0] if len(dim) == 1 else tuple(dim) for dim in axes)

    @property
    def _spec(self):
        """What DTensor knows of its tensors; found once for a sharding. ValueError for a tensor that is on no mesh."""
        on, text = self.__dict__.get("_on"), self.sharding_spec
        if on is not None and not text and "_noted" not in self.__dict__:
            raise error("placements", "a sharded tensor", "a pending value without a sharding", ValueError)
        names, sizes, devices = mesh = (None, None, None) if on is not None else _mesh_or_raise(self, ValueError, "placements")
        key = (text, id(on), str(mesh))
        known = self.__dict__.get("_cached_spec")
        if known is None or self.__dict__.get("_spec_of") != key:
            if on is None:
                devices, names = np.array(devices).reshape(sizes), tuple(names)
                if names[0] == COPIES:  # the tensor was marked on a mesh of fewer devices
                    devices, names = devices[0], names[1:]
                on = DeviceMesh("xla", torch.tensor(devices), mesh_dim_names=names)
            known = DTensorSpec(on, self._placements_on(on, text), tensor_meta=TensorMeta(self.shape, self.stride(), self.dtype))
            self._cached_spec, self._spec_of = known, key
        return known

    def _known_sharding(self):
        """Returns the sharding; of a value that is still to be computed, the one that the compiler finds for it."""
        text = self.sharding_spec
        if text or self.device.type != "xla" or not _XLAC._check_tensor_need_materialization([self])[0]:
            return text
        plain = self.global_tensor
        key = _XLAC._get_graph_hash([plain])
        if key not in _found:
            if len(_found) > 1000:
                _found.clear()
            result = re.search(r"\) -> \(?tensor<[^>]*>( \{[^{}]*mhlo.sharding = \"([^\"]*)\")?", _XLAC._spmd_partitioned([plain]))
            _found[key] = result and result[2] or "{replicated}"
        return _found[key]

    def _placements_on(self, device_mesh, text):
        """Per axis of the mesh the dim whose part changes along it. ValueError where no placements say that."""
        if "_noted" in self.__dict__:
            places = {name: dim for dim, names in enumerate(self._noted[1]) for name in names}
            axes = self._noted[0][0]
            return tuple(Shard(places[name]) if name in places else self._whole_along(axis) for axis, name in enumerate(axes))
        tile_of = {device: index for index, tile in np.ndenumerate(parse(text)) for device in tile}
        devices, placements = device_mesh.mesh.numpy(), []
        for axis in range(devices.ndim):
            row = [tile_of[int(device)] for device in np.moveaxis(devices, axis, 0).reshape(devices.shape[axis], -1)[:, 0]]
            moving = [dim for dim in range(len(row[0])) if len({tile[dim] for tile in row}) > 1]
            placements.append(Shard(moving[0]) if moving else self._whole_along(axis))
        for candidate in _orders(tuple(placements), devices.shape):
            mesh, spec = mesh_and_partition_spec(self, device_mesh, candidate, "placements")
            over_all, before = mesh.over_all("placements")
            if str(over_all.get_op_sharding(shift_axes(spec, before))) == _as_list(text):
                return candidate
        raise ValueError(f"placements: no Shard and Replicate along the axes {tuple(devices.shape)} say {text}")

    def placements_on(self, device_mesh: Any) -> Any:
        """Its placements on a mesh; Replicate() for all axes where those do not say it."""
        try:
            return self._placements_on(device_mesh, self._known_sharding())
        except ValueError:
            return (Replicate(),) * device_mesh.ndim

    def _whole_along(self, axis):
        return self.__dict__.get("_partial", {}).get(axis) or Replicate()

    @property
    def placements(self) -> Any:
        """The placements of torch.distributed.tensor, one per axis of the mesh.

        Those of a pending value are the ones that the compiler finds, on the mesh of the tensors that it is computed from. ValueError for a tensor
        that is on no mesh."""
        if "_on" in self.__dict__ and self.device.type == "xla" and not self.sharding_spec:
            return self._placements_on(self._on, self._known_sharding())
        return self._spec.placements

    @property
    def device_mesh(self) -> Any:
        """The mesh of the placements as a DeviceMesh; None for a tensor that is on no mesh."""
        if "_on" in self.__dict__:
            return self._on
        return self._spec.mesh if mesh_of(self) is not None else None

    @property
    def _local_tensor(self):
        return self.global_tensor

    def to_local(self, *, grad_placements: Any = None) -> torch.Tensor:
        """Returns the tensor with the type torch.Tensor. One process has all devices, so it has all elements; local_shards has the shards.

        Args:
          grad_placements: The placements of its gradient; None: as it comes.
        """
        made = self.global_tensor
        if self.is_leaf and self.requires_grad:
            made = made.detach().requires_grad_()
            made.grad = None if self.grad is None else self.grad.as_subclass(torch.Tensor)
        if grad_placements is not None and made.requires_grad:
            made = made.view_as(made)
            made.register_hook(functools.partial(_gradient_on, self.device_mesh, grad_placements))
        return made

    def full_tensor(self, *, grad_placements: Any = None) -> torch.Tensor:
        """Returns an unsharded copy, of which every device has all elements, of the type torch.Tensor.

        Args:
          grad_placements: The placements of its gradient; None: as it comes.
        """
        made = clear_sharding(self.global_tensor + 0)
        if grad_placements is not None and made.requires_grad:
            made.register_hook(functools.partial(_gradient_on, self.device_mesh, grad_placements))
        return made

    def redistribute(self, device_mesh: Any = None, placements: Any = None, *, async_op: bool = False, forward_dtype: torch.dtype | None = None,
                     backward_dtype: torch.dtype | None = None) -> torch.Tensor:
        """Returns a copy with other placements.

        Args:
          device_mesh: A DeviceMesh or Mesh; None: that of the tensor.
          placements: A placement per dimension of the mesh.
          async_op: Has no effect: the call does not wait in any case.
          forward_dtype: The type of the result; None: that of the tensor.
          backward_dtype: The type that the gradient is rounded to; None: it is not.

        Raises:
          ShardingError: There are no placements, or they do not fit.
        """
        what = f"redistribute of {describe(self, is_method=True)}"
        if placements is None:
            raise error(what, "placements", "None")
        value, on = self.global_tensor if forward_dtype is None else self.global_tensor.to(forward_dtype), device_mesh
        if device_mesh is None:
            on = self.__dict__.get("_on")
        if isinstance(on, Mesh) or on is None:
            mesh, on = Mesh(*_as_arguments(_mesh_or_raise(self, ShardingError, "redistribute"))) if on is None else on, None
            spec = convert_to_xla_partition_spec(self, placements, mesh, is_method=True)
        else:
            mesh, spec = mesh_and_partition_spec(self, on, placements, what)
        value = value.clone()
        if backward_dtype is not None and value.requires_grad:
            value = _GradientIn.apply(value, backward_dtype)
        return self._placed(_marked(value, mesh, spec), on, placements)

    def invalidate_spec_cache(self) -> None:
        """Forgets what _spec has found. It notices other shardings by itself."""
        self._cached_spec = None

    # A compiler must not decompose the tensor, as it does DTensors.
    @property
    def __tensor_flatten__(self):
        raise AttributeError("an XLAShardedTensor does not wrap tensors")

    # torch.distributed.checkpoint without SPMDSavePlanner saves the tensor as an unsharded one.
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

    def __reduce_ex__(self, protocol):
        return self.global_tensor.__reduce_ex__(protocol)  # all elements are saved

    def __deepcopy__(self, memo):
        made = self.global_tensor.detach().clone().requires_grad_(self.requires_grad).as_subclass(type(self))
        made.__dict__.update({name: self.__dict__[name] for name in ("_on", "_partial") if name in self.__dict__})
        memo[id(self)] = made
        return made


def mesh_and_partition_spec(tensor: torch.Tensor, device_mesh: Any, placements: Any, what: str) -> tuple[Mesh, tuple]:
    """Returns the Mesh and the partition spec of placements on a DeviceMesh.

    Args:
      tensor: The tensor that is placed.
      device_mesh: The DeviceMesh.
      placements: A placement per dimension of the mesh; None: Replicate() for all. Partial() counts as Replicate(): sums over devices are computed at
        once.
      what: The operation, for the message of an error.

    Raises:
      ShardingError: The placements do not fit.
    """
    check_kind(device_mesh, what)
    if placements is not None and len(placements) != device_mesh.ndim:
        raise error(what, f"one placement for each of the mesh's {device_mesh.ndim} axes", placements)
    mesh, axes = mesh_and_axes(device_mesh, what)
    mesh.over_all(what)
    spec = partition_spec_of(tensor, placements or (), device_mesh.shape, what)
    flat = [[axis for index in (entry if isinstance(entry, tuple) else (entry,)) for axis in axes[index]] if entry is not None else []
            for entry in spec]
    root = device_mesh._get_root_mesh()
    if root is not device_mesh and tensor.device.type == "xla":
        # A placement on a submesh leaves the other axes of the tensor's sharding unchanged.
        said = {axis for each in axes for axis in each}
        for axis, before in enumerate(XLAShardedTensor(tensor).placements_on(root)):
            if axis not in said and before.is_shard():
                flat[before.dim] = sorted(flat[before.dim] + [axis])
    return mesh, tuple(None if not dim else dim[0] if len(dim) == 1 else tuple(dim) for dim in flat)


def _marked(t, mesh, partition_spec):
    """Returns the tensor with a sharding, as an XLAShardedTensor; in a function that Dynamo compiles, as a plain one."""
    made = mark(t, mesh, partition_spec)
    return made if torch.compiler.is_dynamo_compiling() else XLAShardedTensor(made)


_found: dict[Any, Any] = {}  # the shardings of pending values, by the hashes of their graphs


class _GradientIn(torch.autograd.Function):
    """The value; its gradient is rounded to a type."""

    @staticmethod
    def forward(ctx, value, dtype):
        ctx.dtype = dtype
        return value.view_as(value)

    @staticmethod
    def backward(ctx, grad):
        return grad.to(ctx.dtype).to(grad.dtype), None


def _gradient_on(device_mesh, placements, grad):
    mesh, spec = mesh_and_partition_spec(grad, device_mesh, placements, "grad_placements")
    return _marked(grad.clone(), mesh, spec).global_tensor


def _orders(placements, sizes):
    """The placements, and where several axes split a dim those with one of them behind the others as well."""
    yield placements
    for axis, each in enumerate(placements):
        behind = [size for size, other in zip(sizes[axis + 1:], placements[axis + 1:]) if each.is_shard() and other == each]
        for count in range(1, len(behind) + 1):
            strided = _StridedShard(each.dim, split_factor=int(np.prod(behind[:count])))
            yield (*placements[:axis], strided, *placements[axis + 1:])


def _as_list(text):
    """Returns a sharding with the devices as a list, as Mesh.get_op_sharding() writes it."""
    if not text.startswith("{devices="):
        return "{replicated}"
    grid = parse(text)
    return _tiles_text(grid.shape, len(grid.flat[0]), [device for tile in grid.flat for device in tile])


def _as_arguments(mesh):
    """Returns (names, sizes, devices) of a mesh in the order of Mesh()."""
    names, sizes, devices = mesh
    return devices, sizes, names


def mesh_of(tensor: torch.Tensor) -> Any:
    """Returns the mesh of a tensor's sharding as (names, sizes, devices), or None if it has none.

    Args:
      tensor: A tensor.
    """
    if tensor.device.type != "xla":
        return tensor.__dict__["_noted"][0] if "_noted" in tensor.__dict__ else None
    return _XLAC._spmd_mesh(tensor)[1]


def _mesh_or_raise(tensor, kind, what):
    found = mesh_of(tensor)
    if found is None:
        raise error(what, "a sharded tensor (mark_sharding, or mesh_shape and partition_spec)", "one without a sharding", kind)
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
