# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Converts the state of an optimizer of shards to that of an optimizer of the whole model and back, also for another number of processes."""
from typing import Any, Iterator

import torch
import torch.nn as nn

from ...core import xla_model as xm
from ._unit import Shard

_BATCH_BYTES = 256 << 20  # Unit: bytes of gathered values at a time. A program for each value would take long to compile.


def _shards(model: nn.Module) -> dict[nn.Parameter, tuple[Shard, list[str]]]:
    """Returns (shard, the names of its parts in the model as it was before it was wrapped) of the parameters that are split."""
    found = {}
    for path, part in model.named_modules():
        unit = getattr(part, "_unit", None)
        for shard in unit.shards if unit is not None else ():
            prefix = _plain(f"{path}.") if path else ""
            found[shard.parameter] = shard, [prefix + name for name in shard.names]
    return found


def _plain(name: str) -> str:
    return name.replace("_fsdp_wrapped_module.", "").replace("_fpw_module.", "")


class _Names:
    """Of each parameter of an optimizer: its shard, or None where it is whole on every rank, and the names of its parts."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer):
        self._shards = _shards(model)
        self._whole = {parameter: _plain(name) for name, parameter in model.named_parameters() if parameter not in self._shards}
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter not in self._shards and parameter not in self._whole:
                    raise ValueError(f"the optimizer has a parameter of {tuple(parameter.shape)} that is none of the model's: expects the model whose parameters() "
                                     "the optimizer was made with")

    def of(self, parameter: nn.Parameter) -> tuple[Shard | None, list[str]]:
        return self._shards[parameter] if parameter in self._shards else (None, [self._whole[parameter]])


def _parts(shard: Shard, whole: torch.Tensor) -> list[torch.Tensor]:
    """What a whole parameter, or several as one vector, is made of."""
    if len(shard.sizes) == 1 and whole.shape == shard.sizes[0]:
        return [whole]
    return [part.view(size) for part, size in zip(whole.split([size.numel() for size in shard.sizes]), shard.sizes)]


def full_optim_state_dict(model: nn.Module, optimizer: torch.optim.Optimizer, rank0_only: bool) -> dict[str, Any]:
    """See XlaFullyShardedDataParallel.full_optim_state_dict."""
    names = _Names(model, optimizer)
    keeps = not rank0_only or xm.get_ordinal() == 0
    state: dict[str, dict[str, Any]] = {}
    groups = []
    split: list[tuple[Shard, list[str], str, torch.Tensor]] = []
    for group in optimizer.param_groups:
        groups.append({**{key: value for key, value in group.items() if key not in ("params", "param_names")},
                       "params": [name for parameter in group["params"] for name in names.of(parameter)[1]]})
        for parameter in group["params"]:
            shard, parts = names.of(parameter)
            for key, value in optimizer.state.get(parameter, {}).items():
                for name in parts:  # names are in the optimizer's order; the values of shards are replaced below
                    state.setdefault(name, {})[key] = value
                if isinstance(value, torch.Tensor) and shard is not None and value.dim():
                    if value.shape != parameter.shape:
                        raise ValueError(f"{key} of {parts[0]} has {tuple(value.shape)} for a shard of {tuple(parameter.shape)}: only a value for each element of the "
                                         "shard, or one for all, has a meaning for another number of processes")
                    split.append((shard, parts, key, value))
                elif isinstance(value, torch.Tensor):
                    for name in parts:
                        state[name][key] = value.detach().cpu().clone()
    for some in _batches(split):
        for (shard, parts, key, _), joined in zip(some, _joined([(shard, value) for shard, _, _, value in some])):
            for name, part in zip(parts, _parts(shard, shard.layout.whole(joined))) if keeps else ():
                state[name][key] = part.clone()
    return {"state": state, "param_groups": groups} if keeps else {}


def _batches(split: list[tuple[Shard, list[str], str, torch.Tensor]]) -> Iterator[list[tuple[Shard, list[str], str, torch.Tensor]]]:
    """What is gathered in one program: values that need _BATCH_BYTES together, or a single one."""
    batch: list[tuple[Shard, list[str], str, torch.Tensor]] = []
    size = 0
    for each in split:
        shard, value = each[0], each[3]
        needs = value.numel() * value.element_size() * shard.layout.world
        if batch and size + needs > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += needs
    if batch:
        yield batch


def _joined(values: list[tuple[Shard, torch.Tensor]]) -> list[torch.Tensor]:
    """All shards joined of each value, on the CPU. All ranks call this."""
    gathered = [xm.all_gather(value.detach().to(shard.owner.xla_device), dim=0, groups=shard.owner.sharding_groups, pin_layout=False) for shard, value in values]
    xm.mark_step()
    return [value.cpu() for value in gathered]


def shard_full_optim_state_dict(full: dict[str, Any], model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """See XlaFullyShardedDataParallel.shard_full_optim_state_dict."""
    if not isinstance(full, dict) or not {"state", "param_groups"} <= full.keys() or not all(isinstance(name, str) for name in full["state"]):
        raise ValueError("expects what full_optim_state_dict() returned on rank 0: a dict with 'state', by the names of parameters, and 'param_groups'. "
                         "optimizer.state_dict() numbers its parameters, and goes on only with as many processes as before")
    names = _Names(model, optimizer)
    group_of = {name: group for group in full["param_groups"] for name in group["params"]}
    state: dict[int, dict[str, Any]] = {}
    groups, index = [], 0
    for group in optimizer.param_groups:
        first, saved = index, None
        for parameter in group["params"]:
            shard, parts = names.of(parameter)
            for name in parts:
                if name not in group_of:
                    raise ValueError(f"the optimizer has {name}, but the state that was saved has no such parameter; it has {', '.join(list(group_of)[:5])}, ...")
                if saved is not None and group_of[name] is not saved:
                    raise ValueError(f"{name} was in another parameter group when the state was saved: make the optimizer with the same groups")
                saved = group_of[name]
            values = _shard_values(shard, parts, [full["state"].get(name, {}) for name in parts], parameter)
            if values:
                state[index] = values
            index += 1
        hyper = {key: value for key, value in (saved or group).items() if key not in ("params", "param_names")}
        groups.append({**hyper, "params": list(range(first, index))})
    return {"state": state, "param_groups": groups}


def _shard_values(shard: Shard | None, names: list[str], states: list[dict[str, Any]], parameter: nn.Parameter) -> dict[str, Any]:
    """Returns the state of this rank's shard, of that of its parts."""
    for name, state in zip(names, states):
        if state.keys() != states[0].keys():
            raise ValueError(f"{name} has {sorted(state)} in the state that was saved, but {names[0]} has {sorted(states[0])}: flatten_parameters makes them one vector")
    sizes = [parameter.shape] if shard is None else shard.sizes
    values = {}
    for key, first in states[0].items():
        parts = [state[key] for state in states]
        if not isinstance(first, torch.Tensor) or first.dim() == 0 and any(size.numel() != 1 or len(size) for size in sizes):
            if any(part != first for part in parts):
                raise ValueError(f"{key} of {names[0]} is {first}, but that of the other parameters of its vector (flatten_parameters) differs")
            values[key] = first
            continue
        for name, part, size in zip(names, parts, sizes):
            if part.shape != size:
                raise ValueError(f"{key} of {name} has {tuple(part.shape)} in the state that was saved, but the parameter has {tuple(size)}")
        whole = parts[0] if len(parts) == 1 else torch.cat([part.reshape(-1) for part in parts])
        values[key] = whole if shard is None else shard.layout.cut(whole, shard.owner.rank)
    return values
