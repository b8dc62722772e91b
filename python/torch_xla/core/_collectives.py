# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of xm among the replicas of the world, one per process. In a world of one each is what its definition says for a group of one.
Under SPMD, with `groups` of devices, they exchange the parts that xs.enable_manual_sharding() gives.

They run in the order in which they are called, at the next step barrier or when a value is read. All processes of a group have to call the same
ones in the same order."""
import weakref

import torch

from .. import _replicas, _world
from . import _collective_programs

# Objects whose `reduced_parameters()` get their gradients from the backward pass reduced already: xm.reduce_gradients() leaves these alone.
reducing_in_backward = weakref.WeakSet()
REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN, REDUCE_MAX = "sum", "mul", "and", "or", "min", "max"
_KINDS = (REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN, REDUCE_MAX)


def check_groups(groups):
    """ValueError unless `groups` are everybody, or groups of the world's replicas that name each once, this one among them."""
    if not groups:
        return
    world, named = _world.size(), [rank for group in groups for rank in group]
    if any(not 0 <= rank < world for rank in named):
        raise ValueError(f"groups {groups} name replicas that are not there: the world has {'one' if world == 1 else world}")
    if len(set(named)) != len(named) or _world.rank() not in named:
        raise ValueError(f"groups {groups} have to name each replica once, {_world.rank()} (this one) among them")


def is_alone():
    """Whether this process is the only replica, and nobody asks to see collectives of one."""
    return _world.size() == 1 and not _collective_programs.wanted()


def _check_kind(reduce_type):
    if reduce_type not in _KINDS:
        raise ValueError(f"expects a reduction of {', '.join(_KINDS)}, but got {reduce_type!r}")


def _check_count(name, count, groups=None):
    there = _collective_programs.count(groups)
    if count != there:
        raise ValueError(f"{name} is {count}, but " + (f"groups have {there} devices each" if groups else
                                                       f"the world has {'one replica' if there == 1 else f'{there} replicas'}"))


def _check_even(groups):
    if groups and len({len(group) for group in groups}) != 1:
        raise ValueError(f"expects groups of one size, but got {groups}")


def _into(output, result):
    if output is None:
        return result
    return (output if output.shape == result.shape else output.resize_(result.shape)).copy_(result)


def all_reduce(reduce_type, inputs, scale=1.0, groups=None, pin_layout=True):
    """The reduction of every replica's tensor, times `scale`. A single tensor gives a new one, a list is changed in place.

    `reduce_type`: xm.REDUCE_SUM and so on. `groups`: [[0, 1], [2, 3]], reductions among these. `pin_layout`: no effect."""
    _check_kind(reduce_type)
    if _collective_programs.of_devices(groups):
        if isinstance(inputs, torch.Tensor):
            made = _collective_programs.all_reduce(reduce_type, inputs, groups)
            return made * scale if scale != 1.0 else made
        for tensor in inputs:
            tensor.copy_(all_reduce(reduce_type, tensor, scale, groups))
        return inputs
    check_groups(groups)
    if isinstance(inputs, torch.Tensor):
        made = inputs if is_alone() else _collective_programs.all_reduce(reduce_type, inputs, groups)
        return made * scale if scale != 1.0 else made.clone()
    if not is_alone() and inputs:
        for tensor, made in zip(inputs, _collective_programs.all_reduce_together(reduce_type, list(inputs), groups)):
            tensor.copy_(made)
    if scale != 1.0:
        for tensor in inputs:
            tensor.copy_(tensor * scale)  # integers are cut
    return inputs


def all_gather(value, dim=0, groups=None, output=None, pin_layout=True, channel_id=None, use_global_device_ids=None):
    """The tensors of all replicas along `dim` (numbers: as a vector); into `output` if given. Lists: one by one."""
    is_of_devices = _collective_programs.of_devices(groups)
    if not is_of_devices:
        check_groups(groups)
    if not isinstance(value, torch.Tensor):
        outputs = output or [None] * len(value)
        return [all_gather(one, dim, groups, out) for one, out in zip(value, outputs)]
    if not -max(value.dim(), 1) <= dim < max(value.dim(), 1):
        raise IndexError(f"Dimension out of range (expected to be in range of [{-max(value.dim(), 1)}, {max(value.dim(), 1) - 1}], "
                         f"but got {dim})")
    value = value if value.dim() else value.reshape(1)
    if value.numel() and (is_of_devices or not is_alone()):
        _check_even(groups)
        return _into(output, _collective_programs.all_gather(value, dim, groups))
    if value.numel() == 0:  # StableHLO has no all_gather of nothing
        return _into(output, torch.cat([value] * _collective_programs.count(groups), dim))
    return _into(output, value.clone())


def _bucketized(collective, tensors, output, bucket_cap_mb):
    """The results of `collective`(tensors, outputs) for a list, so many MB at a time."""
    made = [None] * len(tensors)

    def run(bucket, outputs, indices):
        for index, result in zip(indices, collective(bucket, outputs)):
            made[index] = result

    buckets = CoalescingBuckets(run, tensors, output, bucket_cap_mb)
    for index, tensor in enumerate(tensors):
        buckets.add(tensor, index)
    buckets.flush()
    return made


def all_gather_bucketized(input_list, dim=0, groups=None, output=None, pin_layout=False, bucket_cap_mb=160):
    """all_gather() of a list, so many MB at a time."""
    return _bucketized(lambda tensors, outputs: all_gather(tensors, dim, groups, outputs), input_list, output, bucket_cap_mb)


def reduce_scatter(reduce_type, input, scale, scatter_dim, shard_count, groups=None, output=None, pin_layout=True, channel_id=None,
                   use_global_device_ids=None):
    """The reduction of every replica's tensor, times `scale`, of which each gets its part along `scatter_dim`."""
    is_of_devices = _collective_programs.of_devices(groups)
    if not is_of_devices:
        check_groups(groups)
    _check_even(groups)
    _check_count("shard_count", shard_count, groups)
    if not isinstance(input, torch.Tensor):
        outputs = output or [None] * len(input)
        return [reduce_scatter(reduce_type, one, scale, scatter_dim, shard_count, groups, out) for one, out in zip(input, outputs)]
    if is_of_devices or not is_alone():
        _check_kind(reduce_type)
        made = _collective_programs.reduce_scatter(reduce_type, input, scatter_dim, groups)
        return _into(output, made * scale if scale != 1.0 else made)
    return _into(output, all_reduce(reduce_type, input, scale, groups))


def reduce_scatter_bucketized(reduce_type, input_list, scale, scatter_dim, shard_count, groups=None, output=None, pin_layout=False,
                              bucket_cap_mb=160):
    """reduce_scatter() of a list, so many MB at a time."""
    return _bucketized(lambda tensors, outputs: reduce_scatter(reduce_type, tensors, scale, scatter_dim, shard_count, groups, outputs),
                       input_list, output, bucket_cap_mb)


def all_reduce_bucketized_gradients(gradients, scale, groups, pin_layout, bucket_cap_mb=0):
    """all_reduce() of gradients in place, so many MB at a time (0: all at once)."""
    if not bucket_cap_mb:
        return all_reduce(REDUCE_SUM, gradients, scale, groups, pin_layout)
    buckets = CoalescingBuckets(lambda tensors, outputs, indices: all_reduce(REDUCE_SUM, tensors, scale, groups, pin_layout),
                                gradients, bucket_cap_mb=bucket_cap_mb)
    for index, gradient in enumerate(gradients):
        buckets.add(gradient, index)
    buckets.flush()
    return gradients


class CoalescingBuckets:
    """Collects tensors until they have `bucket_cap_mb` MB, then calls func(tensors, their outputs or None, their indices)."""

    def __init__(self, func, input_list, output_list=None, bucket_cap_mb=160):
        if not isinstance(input_list, (list, tuple)):
            raise TypeError(f"expects a list of tensors, but got {type(input_list).__name__}")
        if output_list is not None and len(output_list) != len(input_list):
            raise ValueError(f"expects as many outputs as inputs, {len(input_list)}, but got {len(output_list)}")
        self._func, self._outputs, self._limit = func, output_list, bucket_cap_mb * 1024 * 1024
        self._tensors, self._indices, self._size = [], [], 0

    def add(self, tensor, idx):
        """Adds input number `idx`."""
        size = tensor.numel() * tensor.element_size()
        if self._tensors and self._size + size > self._limit:
            self.flush()
        self._tensors.append(tensor)
        self._indices.append(idx)
        self._size += size

    def flush(self):
        """Calls func for what was collected."""
        if self._tensors:
            outputs = [self._outputs[index] for index in self._indices] if self._outputs is not None else None
            self._func(self._tensors, outputs, self._indices)
        self._tensors, self._indices, self._size = [], [], 0


def all_to_all(value, split_dimension, concat_dimension, split_count, groups=None, pin_layout=True):
    """Cuts the tensor along `split_dimension`, gives one piece to each replica, and joins what came along `concat_dimension`."""
    if _collective_programs.of_devices(groups):
        _check_count("split_count", split_count, groups)
        return _collective_programs.all_to_all(value, split_dimension, concat_dimension, groups)
    check_groups(groups)
    _check_even(groups)
    _check_count("split_count", split_count, groups)
    return value.clone() if is_alone() else _collective_programs.all_to_all(value, split_dimension, concat_dimension, groups)


def collective_permute(value, pairs):
    """Every replica's tensor goes from source to target of `pairs`; who is no target gets zeros."""
    if _world.size() > 1:
        if any(not 0 <= end < _world.size() for pair in pairs for end in pair):
            raise ValueError(f"pairs {pairs} name replicas that are not there: the world has {_world.size()}")
        return _collective_programs.collective_permute(value, pairs) if pairs else torch.zeros_like(value)
    if any(list(pair) != [0, 0] for pair in pairs):
        from .. import runtime as xr
        count = xr.global_runtime_device_count() if xr.is_spmd() else 0
        if all(0 <= end < count for pair in pairs for end in pair):
            return _collective_programs.collective_permute(value, pairs)
        raise ValueError(f"pairs {pairs} name replicas that are not there: the world has one")
    return value.clone() if pairs else torch.zeros_like(value)


def collective_broadcast(tensors, root_ordinal=0, groups=None, pin_layout=True):
    """Overwrites the tensors of all replicas with those of `root_ordinal`. With `groups` only those of its group."""
    check_groups(groups)
    world = _world.size()
    if not 0 <= root_ordinal < world:
        raise ValueError(f"root_ordinal is {root_ordinal}, but the world has {'one replica' if world == 1 else f'{world} replicas'}")
    if world > 1 and _world.rank() in next((group for group in groups or [range(world)] if root_ordinal in group), ()):
        for tensor in tensors:
            tensor.data.copy_(_collective_programs.collective_broadcast(tensor.detach(), root_ordinal, groups))


def _check_pair(what):
    if _world.size() == 1:
        raise NotImplementedError(f"xm.{what}: the world has one replica, nobody {'receives' if what == 'send' else 'sends'}")
    if _replicas.current():
        raise NotImplementedError(f"xm.{what}: replicas that are threads of one process have no channels; use xm.collective_permute")
    if _world.size() > 2:
        raise NotImplementedError(f"xm.{what}: the world has {_world.size()} replicas, and a channel does not say which one; use "
                                  "torch.distributed's send and recv, or xm.collective_permute")
    return 1 - _world.rank()


def send(value, channel_id):
    """Sends a tensor to the other one of two replicas, which calls recv() with the same channel; returns it."""
    return _collective_programs.send(value, channel_id, _check_pair("send"))


def recv(output, channel_id):
    """Overwrites the tensor with what the other one of two replicas sends over the channel; returns it."""
    return output.copy_(_collective_programs.recv(output, channel_id, _check_pair("recv")))
