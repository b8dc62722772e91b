# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of xm among the replicas of the world, one per process. In a world of one each is what its definition says for a group of one.
Under SPMD, with `groups` of devices, they exchange the parts that xs.enable_manual_sharding() gives.

They run in the order in which they are called, at the next step barrier or when a value is read. All processes of a group have to call the same
ones in the same order."""
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from .. import _replicas, _world
from . import _collective_programs

# The backward pass already reduces the gradients of these objects' `reduced_parameters()`, so that xm.reduce_gradients() skips them.
reducing_in_backward: weakref.WeakSet[Any] = weakref.WeakSet()
Groups = Sequence[Sequence[int]] | None  # groups of replicas by their ranks
REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN, REDUCE_MAX = "sum", "mul", "and", "or", "min", "max"
_KINDS = (REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN, REDUCE_MAX)


def check_groups(groups: Groups) -> None:
    """Checks groups of replicas; None and no group stand for all replicas.

    Raises:
      ValueError: The groups do not name each of their replicas once, this one among them, or name one that does not exist.
    """
    if not groups:
        return
    world, named = _world.size(), [rank for group in groups for rank in group]
    if any(not 0 <= rank < world for rank in named):
        raise ValueError(f"groups {groups} name replicas that do not exist: the world has {'one' if world == 1 else world}")
    if len(set(named)) != len(named) or _world.rank() not in named:
        raise ValueError(f"groups {groups} have to name each replica once, {_world.rank()} (this one) among them")


def is_alone() -> bool:
    """Returns whether this process is the only replica, and XLA_ALWAYS_ALLREDUCE does not ask for collectives of one."""
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


def all_reduce(reduce_type: str, inputs: Any, scale: float = 1.0, groups: Groups = None, pin_layout: bool = True) -> Any:
    """Reduces tensors over all replicas and multiplies the results by `scale`.

    Args:
      reduce_type: xm.REDUCE_SUM, REDUCE_MUL, REDUCE_AND, REDUCE_OR, REDUCE_MIN or REDUCE_MAX.
      inputs: A tensor, or a list of tensors.
      scale: Integer results are truncated.
      groups: Groups of replicas that reduce among themselves, such as [[0, 1], [2, 3]].
      pin_layout: Has no effect.

    Returns:
      A new tensor; for a list the list itself, whose tensors are overwritten.

    Raises:
      ValueError: There is no such reduction, or see check_groups().
    """
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
            tensor.copy_(tensor * scale)  # integers are truncated
    return inputs


def all_gather(value: Any, dim: int = 0, groups: Groups = None, output: Any = None, pin_layout: bool = True, channel_id: int | None = None,
               use_global_device_ids: bool | None = None) -> Any:
    """Concatenates the tensors of all replicas.

    Args:
      value: A tensor, or a list of tensors, which are gathered one by one. Scalars become vectors.
      dim: The dimension along which they are concatenated.
      groups: Groups of replicas of one size, which gather among themselves.
      output: A tensor, or a list of tensors, that is overwritten with the result.
      pin_layout: Has no effect.
      channel_id: Has no effect.
      use_global_device_ids: Has no effect.

    Returns:
      The result, or a list of results.

    Raises:
      IndexError: The tensor has no such dimension.
      ValueError: Groups differ in size, or see check_groups().
    """
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
    if value.numel() == 0:  # StableHLO has no all_gather of empty tensors
        return _into(output, torch.cat([value] * _collective_programs.count(groups), dim))
    return _into(output, value.clone())


def _bucketized(collective, tensors, output, bucket_cap_mb):
    """Returns the results of `collective`(tensors, outputs) for a list, so many MB at a time."""
    made = [None] * len(tensors)

    def run(bucket, outputs, indices):
        for index, result in zip(indices, collective(bucket, outputs)):
            made[index] = result

    buckets = CoalescingBuckets(run, tensors, output, bucket_cap_mb)
    for index, tensor in enumerate(tensors):
        buckets.add(tensor, index)
    buckets.flush()
    return made


def all_gather_bucketized(input_list: Sequence[torch.Tensor], dim: int = 0, groups: Groups = None, output: Sequence[torch.Tensor] | None = None,
                          pin_layout: bool = False, bucket_cap_mb: float = 160) -> list[torch.Tensor]:
    """Executes all_gather() on a list of tensors, a limited number of bytes at a time.

    Args:
      input_list: The tensors.
      dim: The dimension along which they are concatenated.
      groups: Groups of replicas of one size, which gather among themselves.
      output: Tensors that are overwritten with the results; None: new ones.
      pin_layout: Has no effect.
      bucket_cap_mb: The limit, in MiB of input; a larger tensor is gathered alone.

    Returns:
      The results.

    Raises:
      IndexError: A tensor has no such dimension.
      ValueError: Groups differ in size, there are not as many outputs as inputs, or see check_groups().
    """
    return _bucketized(lambda tensors, outputs: all_gather(tensors, dim, groups, outputs), input_list, output, bucket_cap_mb)


def reduce_scatter(reduce_type: str, input: Any, scale: float, scatter_dim: int, shard_count: int, groups: Groups = None, output: Any = None,
                   pin_layout: bool = True, channel_id: int | None = None, use_global_device_ids: bool | None = None) -> Any:
    """Reduces tensors over all replicas and gives each replica its shard of the result.

    Args:
      reduce_type: See all_reduce().
      input: A tensor, or a list of tensors, which are reduced one by one.
      scale: The results are multiplied by it.
      scatter_dim: The dimension along which the result is sharded.
      shard_count: The number of replicas of a group.
      groups: Groups of replicas of one size, which reduce among themselves.
      output: A tensor, or a list of tensors, that is overwritten with the result.
      pin_layout: Has no effect.
      channel_id: Has no effect.
      use_global_device_ids: Has no effect.

    Returns:
      The shard, or a list of shards.

    Raises:
      ValueError: shard_count is another number, groups differ in size, there is no such reduction, or see check_groups().
    """
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


def reduce_scatter_bucketized(reduce_type: str, input_list: Sequence[torch.Tensor], scale: float, scatter_dim: int, shard_count: int,
                              groups: Groups = None, output: Sequence[torch.Tensor] | None = None, pin_layout: bool = False,
                              bucket_cap_mb: float = 160) -> list[torch.Tensor]:
    """Executes reduce_scatter() on a list of tensors, a limited number of bytes at a time.

    Args:
      reduce_type: See all_reduce().
      input_list: The tensors.
      scale: The results are multiplied by it.
      scatter_dim: The dimension along which the results are sharded.
      shard_count: The number of replicas of a group.
      groups: Groups of replicas of one size, which reduce among themselves.
      output: Tensors that are overwritten with the results; None: new ones.
      pin_layout: Has no effect.
      bucket_cap_mb: The limit, in MiB of input; a larger tensor is reduced alone.

    Returns:
      The shards.

    Raises:
      ValueError: There are not as many outputs as inputs, or see reduce_scatter().
    """
    return _bucketized(lambda tensors, outputs: reduce_scatter(reduce_type, tensors, scale, scatter_dim, shard_count, groups, outputs),
                       input_list, output, bucket_cap_mb)


def all_reduce_bucketized_gradients(gradients: Sequence[torch.Tensor], scale: float, groups: Groups, pin_layout: bool,
                                    bucket_cap_mb: float = 0) -> Sequence[torch.Tensor]:
    """Sums gradients over all replicas in place, a limited number of bytes at a time.

    Args:
      gradients: The gradients.
      scale: The sums are multiplied by it.
      groups: Groups of replicas that reduce among themselves; None: all.
      pin_layout: Has no effect.
      bucket_cap_mb: The limit, in MiB; a larger gradient is reduced alone. 0: all at once.

    Returns:
      `gradients`.

    Raises:
      ValueError: See check_groups().
    """
    if not bucket_cap_mb:
        return all_reduce(REDUCE_SUM, gradients, scale, groups, pin_layout)
    buckets = CoalescingBuckets(lambda tensors, outputs, indices: all_reduce(REDUCE_SUM, tensors, scale, groups, pin_layout),
                                gradients, bucket_cap_mb=bucket_cap_mb)
    for index, gradient in enumerate(gradients):
        buckets.add(gradient, index)
    buckets.flush()
    return gradients


class CoalescingBuckets:
    """Collects tensors up to a size, and then calls a function for them.

    Args:
      func: The function: func(tensors, outputs or None, indices).
      input_list: All tensors.
      output_list: A tensor for each, passed to the function; None: none.
      bucket_cap_mb: The size, in MiB.

    Raises:
      TypeError: input_list is no list.
      ValueError: There are not as many outputs as inputs.
    """

    def __init__(self, func: Callable[..., Any], input_list: Sequence[torch.Tensor], output_list: Sequence[torch.Tensor] | None = None,
                 bucket_cap_mb: float = 160) -> None:
        if not isinstance(input_list, (list, tuple)):
            raise TypeError(f"expects a list of tensors, but got {type(input_list).__name__}")
        if output_list is not None and len(output_list) != len(input_list):
            raise ValueError(f"expects as many outputs as inputs, {len(input_list)}, but got {len(output_list)}")
        self._func, self._outputs, self._limit = func, output_list, bucket_cap_mb * 1024 * 1024
        self._tensors: list[torch.Tensor] = []
        self._indices: list[int] = []
        self._size = 0

    def add(self, tensor: torch.Tensor, idx: int) -> None:
        """Adds a tensor; calls the function for the tensors before it if it would exceed the size.

        Args:
          tensor: The tensor.
          idx: Its index in the list of all tensors.
        """
        size = tensor.numel() * tensor.element_size()
        if self._tensors and self._size + size > self._limit:
            self.flush()
        self._tensors.append(tensor)
        self._indices.append(idx)
        self._size += size

    def flush(self) -> None:
        """Calls the function for the tensors that were added since its last call."""
        if self._tensors:
            outputs = None if self._outputs is None else [self._outputs[index] for index in self._indices]
            self._func(self._tensors, outputs, self._indices)
        self._tensors, self._indices, self._size = [], [], 0


def all_to_all(value: torch.Tensor, split_dimension: int, concat_dimension: int, split_count: int, groups: Groups = None,
               pin_layout: bool = True) -> torch.Tensor:
    """Splits the tensor, gives one part to each replica, and concatenates what this one receives.

    Args:
      value: A tensor.
      split_dimension: The dimension along which it is split.
      concat_dimension: The dimension along which the parts are concatenated.
      split_count: The number of replicas of a group.
      groups: Groups of replicas of one size, which exchange among themselves.
      pin_layout: Has no effect.

    Raises:
      ValueError: split_count is another number, groups differ in size, or see check_groups().
    """
    if _collective_programs.of_devices(groups):
        _check_count("split_count", split_count, groups)
        return _collective_programs.all_to_all(value, split_dimension, concat_dimension, groups)
    check_groups(groups)
    _check_even(groups)
    _check_count("split_count", split_count, groups)
    return value.clone() if is_alone() else _collective_programs.all_to_all(value, split_dimension, concat_dimension, groups)


def collective_permute(value: torch.Tensor, pairs: Sequence[Sequence[int]]) -> torch.Tensor:
    """Sends the tensor of each source to its target.

    Args:
      value: A tensor.
      pairs: (source, target) of replicas.

    Returns:
      The tensor that this replica receives; zeros if it is no target.

    Raises:
      ValueError: A replica does not exist.
    """
    if _world.size() > 1:
        if any(not 0 <= end < _world.size() for pair in pairs for end in pair):
            raise ValueError(f"pairs {pairs} name replicas that do not exist: the world has {_world.size()}")
        return _collective_programs.collective_permute(value, pairs) if pairs else torch.zeros_like(value)
    if any(list(pair) != [0, 0] for pair in pairs):
        from .. import runtime as xr
        count = xr.global_runtime_device_count() if xr.is_spmd() else 0
        if all(0 <= end < count for pair in pairs for end in pair):
            return _collective_programs.collective_permute(value, pairs)
        raise ValueError(f"pairs {pairs} name replicas that do not exist: the world has one")
    return value.clone() if pairs else torch.zeros_like(value)


def collective_broadcast(tensors: Iterable[torch.Tensor], root_ordinal: int = 0, groups: Groups = None, pin_layout: bool = True) -> None:
    """Overwrites the tensors of all replicas with those of one.

    Args:
      tensors: The tensors.
      root_ordinal: The replica that has the values.
      groups: Groups of replicas; only those of root_ordinal's group take part.
      pin_layout: Has no effect.

    Raises:
      ValueError: There is no such replica, or see check_groups().
    """
    check_groups(groups)
    world = _world.size()
    if not 0 <= root_ordinal < world:
        raise ValueError(f"root_ordinal is {root_ordinal}, but the world has {'one replica' if world == 1 else f'{world} replicas'}")
    if world > 1 and _world.rank() in next((group for group in groups or [range(world)] if root_ordinal in group), ()):
        for tensor in tensors:
            tensor.data.copy_(_collective_programs.collective_broadcast(tensor.detach(), root_ordinal, groups))


def _check_pair(what):
    if _world.size() == 1:
        raise NotImplementedError(f"xm.{what}: the world has one replica, so no other replica {'receives' if what == 'send' else 'sends'}")
    if _replicas.current():
        raise NotImplementedError(f"xm.{what}: replicas that are threads of one process have no channels; use xm.collective_permute")
    if _world.size() > 2:
        raise NotImplementedError(f"xm.{what}: the world has {_world.size()} replicas, and a channel does not say which one; use "
                                  "torch.distributed's send and recv, or xm.collective_permute")
    return 1 - _world.rank()


def send(value: torch.Tensor, channel_id: int) -> torch.Tensor:
    """Sends a tensor to the other one of two replicas, which calls recv() with the same channel.

    Args:
      value: The tensor.
      channel_id: The number of the channel.

    Returns:
      The tensor.

    Raises:
      NotImplementedError: The world does not have two replicas, or they are threads of one process.
    """
    return _collective_programs.send(value, channel_id, _check_pair("send"))


def recv(output: torch.Tensor, channel_id: int) -> torch.Tensor:
    """Overwrites a tensor with what the other one of two replicas sends over the channel.

    Args:
      output: The tensor, of the sizes and type of what is sent.
      channel_id: The number of the channel.

    Returns:
      The tensor.

    Raises:
      NotImplementedError: See send().
    """
    return output.copy_(_collective_programs.recv(output, channel_id, _check_pair("recv")))
