# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Implements distribute_tensor() and distribute_module() of torch.distributed.tensor for DeviceMesh("xla", ...)."""
import functools
import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ... import runtime as xr
from ... import _XLAC, _world
from ..._spmd_exception import without_exception
from ...core import xla_model as xm
from ._input_sharding import ShardingSpec
from ._placements import convert_to_xla_mesh, convert_to_xla_partition_spec  # noqa: F401
from ._places import describe, error
from .xla_sharding import mark_sharding, wrap_as_sharded_tensor


def with_xla(func: Callable[..., Any]) -> Callable[..., Any]:
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
def xla_distribute_tensor(tensor: torch.Tensor, device_mesh: Any, placements: Sequence[Any] | None = None,
                          what: str = "distribute_tensor") -> torch.Tensor:
    """Distributes a tensor over a DeviceMesh("xla", ...); torch.distributed.tensor.distribute_tensor() comes here.

    Args:
      tensor: A tensor of the CPU, of which each device gets its shard, or of the device, which is sharded in place.
      device_mesh: The DeviceMesh.
      placements: One per dimension of the mesh. Without them every device has the whole tensor.
      what: The function that the user has called, for error messages.

    Returns:
      An XLAShardedTensor.

    Raises:
      ShardingError: The placements do not fit the tensor or the mesh.
    """
    from .xla_sharded_tensor import XLAShardedTensor, mesh_and_partition_spec
    mesh, spec = mesh_and_partition_spec(tensor, device_mesh, placements, f"{what} of {describe(tensor)}")
    if tensor.device.type == "xla":
        made = mark_sharding(tensor, mesh, spec)
    else:
        made = wrap_as_sharded_tensor(ShardingSpec(mesh, spec).upload(tensor.detach())).requires_grad_(tensor.requires_grad)
    return XLAShardedTensor._placed(made, device_mesh, placements)


@_of_processes
@with_xla
def xla_distribute_module(module: torch.nn.Module, device_mesh: Any = None, partition_fn: Callable[..., None] | None = None,
                          input_fn: Callable[..., Any] | None = None, output_fn: Callable[..., Any] | None = None) -> torch.nn.Module:
    """Moves a module to the device and distributes its parameters; torch.distributed.tensor.distribute_module() comes here.

    Args:
      module: The module.
      device_mesh: Passed to the functions. With auto_policy it is the grid of the devices, unless XLA_AUTO_SPMD_MESH is set.
      partition_fn: partition_fn(name, submodule, device_mesh) distributes the parameters of a submodule; what it leaves is replicated.
        auto_policy turns automatic sharding on.
      input_fn: input_fn(module, inputs, device_mesh) runs before forward().
      output_fn: output_fn(module, outputs, device_mesh) runs after forward().

    Returns:
      The module.

    Raises:
      ShardingError: The mesh of auto_policy does not have all devices in their order.
    """
    if partition_fn is not None and getattr(partition_fn, "__wrapped__", partition_fn) is auto_policy:
        xr.use_spmd(auto=True)
        _plan_over(device_mesh)
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
    """Returns an input_fn or output_fn; older ones do not take the module."""
    return func if len(inspect.signature(func).parameters) != 2 else lambda module, values, device_mesh: func(values, device_mesh)


_planned_over = [""]  # the value of XLA_AUTO_SPMD_MESH that _plan_over() has set


def _plan_over(device_mesh: Any) -> None:
    """Sets XLA_AUTO_SPMD_MESH to the sizes of a mesh, unless the user has set it."""
    given = os.environ.get("XLA_AUTO_SPMD_MESH", "")
    if device_mesh is None or given not in ("", _planned_over[0]):
        return
    mesh = device_mesh if hasattr(device_mesh, "mesh_shape") else convert_to_xla_mesh(device_mesh, "distribute_module")
    devices = [int(device) for device in mesh.device_ids]
    if devices != list(range(xr.global_runtime_device_count())):
        raise error("distribute_module with auto_policy", f"a mesh of all {xr.global_runtime_device_count()} devices in their order", devices)
    os.environ["XLA_AUTO_SPMD_MESH"] = _planned_over[0] = ",".join(str(size) for size in mesh.mesh_shape)


def auto_policy(mod_name: str, mod: torch.nn.Module, device_mesh: Any) -> None:
    """A partition_fn for distribute_module() that leaves parameters to automatic sharding (use_spmd(auto=True)).

    It shards them where the first program that needs them is expected to be fastest that way, over the mesh of XLA_AUTO_SPMD_MESH, or without it over
    that of the module. The function itself does nothing.

    Args:
      mod_name: The name of the submodule.
      mod: The submodule.
      device_mesh: The mesh of distribute_module().
    """


def is_distributed(tensor: Any) -> bool:
    """Returns whether a tensor of the device is sharded."""
    return isinstance(tensor, torch.Tensor) and _XLAC._spmd_text(tensor) not in ("", "{replicated}")
