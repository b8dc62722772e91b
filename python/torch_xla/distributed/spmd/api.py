# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.distributed.tensor on the device: distribute_tensor() and distribute_module() over DeviceMesh("xla", ...) come here."""
import functools

import torch

from ... import runtime as xr
from ... import _XLAC
from ...core import xla_model as xm
from ._places import ShardingDimError, ShardingUnsupported, describe, error
from .mesh import get_1d_mesh, mesh_of_dtensor
from .xla_sharding import ShardingSpec, mark_sharding, upload, wrap_as_sharded_tensor


def with_xla(func):
    """Turns SPMD on before `func`."""
    @functools.wraps(func)
    def run(*args, **kwargs):
        if not xr.is_spmd():
            xr.use_spmd()
        return func(*args, **kwargs)
    return run


def convert_to_xla_mesh(dt_mesh):
    """The Mesh of a DeviceMesh("xla", ...)."""
    if dt_mesh.device_type != "xla":
        raise error("distribute", 'a DeviceMesh of the device type "xla"', repr(dt_mesh.device_type))
    count = xr.global_runtime_device_count()
    if dt_mesh.size() != count:
        raise error("distribute", f"a DeviceMesh of all {count} devices", f"one of {dt_mesh.size()}")
    return mesh_of_dtensor(dt_mesh)


def convert_to_xla_partition_spec(tensor, placements, mesh=None):
    """The partition spec of placements, one per axis of the mesh: Shard(dim) and Replicate()."""
    if mesh is not None and len(placements) != len(mesh.mesh_shape):
        raise error(f"placements of {describe(tensor)}", f"one for each of the mesh's {len(mesh.mesh_shape)} axes", placements)
    axes = [[] for _ in range(tensor.dim())]
    for axis, placement in enumerate(placements):
        if placement.is_shard():
            dim = placement.dim + tensor.dim() if placement.dim < 0 else placement.dim
            if not 0 <= dim < tensor.dim():
                raise error(f"placements of {describe(tensor)}", f"dims below {tensor.dim()}", placement, ShardingDimError)
            axes[dim].append(axis)
        elif not placement.is_replicate():
            raise error(f"placements of {describe(tensor)}", "Shard and Replicate", placement, ShardingUnsupported)
    return tuple(None if not dim else dim[0] if len(dim) == 1 else tuple(dim) for dim in axes)


@with_xla
def xla_distribute_tensor(tensor, device_mesh, placements=None):
    """distribute_tensor() for the device: the tensor of the CPU (each device gets its part) or of the device (in place), split as the
    placements say. Without placements every device has all of it."""
    from torch.distributed.tensor import Replicate
    mesh = convert_to_xla_mesh(device_mesh)
    if placements is None:
        placements = [Replicate()] * device_mesh.ndim
    if len(placements) != device_mesh.ndim:
        raise error(f"distribute_tensor of {describe(tensor)}", f"one placement for each of the mesh's {device_mesh.ndim} axes", placements)
    spec = convert_to_xla_partition_spec(tensor, placements)
    if tensor.device.type == "xla":
        return mark_sharding(tensor, mesh, spec)
    made = wrap_as_sharded_tensor(upload(tensor.detach(), ShardingSpec(mesh, spec)))
    return made.requires_grad_(tensor.requires_grad)


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
        module.register_forward_pre_hook(lambda m, inputs: input_fn(m, inputs, device_mesh))
    if output_fn is not None:
        module.register_forward_hook(lambda m, inputs, outputs: output_fn(m, outputs, device_mesh))
    return module


def auto_policy(mod_name, mod, device_mesh):
    """A partition_fn for distribute_module(): every parameter of at least 1024 elements is split along the largest of its dims that the
    devices divide (on a mesh of several axes: over all of them)."""
    mesh = get_1d_mesh("devices") if device_mesh is None else convert_to_xla_mesh(device_mesh)
    for parameter in mod.parameters(recurse=False):
        dims = sorted(range(parameter.dim()), key=lambda dim: -parameter.size(dim))
        dim = next((dim for dim in dims if parameter.size(dim) % mesh.size() == 0), None)
        if dim is not None and parameter.numel() >= 1024 and not _XLAC._spmd_text(parameter):
            axes = tuple(range(len(mesh.mesh_shape)))
            mark_sharding(parameter.data, mesh, tuple(axes if d == dim else None for d in range(parameter.dim())))


def is_distributed(tensor):
    """Whether a tensor of the device is split."""
    return isinstance(tensor, torch.Tensor) and _XLAC._spmd_text(tensor) not in ("", "{replicated}")
