# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that flatten state dicts and move them, with their shards, to the CPU."""
import copy
import dataclasses
from collections.abc import Mapping

import torch
from torch.distributed.checkpoint._nested_dict import FLATTEN_MAPPING

from ...distributed.spmd import XLAShardedTensor, wrap_if_sharded
from ...distributed.spmd.mesh import ShardingType

__all__ = ["FLATTEN_MAPPING", "dedup_tensors", "flatten_state_dict", "narrow_tensor_by_index", "set_element"]


@dataclasses.dataclass
class _CpuShards:
    """A tensor that was split when it was copied: an XLAShard per device, and the shape of the whole."""
    shards: list
    global_shape: torch.Size


def _is_sharded_tensor(x):
    """True for an XLAShardedTensor of which devices hold different parts."""
    return isinstance(x, XLAShardedTensor) and x.sharding_type not in (None, ShardingType.REPLICATED)


def _unwrap_xla_sharded_tensor(x):
    return x.global_tensor if isinstance(x, XLAShardedTensor) else x


def _sharded_cpu_state_dict(state_dict):
    """Returns a copy that shares nothing with the state or the device: split tensors as _CpuShards, others on the CPU."""
    if isinstance(state_dict, Mapping):
        return {key: _sharded_cpu_state_dict(value) for key, value in state_dict.items()}
    if isinstance(state_dict, (list, tuple)):
        return type(state_dict)(_sharded_cpu_state_dict(value) for value in state_dict)
    value = wrap_if_sharded(state_dict)
    if _is_sharded_tensor(value):
        return _CpuShards(value.local_shards, value.shape)
    if isinstance(value, torch.Tensor):
        value = _unwrap_xla_sharded_tensor(value).detach()
        return value.cpu() if value.device.type == "xla" else value.clone()
    return copy.deepcopy(value)


def _leads_to_tensors(value):
    if isinstance(value, (Mapping, torch.Tensor, _CpuShards)):
        return True
    return isinstance(value, (list, tuple)) and any(_leads_to_tensors(each) for each in value)


def flatten_state_dict(state_dict):
    """Returns ({name: leaf}, {name: path}): names are keys joined by dots, as torch.distributed.checkpoint's; paths have the keys themselves.
    Lists count as leaves unless tensors or dicts are in them. ValueError if two leaves have one name."""
    flat, paths = {}, {}

    def visit(path, value):
        if isinstance(value, Mapping):
            for key, each in value.items():
                visit((*path, key), each)
        elif isinstance(value, (list, tuple)) and _leads_to_tensors(value):
            for index, each in enumerate(value):
                visit((*path, index), each)
        else:
            name = ".".join(map(str, path))
            if name in flat:
                raise ValueError(f"expects one entry of the state dict to be called {name}, but got two: {paths[name]} and {path}")
            flat[name], paths[name] = value, path

    visit((), state_dict)
    return flat, paths


def set_element(root_dict, path, value):
    """Puts the value at the end of a path whose containers exist; a tuple in the path is replaced."""
    if len(path) == 1:
        root_dict[path[0]] = value
        return
    inner = root_dict[path[0]]
    if isinstance(inner, tuple):
        root_dict[path[0]] = inner = list(inner)
    set_element(inner, path[1:], value)


def dedup_tensors(all_plans):
    """Returns the save plans of all processes, without what an earlier one of them writes, too."""
    seen, plans = set(), []
    for plan in all_plans:
        plans.append(dataclasses.replace(plan, items=[item for item in plan.items if item.index not in seen]))
        seen.update(item.index for item in plan.items)
    return plans


def narrow_tensor_by_index(tensor, offsets, sizes):
    """Returns the box of `sizes` at `offsets`, a view."""
    return tensor[tuple(slice(at, at + size) for at, size in zip(offsets, sizes))]
