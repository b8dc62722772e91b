# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own fully sharded classes exchange the memory of a parameter under it, which this device does not do: an error names what does. Its
checkpoints and its helpers for state dicts take the shards of XlaFullyShardedDataParallel for whole tensors, of which one rank's would be the only
ones that are kept: an error says how they are saved."""
import functools
import sys
from collections.abc import Iterable
from typing import Any

import torch.distributed as dist
import torch.nn as nn

from . import _import_hooks

_PACKAGE = "torch.distributed.fsdp"
# Methods of PyTorch's class.
_OF_WRAPPED = ("summon_full_params", "state_dict_type", "set_state_dict_type", "optim_state_dict", "full_optim_state_dict")
_HOW_TO_SAVE = ("of which every rank has another: each rank saves it under a name of its own, {f'rank{xr.global_ordinal()}': {'model': "
                "model.state_dict(), ...}}, or in a file of its own, xm.save({'model': model.state_dict(), 'shard_metadata': "
                "model.get_shard_metadata()}, path, master_only=False), from which consolidate_sharded_model_checkpoints makes the whole model")


def _check(name: str, module: nn.Module, mesh: Any, is_of_xla: bool = False) -> None:
    if mesh is not None:
        is_of_xla = is_of_xla or getattr(mesh, "device_type", None) == "xla"
    elif dist.is_initialized():
        is_of_xla = is_of_xla or dist.get_backend() == "xla"
    if is_of_xla or any(parameter.device.type == "xla" for parameter in module.parameters()):
        raise NotImplementedError(f"{_PACKAGE}.{name} does not work on the device xla: shard the model with "
                                  "torch_xla.distributed.fsdp.XlaFullyShardedDataParallel, or under SPMD with "
                                  "torch_xla.experimental.spmd_fully_sharded_data_parallel.SpmdFullyShardedDataParallel")


def check_shards_of_ranks(plans: Iterable[Any]) -> None:
    """What is not split is written by one rank: shards that only their names tell from whole tensors would be lost. ValueError where two of the
    SavePlans have a shard of the same name."""
    seen: set[str] = set()
    for plan in plans:
        names = {item.index.fqn for item in plan.items if "_fsdp_shard" in item.index.fqn}
        if twice := sorted(seen & names):
            raise ValueError(f"{twice[0]} is a shard of XlaFullyShardedDataParallel, {_HOW_TO_SAVE}")
        seen |= names


def _is_split(module: Any) -> bool:
    """Returns whether a part of the module is an XlaFullyShardedDataParallel."""
    ours = sys.modules.get("torch_xla.distributed.fsdp")
    return ours is not None and isinstance(module, nn.Module) and any(isinstance(part, ours.XlaFullyShardedDataParallel) for part in module.modules())


def _refusing_split(name: str, function: Any) -> Any:
    """`function(module, ...)`, a method of PyTorch's class about modules that it has wrapped."""
    @functools.wraps(function)
    def checked(module: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_split(module):
            raise NotImplementedError(f"{_PACKAGE}.FullyShardedDataParallel.{name} does not support XlaFullyShardedDataParallel: model.state_dict() has "
                                      f"the shards, {_HOW_TO_SAVE}")
        return function(module, *args, **kwargs)
    return checked


def _use_planner(module: Any) -> None:
    """`module`: torch.distributed.checkpoint.default_planner."""
    create = module.DefaultSavePlanner.create_global_plan

    @functools.wraps(create)
    def create_global_plan(self: Any, all_plans: Any) -> Any:
        check_shards_of_ranks(all_plans)
        return create(self, all_plans)
    module.DefaultSavePlanner.create_global_plan = create_global_plan


def _use_state_dicts(module: Any) -> None:
    """`module`: torch.distributed.checkpoint.state_dict."""
    def without_whole_ones(name: str, function: Any) -> Any:
        @functools.wraps(function)
        def checked(model: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(kwargs.get("options"), "full_state_dict", False) and _is_split(model):
                raise NotImplementedError(f"{name} with StateDictOptions(full_state_dict=True) does not merge the shards of an "
                                          f"XlaFullyShardedDataParallel, {_HOW_TO_SAVE}. A whole state dict goes into the model before it is wrapped")
            return function(model, *args, **kwargs)
        return checked
    for name in ("get_model_state_dict", "get_optimizer_state_dict", "get_state_dict", "set_model_state_dict", "set_optimizer_state_dict",
                 "set_state_dict"):
        setattr(module, name, without_whole_ones(name, getattr(module, name)))


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
    for name in (_PACKAGE, f"{_PACKAGE}._fully_shard", f"{_PACKAGE}._fully_shard._fully_shard"):
        if getattr(sys.modules.get(name), "fully_shard", None) is fully_shard:
            vars(sys.modules[name])["fully_shard"] = checked_fully_shard
    package.FullyShardedDataParallel.__init__ = checked_init
    for name in _OF_WRAPPED:
        setattr(package.FullyShardedDataParallel, name, staticmethod(_refusing_split(name, getattr(package.FullyShardedDataParallel, name))))


def install() -> None:
    """Also where the packages are imported already."""
    for name, last, use in ((_PACKAGE, "fully_shard", _use), ("torch.distributed.checkpoint.default_planner", "DefaultSavePlanner", _use_planner),
                            ("torch.distributed.checkpoint.state_dict", "set_state_dict", _use_state_dicts)):
        if hasattr(sys.modules.get(name), last):
            use(sys.modules[name])
        else:
            _import_hooks.add(name, after=use)
