# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own fully sharded classes exchange the memory of a parameter under it, which this device does not do: an error names what does."""
import functools
import sys
from typing import Any

import torch.distributed as dist
import torch.nn as nn

from . import _import_hooks

_PACKAGE = "torch.distributed.fsdp"


def _check(name: str, module: nn.Module, mesh: Any, is_of_xla: bool = False) -> None:
    if mesh is not None:
        is_of_xla = is_of_xla or getattr(mesh, "device_type", None) == "xla"
    elif dist.is_initialized():
        is_of_xla = is_of_xla or dist.get_backend() == "xla"
    if is_of_xla or any(parameter.device.type == "xla" for parameter in module.parameters()):
        raise NotImplementedError(f"{_PACKAGE}.{name} does not work on the device xla: split the model with "
                                  "torch_xla.distributed.fsdp.XlaFullyShardedDataParallel, or under SPMD with "
                                  "torch_xla.experimental.spmd_fully_sharded_data_parallel.SpmdFullyShardedDataParallel")


def _use(package: Any) -> None:
    """`package`: torch.distributed.fsdp."""
    fully_shard, init = package.fully_shard, package.FullyShardedDataParallel.__init__

    @functools.wraps(fully_shard)
    def checked_fully_shard(module: Any, *args: Any, **kwargs: Any) -> Any:
        for each in [module] if isinstance(module, nn.Module) else module:
            _check("fully_shard", each, kwargs.get("mesh"))
        return fully_shard(module, *args, **kwargs)

    @functools.wraps(init)
    def checked_init(self: Any, module: nn.Module, *args: Any, **kwargs: Any) -> None:
        _check("FullyShardedDataParallel", module, kwargs.get("device_mesh"), "xla" in str(kwargs.get("device_id")))
        init(self, module, *args, **kwargs)
    package.fully_shard = checked_fully_shard
    package.FullyShardedDataParallel.__init__ = checked_init


def install() -> None:
    """Also where the package is imported already."""
    if _PACKAGE in sys.modules and hasattr(sys.modules[_PACKAGE], "fully_shard"):
        _use(sys.modules[_PACKAGE])
    else:
        _import_hooks.add(_PACKAGE, after=_use)
