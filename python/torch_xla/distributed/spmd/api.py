# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.distributed.tensor on the device: distribute_tensor() and distribute_module() over DeviceMesh("xla", ...) come here."""
import functools
import inspect

import torch

from ... import runtime as xr
from ... import _XLAC, _world
from ..._spmd_exception import without_exception
from ...core import xla_model as xm
from ._input_sharding import ShardingSpec
from ._placements import convert_to_xla_mesh, convert_to_xla_partition_spec  # noqa: F401
from ._places import describe
from .xla_sharding import mark_sharding, wrap_as_sharded_tensor


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


@_of_processes
@with_xla
def xla_distribute_tensor(tensor, device_mesh, placements=None, what="distribute_tensor"):
    """distribute_tensor() for the device: the tensor of the CPU (each device gets its part) or of the device (in place), split as the
    placements say. Without placements every device has all of it."""
    from .xla_sharded_tensor import XLAShardedTensor, place
    mesh, spec = place(tensor, device_mesh, placements, f"{what} of {describe(tensor)}")
    if tensor.device.type == "xla":
        made = mark_sharding(tensor, mesh, spec)
    else:
        made = wrap_as_sharded_tensor(ShardingSpec(mesh, spec).upload(tensor.detach())).requires_grad_(tensor.requires_grad)
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
