# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Planners that let torch.distributed.checkpoint write and read every distinct shard of a sharded tensor once."""
import collections
import dataclasses
import io
import math
import threading
from typing import Any

import torch
from torch.distributed.checkpoint.default_planner import (create_default_global_load_plan, create_default_global_save_plan,
                                                          create_default_local_load_plan, create_default_local_save_plan)
from torch.distributed.checkpoint.metadata import ChunkStorageMetadata, Metadata, MetadataIndex, TensorProperties
from torch.distributed.checkpoint.planner import (LoadPlan, LoadPlanner, ReadItem, SavePlan, SavePlanner, TensorWriteData, WriteItem,
                                                  WriteItemType)
from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list
from torch.distributed.checkpoint.utils import find_state_dict_object

from ... import _XLAC
from ..._torch_fsdp_import import check_shards_of_ranks
from ...distributed.spmd import wrap_if_sharded
from ._helpers import (_CpuShards, _is_sharded_tensor, _unwrap_xla_sharded_tensor, dedup_tensors, flatten_state_dict, narrow_tensor_by_index,
                       set_element)
from .pickles import load_value


def _separated(state_dict):
    """Returns (flat dict of what is split, flat dict of the rest, paths)."""
    flat, paths = flatten_state_dict(state_dict)
    flat = {name: wrap_if_sharded(value) for name, value in flat.items()}
    split = {name: value for name, value in flat.items() if _is_sharded_tensor(value) or isinstance(value, _CpuShards)}
    return split, {name: _unwrap_xla_sharded_tensor(value) for name, value in flat.items() if name not in split}, paths


def _box(indices):
    return ChunkStorageMetadata(torch.Size(part.start for part in indices), torch.Size(part.stop - part.start for part in indices))


def _parts(tensor):
    """Returns (replica, indices) of what each device of the process holds."""
    if isinstance(tensor, _CpuShards):
        return [(shard.replica_id, shard.indices) for shard in tensor.shards]
    return _XLAC._get_local_shard_replica_and_indices([tensor.global_tensor])[0]


def _starts(indices):
    return tuple(part.start for part in indices)


def _distinct_parts(tensor, of_process=False):
    """Returns (position among the process's devices, box) of every part that holds something, each once: of several copies that of the first device
    of all, or with `of_process` that of the first one of this process."""
    chosen, seen = [], set()
    for position, (replica, indices) in enumerate(_parts(tensor)):
        is_first = _starts(indices) not in seen if of_process else replica == 0
        if is_first and all(part.stop > part.start for part in indices):
            seen.add(_starts(indices))
            chosen.append((position, _box(indices)))
    return chosen


class SPMDSavePlanner(SavePlanner):
    """A planner that saves state dicts of any depth, and every distinct shard of a tensor once.

    Tensors are unsharded, sharded (XLAShardedTensor, or tensors with a sharding), or shards on the CPU. The files do not depend on how a tensor
    was sharded: any planner that reads chunks can load them. The storage writer may call resolve_data() from several threads."""

    def __init__(self):
        self.is_coordinator = False
        self.sharded_state_dict: Any = None  # these three belong to set_up_planner()
        self.unsharded_state_dict: Any = None
        self.mappings: Any = None
        self._lock = threading.Lock()
        self._local_shards: dict[str, Any] = {}
        self._unread: dict[str, int] = {}

    def set_up_planner(self, state_dict: dict[str, Any], is_coordinator: bool = False, *, storage_meta: Any = None) -> None:
        """Takes the state dict of this process, before a plan is made.

        Args:
          state_dict: The values to save, in dicts and lists of any depth.
          is_coordinator: Whether this process makes the global plan.
          storage_meta: Has no effect.
        """
        self.is_coordinator = is_coordinator
        self.sharded_state_dict, self.unsharded_state_dict, self.mappings = _separated(state_dict)
        self._local_shards, self._unread = {}, {}

    def create_local_plan(self) -> SavePlan:
        """Returns the plan of this process: its unsharded values, and of each sharded tensor the shards whose first copy it holds."""
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

    def create_global_plan(self, all_plans: list[SavePlan]) -> tuple[list[SavePlan], Metadata]:
        """Returns the plans without duplicates, and the metadata of the checkpoint; the coordinator calls it.

        Args:
          all_plans: The plan of each process.

        Raises:
          ValueError: A shard of XlaFullyShardedDataParallel has one name in two plans, or the plans contradict each other.
        """
        check_shards_of_ranks(all_plans)
        plans, metadata = create_default_global_save_plan(dedup_tensors(all_plans), rewrite_index_hints=False)
        known = dict(collections.ChainMap(*(plan.planner_data for plan in plans)))
        return plans, dataclasses.replace(metadata, planner_data=known)

    def finish_plan(self, new_plan: SavePlan) -> SavePlan:
        """Returns the plan of this process unchanged.

        Args:
          new_plan: The plan of this process after create_global_plan().
        """
        return new_plan

    def resolve_data(self, write_item: WriteItem) -> torch.Tensor | io.BytesIO:
        """Returns what is written for an item: a tensor, or the bytes that torch.save() makes of another value.

        Args:
          write_item: An item of the plan of this process. Each item may be read once.
        """
        return self.transform_object(write_item, self.lookup_object(write_item.index))

    def lookup_object(self, index: MetadataIndex) -> Any:
        """Returns the value of an unsharded entry, or a shard on the CPU without its padding.

        All shards of a tensor are copied from the device together, by the first call for one of them, and released by the last one. Calls from
        several threads are safe.

        Args:
          index: The name of the entry, and for a shard its number among the devices of the process.

        Raises:
          KeyError: The state dict has no such entry.
        """
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

    def transform_object(self, write_item: WriteItem, object: Any) -> Any:
        """Returns the form of a value that is written.

        Args:
          write_item: The item of the plan; its type says whether bytes are written.
          object: The value, as lookup_object() returned it.

        Returns:
          A tensor without its gradient, or for an item of bytes an io.BytesIO that torch.save() has written to.
        """
        if write_item.type != WriteItemType.BYTE_IO:
            return object.detach() if isinstance(object, torch.Tensor) else object
        stream = io.BytesIO()
        torch.save(object, stream)
        return stream


class SPMDLoadPlanner(LoadPlanner):
    """A planner that loads into a state dict whose tensors are where they shall be, unsharded or sharded.

    Tensors change in place, and other values are replaced in the dict. A sharded tensor changes when the last of its elements has arrived. The
    storage reader reads the metadata of the checkpoint before; StepReader executes nothing of it. The reader may call
    resolve_tensor() and commit_tensor() from several threads.

    Args:
      weights_only: As in torch.load(), for values that are no tensors: only known types are restored, among them those of NumPy, times and
        paths.
    """

    def __init__(self, weights_only: bool = True):
        self.weights_only = weights_only
        self.is_coordinator = False
        self.metadata: Any = None  # these five belong to set_up_planner()
        self.original_state_dict: Any = None
        self.sharded_state_dict: Any = None
        self.unsharded_state_dict: Any = None
        self.mappings: Any = None
        self._lock = threading.Lock()
        self._local_shards: dict[str, Any] = {}
        self._pending_elements: dict[str, int] = {}
        self._devices: dict[str, list[int]] = {}

    def set_up_planner(self, state_dict: dict[str, Any], metadata: Metadata | None = None, is_coordinator: bool = False) -> None:
        """Takes the state dict of this process, before a plan is made.

        Args:
          state_dict: The values to load into, in dicts and lists of any depth.
          metadata: What the checkpoint has.
          is_coordinator: Whether this process makes the global plan.

        Raises:
          TypeError: An entry is shards on the CPU, and no tensor.
        """
        self.is_coordinator, self.metadata, self.original_state_dict = is_coordinator, metadata, state_dict
        self.sharded_state_dict, self.unsharded_state_dict, self.mappings = _separated(state_dict)
        for name, value in self.sharded_state_dict.items():
            if isinstance(value, _CpuShards):
                raise TypeError(f"{name}: expects a tensor to load into, but got shards on the CPU")
        self._local_shards, self._pending_elements, self._devices = {}, {}, {}

    def create_local_plan(self) -> LoadPlan:
        """Returns the plan of this process: its unsharded values, and the shards that its devices hold, each once.

        Raises:
          RuntimeError: The checkpoint lacks an entry.
          ValueError: An entry has another shape in the checkpoint.
        """
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

    def create_global_plan(self, global_plan: list[LoadPlan]) -> list[LoadPlan]:
        """Returns the plans unchanged, as PyTorch's default does.

        Args:
          global_plan: The plan of each process.
        """
        return create_default_global_load_plan(global_plan)

    def finish_plan(self, central_plan: LoadPlan) -> LoadPlan:
        """Returns the plan of this process unchanged.

        Args:
          central_plan: The plan of this process after create_global_plan().
        """
        return central_plan

    def load_bytes(self, read_item: ReadItem, value: io.BytesIO) -> None:
        """Puts a value that is no tensor into the state dict.

        Args:
          read_item: The item of the plan, whose dest_index names the entry.
          value: The bytes that torch.save() wrote.

        Raises:
          pickle.UnpicklingError: the bytes contain a type that weights_only=True does not restore.
        """
        name = read_item.dest_index.fqn
        set_element(self.original_state_dict, self.mappings[name], load_value(name, value, self.weights_only))

    def resolve_tensor(self, read_item: ReadItem) -> torch.Tensor:
        """Returns the memory on the CPU that the elements of an item are read into; commit_tensor() must follow.

        Args:
          read_item: An item of the plan of this process.
        """
        return self.transform_tensor(read_item, self.lookup_tensor(read_item.dest_index))

    def _shard(self, index):
        return self._local_shards[index.fqn][self._devices[index.fqn][index.index]]

    def lookup_tensor(self, index: MetadataIndex) -> torch.Tensor:
        """Returns an unsharded tensor, or the copy on the CPU of a shard without its padding. Calls from several threads are safe.

        Args:
          index: The name of the entry, and for a shard its number in the plan of this process.
        """
        if index.fqn in self.unsharded_state_dict:
            return find_state_dict_object(self.unsharded_state_dict, index)
        with self._lock:
            if index.fqn not in self._local_shards:
                shards = self._local_shards[index.fqn] = self.sharded_state_dict[index.fqn].local_shards
                self._pending_elements[index.fqn] = sum(shards[position].unpadded_data.numel() for position in self._devices[index.fqn])
        return self._shard(index).unpadded_data

    def transform_tensor(self, read_item: ReadItem, tensor: torch.Tensor) -> torch.Tensor:
        """Returns an alias of the elements of a tensor that an item is about.

        Args:
          read_item: The item; its fields dest_offsets and lengths are the first index and the size per dimension.
          tensor: What lookup_tensor() returned.
        """
        return narrow_tensor_by_index(tensor, read_item.dest_offsets, read_item.lengths)

    def commit_tensor(self, read_item: ReadItem, tensor: torch.Tensor) -> None:
        """Counts the elements of an item as read; after the last item of a sharded tensor, its shards are copied to the devices.

        Devices that hold copies of one shard get the values of the first of them. Calls from several threads are safe.

        Args:
          read_item: The item whose elements have been read.
          tensor: What resolve_tensor() returned; its elements are taken from there.
        """
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
