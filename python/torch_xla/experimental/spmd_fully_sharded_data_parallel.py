# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fully sharded data parallel training as an annotation: parameters, and with them gradients and the optimizer's state, are sharded over
the axis `fsdp` of a mesh; the compiler gathers them where they are used and scatters the sums of gradients."""
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn as nn

from ..distributed import spmd as xs
from ..distributed.fsdp.wrap import recursive_wrap


def _split_batch(output, mesh, axes):
    """Shards a tensor, or the first one of a tuple or list, along its first dimension."""
    first = output[0] if isinstance(output, (tuple, list)) and output else output
    if not isinstance(first, torch.Tensor):
        raise RuntimeError(f"FSDPv2: expects a module's output to be a tensor or a tuple that begins with one, but got a "
                           f"{type(output).__name__}: shard_output(output, mesh) must select the value to shard")
    if first.dim() == 0:
        return
    xs.mark_sharding(first, mesh, (axes,) + (None,) * (first.dim() - 1))


class SpmdFullyShardedDataParallel(nn.Module):
    """A module whose parameters are sharded over the mesh axis `fsdp`, and whose output is sharded along the batch.

    Every parameter is sharded along the largest dimension that the devices divide, or the largest one if there is none; a warning names large
    parameters of that kind, whose gradients and optimizer states stay replicated.

    Args:
      module: The module, which is moved to the device.
      mesh: A mesh with an axis `fsdp`; None: the global mesh.
      shard_output: A function of an output and the mesh that marks outputs which are neither a tensor nor a tuple that begins with one.
      auto_wrap_policy: Decides which submodules are wrapped by themselves, see torch_xla.distributed.fsdp.wrap.
      auto_wrapper_callable: Wraps them; None: this class.
      extra_data_axis: Another axis of the mesh over which the batch is sharded, and the parameters are not.

    Raises:
      RuntimeError: The module is wrapped already.
      ValueError: There is no mesh, or it lacks an axis.
    """

    def __init__(self, module: nn.Module, mesh: xs.Mesh | None = None, shard_output: Callable[[Any, xs.Mesh], Any] | None = None,
                 auto_wrap_policy: Callable[..., bool] | None = None, auto_wrapper_callable: Callable[..., nn.Module] | None = None,
                 extra_data_axis: str | None = None) -> None:
        super().__init__()
        if isinstance(module, SpmdFullyShardedDataParallel):
            raise RuntimeError("FSDPv2: expects a module that is not wrapped yet, but got an SpmdFullyShardedDataParallel")
        mesh = xs.get_global_mesh() if mesh is None else mesh
        if mesh is None:
            raise ValueError("FSDPv2: expects a mesh, or one from torch_xla.distributed.spmd.set_global_mesh()")
        if not mesh.axis_names or "fsdp" not in mesh.axis_names:
            raise ValueError(f"FSDPv2: expects a mesh with an axis named fsdp, but got axes {mesh.axis_names}")
        if extra_data_axis is not None and extra_data_axis not in mesh.axis_names:
            raise ValueError(f"FSDPv2: expects extra_data_axis to be one of {mesh.axis_names}, but got {extra_data_axis!r}. The provided "
                             f"{extra_data_axis} axis is not in the mesh.")
        self._mesh = mesh
        self._data_axes = "fsdp" if extra_data_axis is None else (extra_data_axis, "fsdp")
        self._shard_output = shard_output or (lambda output, mesh: _split_batch(output, mesh, self._data_axes))
        if auto_wrap_policy is not None:
            options: dict[str, Any] = dict(mesh=mesh, shard_output=shard_output, extra_data_axis=extra_data_axis)
            recursive_wrap(module, auto_wrap_policy, auto_wrapper_callable or type(self), only_wrap_children=True, **options)
        module.to("xla")
        for name, parameter in module.named_parameters():
            self._split(f"{name.replace('_orig_module.', '')} of the {type(module).__name__}", parameter)
        xs.apply_backward_optimization_barrier(module)
        self._orig_module = module

    def _split(self, name, parameter):
        count = self._mesh.shape()["fsdp"]
        dims = [dim for dim in range(parameter.dim()) if parameter.size(dim) >= count]  # of others there would be empty shards
        if not dims or xs.api.is_distributed(parameter):
            return
        # Values that a program computes are replicated where the devices do not divide them: gradients, and with them the optimizer's state.
        chosen = max([dim for dim in dims if parameter.size(dim) % count == 0] or dims, key=parameter.size)
        size = parameter.size(chosen)
        if size % count and parameter.numel() * parameter.element_size() >= 1 << 20:
            warnings.warn(f"FSDPv2: no dimension of the parameter {name}, {tuple(parameter.shape)}, is a multiple of the {count} devices of the mesh "
                          f"axis fsdp: it is sharded, but its gradient and the optimizer's state for it are replicated. A size of {size + -size % count} in "
                          f"place of {size} would shard them, too", stacklevel=3)
        xs.mark_sharding(parameter, self._mesh, tuple("fsdp" if dim == chosen else None for dim in range(parameter.dim())))

    @property
    def module(self) -> nn.Module:
        """The wrapped module."""
        return self._orig_module

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name == "_orig_module":
                raise
            return getattr(self._orig_module, name)

    def __getitem__(self, key):
        return self._orig_module[key]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the wrapped module, and returns its output after it has been sharded along the batch.

        Args:
          *args: Its positional arguments.
          **kwargs: Its keyword arguments.

        Raises:
          RuntimeError: The output is of another form, and there is no `shard_output`.
        """
        output = self._orig_module(*args, **kwargs)
        self._shard_output(output, self._mesh)
        return output
