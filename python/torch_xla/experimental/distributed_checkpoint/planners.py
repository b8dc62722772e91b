# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Planners that let torch.distributed.checkpoint write and read every distinct shard of a sharded tensor once."""
import collections
import dataclasses
import io
import math
import threading

import torch
from torch.distributed.checkpoint.default_planner import (create_default_global_load_plan, create_default_global_save_plan,
                                                          create_default_local_load_plan, create_default_local_save_plan)
from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, MetadataIndex, TensorProperties
from torch.distributed.checkpoint.planner import LoadPlanner, SavePlanner, TensorWriteData, WriteItem, WriteItemType
from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list
from torch.distributed.checkpoint.utils import find_state_dict_object

from ... import _XLAC
from ..._torch_fsdp_import import check_shards_of_ranks
from ...distributed.spmd import wrap_if_sharded
from ._helpers import (_CpuShards, _is_sharded_tensor, _unwrap_xla_sharded_tensor, dedup_tensors, flatten_state_dict, narrow_tensor_by_index,
                       set_element)
from .pickles import load_value


def _separated(state_dict):
    """(flat dict of what is split, flat dict of the rest, paths)."""
    flat, paths = flatten_state_dict(state_dict)
    flat = {name: wrap_if_sharded(value) for name, value in flat.items()}
    split = {name: value for name, value in flat.items() if _is_sharded_tensor(value) or isinstance(value, _CpuShards)}
    return split, {name: _unwrap_xla_sharded_tensor(value) for name, value in flat.items() if name not in split}, paths


def _box(indices):
    return ChunkStorageMetadata(torch.Size(part.start for part in indices), torch.Size(part.stop - part.start for part in indices))


def _parts(tensor):
    """(replica, indices) of what each device of the process holds."""
    if isinstance(tensor, _CpuShards):
        return [(shard.replica_id, shard.indices) for shard in tensor.shards]
    return _XLAC._get_local_shard_replica_and_indices([tensor.global_tensor])[0]


def _starts(indices):
    return tuple(part.start for part in indices)


def _distinct_parts(tensor, of_process=False):
    """(position among the process's devices, box) of every part that holds something, each once: of several copies that of the first device of all,
    or with `of_process` that of the first one of this process."""
    chosen, seen = [], set()
    for position, (replica, indices) in enumerate(_parts(tensor)):
        is_first = _starts(indices) not in seen if of_process else replica == 0
        if is_first and all(part.stop > part.start for part in indices):
            seen.add(_starts(indices))
            chosen.append((position, _box(indices)))
    return chosen


class SPMDSavePlanner(SavePlanner):
    """Saves state dicts of any depth whose tensors are whole, split (XLAShardedTensor, or tensors with a sharding), or _CpuShards. What is
    written does not depend on how it was split: any planner that reads chunks can load it."""

    def __init__(self):
        self.is_coordinator = False
        self.mappings = None
        self.sharded_state_dict = self.unsharded_state_dict = None
        self._lock = threading.Lock()
        self._local_shards, self._unread = {}, {}

    def set_up_planner(self, state_dict, is_coordinator=False, *, storage_meta=None):
        self.is_coordinator = is_coordinator
        self.sharded_state_dict, self.unsharded_state_dict, self.mappings = _separated(state_dict)
        self._local_shards, self._unread = {}, {}

    def create_local_plan(self):
        plan = create_default_local_save_plan(self.unsharded_state_dict, self.is_coordinator)
        items = list(plan.items)
        for name, value in self.sharded_state_dict.items():
            shards = isinstance(value, _CpuShards)
            properties = TensorProperties(dtype=value.shards[0].data.dtype if shards else value.dtype)
            shape = value.global_shape if shards else value.shape
            parts = _distinct_parts(value)
            self._unread[name] = len(parts)
            items += [WriteItem(MetadataIndex(name, box.offsets, position), WriteItemType.SHARD,
                                tensor_data=TensorWriteData(chunk=box, properties=properties, size=shape)) for position, box in parts]
        return dataclasses.replace(plan, items=items, planner_data=self.mappings)

    def create_global_plan(self, all_plans):
        check_shards_of_ranks(all_plans)
        plans, metadata = create_default_global_save_plan(dedup_tensors(all_plans), rewrite_index_hints=False)
        known = dict(collections.ChainMap(*(plan.planner_data for plan in plans)))
        return plans, dataclasses.replace(metadata, planner_data=known)

    def finish_plan(self, new_plan):
        return new_plan

    def resolve_data(self, write_item):
        return self.transform_object(write_item, self.lookup_object(write_item.index))

    def lookup_object(self, index):
        """The value of an unsplit entry, or a part on the CPU. The parts of a tensor are copied together, and forgotten after the last."""
        if index.fqn in self.unsharded_state_dict:
            return self.unsharded_state_dict[index.fqn]
        value = self.sharded_state_dict[index.fqn]
        if isinstance(value, _CpuShards):
            return value.shards[index.index].unpadded_data
        with self._lock:
            if index.fqn not in self._local_shards:
                self._local_shards[index.fqn] = value.local_shards
            shard = self._local_shards[index.fqn][index.index]
            self._unread[index.fqn] -= 1
            if self._unread[index.fqn] == 0:
                del self._local_shards[index.fqn]
        return shard.unpadded_data

    def transform_object(self, write_item, object):
        if write_item.type != WriteItemType.BYTE_IO:
            return object.detach() if isinstance(object, torch.Tensor) else object
        stream = io.BytesIO()
        torch.save(object, stream)
        return stream


class SPMDLoadPlanner(LoadPlanner):
    """Loads into a state dict whose tensors are where they shall be, whole or split: tensors change in place, other values are replaced
    in the dict. A tensor that is split changes when the last of its elements has arrived. `weights_only`: as of torch.load(), for those other values;
    NumPy's, times and paths are read, too. (What is where in the checkpoint is read before, by the storage reader: StepReader executes nothing.)"""

    def __init__(self, weights_only: bool = True):
        self.weights_only = weights_only
        self.is_coordinator = False
        self.metadata = self.original_state_dict = self.mappings = None
        self.sharded_state_dict = self.unsharded_state_dict = None
        self._lock = threading.Lock()
        self._local_shards, self._pending_elements, self._devices = {}, {}, {}

    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        self.is_coordinator, self.metadata, self.original_state_dict = is_coordinator, metadata, state_dict
        self.sharded_state_dict, self.unsharded_state_dict, self.mappings = _separated(state_dict)
        for name, value in self.sharded_state_dict.items():
            if isinstance(value, _CpuShards):
                raise TypeError(f"{name}: expects a tensor to load into, but got shards on the CPU")
        self._local_shards, self._pending_elements, self._devices = {}, {}, {}

    def create_local_plan(self):
        try:
            plan = create_default_local_load_plan(self.unsharded_state_dict, self.metadata)
        except (RuntimeError, ValueError) as error:
            if "_fsdp_shard" not in str(error):
                raise
            raise type(error)(f"{error} Shards of XlaFullyShardedDataParallel go into a model that is wrapped in the same way, in as many processes as "
                              "have saved them") from None
        items = list(plan.items)
        for name, tensor in self.sharded_state_dict.items():
            saved = self.metadata.state_dict_metadata.get(name)
            if saved is None:
                raise RuntimeError(f"expects {name} in the checkpoint, but it has only: {', '.join(sorted(self.metadata.state_dict_metadata))}")
            if saved.size != tensor.shape:
                raise ValueError(f"{name}: expects {list(tensor.shape)} in the checkpoint, but got {list(saved.size)}")
            parts = _distinct_parts(tensor, of_process=True)
            self._devices[name] = [position for position, _ in parts]
            items += create_read_items_for_chunk_list(name, saved, [box for _, box in parts])
        return dataclasses.replace(plan, items=items)

    def create_global_plan(self, global_plan):
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, central_plan):
        return central_plan

    def load_bytes(self, read_item, value):
        name = read_item.dest_index.fqn
        set_element(self.original_state_dict, self.mappings[name], load_value(name, value, self.weights_only))

    def resolve_tensor(self, read_item):
        return self.transform_tensor(read_item, self.lookup_tensor(read_item.dest_index))

    def _shard(self, index):
        return self._local_shards[index.fqn][self._devices[index.fqn][index.index]]

    def lookup_tensor(self, index):
        """The whole of an unsplit tensor, or a part, still on the CPU."""
        if index.fqn in self.unsharded_state_dict:
            return find_state_dict_object(self.unsharded_state_dict, index)
        with self._lock:
            if index.fqn not in self._local_shards:
                shards = self._local_shards[index.fqn] = self.sharded_state_dict[index.fqn].local_shards
                self._pending_elements[index.fqn] = sum(shards[position].unpadded_data.numel() for position in self._devices[index.fqn])
        return self._shard(index).unpadded_data

    def transform_tensor(self, read_item, tensor):
        """Of what lookup_tensor() gives, the box that the item is about; its place there is `dest_offsets`."""
        return narrow_tensor_by_index(tensor, read_item.dest_offsets, read_item.lengths)

    def commit_tensor(self, read_item, tensor):
        name = read_item.dest_index.fqn
        if name not in self.sharded_state_dict:
            return
        with self._lock:
            self._pending_elements[name] -= math.prod(read_item.lengths)
            if self._pending_elements[name] > 0:
                return
            shards = self._local_shards.pop(name)
        first = {_starts(shards[position].indices): shards[position] for position in self._devices[name]}
        for shard in shards:
            filled = first.get(_starts(shard.indices), shard)
            if filled is not shard:
                shard.data.copy_(filled.data)
        self.sharded_state_dict[name].load_local_shards_(shards)
