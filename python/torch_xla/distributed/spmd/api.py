# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.distributed.tensor on the device: distribute_tensor() and distribute_module() over DeviceMesh("xla", ...) come here."""
import functools
import inspect

import torch

from ... import runtime as xr
from ... import _XLAC, _world
from ..._patches import without_exception
from ...core import xla_model as xm
from ._places import ShardingDimError, ShardingUnsupported, describe, error
from .mesh import check_devices, mesh_of_dtensor, placed
from .xla_sharding import ShardingSpec, mark_sharding, upload, wrap_as_sharded_tensor


def with_xla(func):
    """Turns SPMD on before `func`."""
    @functools.wraps(func)
    def run(*args, **kwargs):
        if not xr.is_spmd():
            xr.use_spmd()
        return func(*args, **kwargs)
    return run


def _of_processes(func):
    """In a world of several processes, each of which is a place of the mesh: PyTorch's function of that name instead of `func`."""
    @functools.wraps(func)
    def choose(*args, **kwargs):
        if _world.size() == 1:
            return func(*args, **kwargs)
        import torch.distributed.tensor._api as api
        return without_exception(getattr(api, func.__name__.removeprefix("xla_")))(*args, **kwargs)
    return choose


def _check_kind(dt_mesh, what):
    if dt_mesh.device_type != "xla":
        raise error(what, 'a DeviceMesh of the device type "xla"', repr(dt_mesh.device_type))


def convert_to_xla_mesh(dt_mesh, what="DeviceMesh"):
    """The Mesh of the devices of a DeviceMesh("xla", ...): all that there are, or some."""
    _check_kind(dt_mesh, what)
    check_devices(dt_mesh.mesh.flatten().tolist(), tuple(dt_mesh.mesh.shape), what)
    mesh = mesh_of_dtensor(dt_mesh)
    mesh.over_all(what)
    return mesh


def convert_to_xla_partition_spec(tensor, placements, mesh=None, is_method=False):
    """The partition spec of placements, one per axis of the mesh: Shard(dim) and Replicate(). Partition specs do not say Partial() (NotImplementedError);
    on a DeviceMesh it is a whole value."""
    what = f"placements of {describe(tensor, is_method)}"
    if mesh is not None and len(placements) != len(mesh.mesh_shape):
        raise error(what, f"one for each of the mesh's {len(mesh.mesh_shape)} axes", placements)
    if any(placement.is_partial() for placement in placements):
        raise error(what, "Shard and Replicate", placements, ShardingUnsupported)
    return _spec(tensor, placements, None if mesh is None else mesh.mesh_shape, what)


def _spec(tensor, placements, sizes, what):
    axes = [[] for _ in range(tensor.dim())]
    for axis, placement in reversed(list(enumerate(placements))):
        factor = getattr(placement, "split_factor", None)
        if placement.is_shard() or factor is not None:
            dim = placement.dim + tensor.dim() if placement.dim < 0 else placement.dim
            if not 0 <= dim < tensor.dim():
                raise error(what, f"dims below {tensor.dim()}", placement, ShardingDimError)
            # A strided one comes after axes that stand behind it: as many as make up its factor.
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


def place(tensor, device_mesh, placements, what):
    """(Mesh, partition spec) of placements on a DeviceMesh, one per dim of it (None: all of them Replicate()); raises where they do not fit. Partial()
    is whole: what devices have to add up is added up as soon as it is there."""
    _check_kind(device_mesh, what)
    if placements is not None and len(placements) != device_mesh.ndim:
        raise error(what, f"one placement for each of the mesh's {device_mesh.ndim} axes", placements)
    mesh, axes = placed(device_mesh, what)
    mesh.over_all(what)
    spec = _spec(tensor, placements or (), device_mesh.shape, what)
    flat = [[axis for index in (entry if isinstance(entry, tuple) else (entry,)) for axis in axes[index]] if entry is not None else []
            for entry in spec]
    root = device_mesh._get_root_mesh()
    if root is not device_mesh and tensor.device.type == "xla":
        # A part of a mesh says nothing about the other axes.
        said = {axis for each in axes for axis in each}
        for axis, before in enumerate(wrap_as_sharded_tensor(tensor).placements_on(root)):
            if axis not in said and before.is_shard():
                flat[before.dim] = sorted(flat[before.dim] + [axis])
    return mesh, tuple(None if not dim else dim[0] if len(dim) == 1 else tuple(dim) for dim in flat)


@_of_processes
@with_xla
def xla_distribute_tensor(tensor, device_mesh, placements=None, what="distribute_tensor"):
    """distribute_tensor() for the device: the tensor of the CPU (each device gets its part) or of the device (in place), split as the
    placements say. Without placements every device has all of it."""
    mesh, spec = place(tensor, device_mesh, placements, f"{what} of {describe(tensor)}")
    if tensor.device.type == "xla":
        made = mark_sharding(tensor, mesh, spec)
    else:
        made = wrap_as_sharded_tensor(upload(tensor.detach(), ShardingSpec(mesh, spec))).requires_grad_(tensor.requires_grad)
    from .xla_sharded_tensor import XLAShardedTensor
    return XLAShardedTensor._placed(made, device_mesh, placements)


@_of_processes
@with_xla
def xla_distribute_module(module, device_mesh=None, partition_fn=None, input_fn=None, output_fn=None):
    """distribute_module() for the device: moves the module there, has `partition_fn(name, submodule, device_mesh)` distribute its
    parameters, and makes whole on every device what is left. `input_fn(module, inputs, device_mesh)` and
    `output_fn(module, outputs, device_mesh)` run before and after forward()."""
    if partition_fn is not None and getattr(partition_fn, "__wrapped__", partition_fn) is auto_policy:
        xr.use_spmd(auto=True)
        partition_fn = auto_policy
    for name, part in module.named_modules():
        part.to(xm.xla_device())
        if partition_fn is not None:
            partition_fn(name, part, device_mesh)
    if input_fn is not None:
        module.register_forward_pre_hook(lambda m, inputs: _of_module(input_fn)(m, inputs, device_mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda m, inputs, outputs: _of_module(output_fn)(m, outputs, device_mesh))
    return module


def _of_module(func):
    """An input_fn or output_fn; older ones do not take the module."""
    return func if len(inspect.signature(func).parameters) != 2 else lambda module, values, device_mesh: func(values, device_mesh)


def auto_policy(mod_name, mod, device_mesh):
    """A partition_fn for distribute_module(): leaves parameters to automatic sharding (use_spmd(auto=True)), which splits them where the first
    program that needs them is expected to be fastest that way, over the mesh of XLA_AUTO_SPMD_MESH."""


def is_distributed(tensor):
    """Whether a tensor of the device is split."""
    return isinstance(tensor, torch.Tensor) and _XLAC._spmd_text(tensor) not in ("", "{replicated}")
