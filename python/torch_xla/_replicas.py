# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads of one process as replicas, for torch_xla.distributed.data_parallel.

All of them record into the one program of the process, which runs on all processors: what a collective exchanges is ordinary arithmetic on the
tensors that the threads have recorded, and is compiled with the rest. So that equal steps record equal programs, one thread runs at a time; it
goes on until it meets the others (a collective, a step barrier) or asks for its next batch, and then it is the next one's turn."""
import threading
from collections.abc import Callable, Sequence
from typing import Any

import torch

from . import _load

_local = threading.local()
_COMBINE = {"sum": torch.add, "mul": torch.mul, "and": torch.bitwise_and, "or": torch.bitwise_or, "min": torch.minimum, "max": torch.maximum}


def current() -> "tuple[Replicas, int] | None":
    """Returns the replicas that this thread is one of, and which one."""
    return getattr(_local, "place", None)


class ReplicaError(RuntimeError):
    """What ends a replica because of another one."""


class Meeting:
    """What the replicas bring to a meeting, None for those that have ended, and the reductions of it that one of them has recorded, by group."""

    def __init__(self, brought: list[Any]):
        self.brought = brought
        self.reduced: dict[tuple[int, ...], list[torch.Tensor]] = {}


class Replicas:
    """Replicas that work together, from run() on. Methods but run() are for their threads."""

    def __init__(self, devices: Sequence[torch.device]):
        self.devices = list(devices)
        self._changed = threading.Condition()
        # Per replica, guarded by _changed: the call in which it waits for the others and its tensors; None while it may run.
        self._brought: list[tuple[str, Any] | None] = [None] * len(self.devices)
        self._ended = [False] * len(self.devices)
        self._met = Meeting([])  # the last meeting
        self._turn = 0
        self._error: tuple[int, BaseException] | None = None

    def run(self, functions: Sequence[Callable[[], Any]]) -> list[Any]:
        """Calls each function on a thread of its own; their results. The first exception of one ends the others, and is raised."""
        results: list[Any] = [None] * len(functions)

        def work(index: int) -> None:
            _local.place = (self, index)
            try:
                self._await_turn(index)
                results[index] = functions[index]()
            except BaseException as error:
                with self._changed:
                    if self._error is None or isinstance(self._error[1], ReplicaError):
                        self._error = (index, error)
            finally:
                with self._changed:
                    self._ended[index] = True
                    self._pass_on(index)
                _local.place = None

        threads = [threading.Thread(target=work, args=(index,), name=f"replica {index}", daemon=True) for index in range(len(functions))]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException as error:  # after Ctrl-C the replicas end at their next rendezvous
            with self._changed:
                self._error = self._error or (0, error)
                self._changed.notify_all()
            raise
        if self._error:
            raise self._error[1]
        return results

    def meet(self, index: int, what: str, value: Any = None) -> Meeting:
        """Waits for all replicas, each of which has to call it with the same `what`, and returns what they contribute.

        A step barrier (what="") does without replicas that have ended. RuntimeError names a replica that calls something else, or has ended."""
        with self._changed:
            self._brought[index] = (what, value)
            self._pass_on(index)
        self._await_turn(index)
        return self._met

    def give_way(self, index: int) -> None:
        """Lets the others run until it is this one's turn again."""
        with self._changed:
            self._pass_on(index)
        self._await_turn(index)

    def _await_turn(self, index: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._error or (self._turn == index and self._brought[index] is None))
            if self._error:
                other, error = self._error
                raise ReplicaError(f"replica {index} ends because of replica {other}: {type(error).__name__}: {error}")

    def _pass_on(self, index: int) -> None:
        """Whose turn it is next. With the lock."""
        count = len(self._ended)
        if all(brought or ended for brought, ended in zip(self._brought, self._ended)):
            if all(self._ended):
                return
            self._end_meeting()
            index = count - 1  # replica 0 continues first
        self._turn = next(other % count for other in range(index + 1, index + 1 + count) if not self._brought[other % count] and not self._ended[other % count])
        self._changed.notify_all()

    def _end_meeting(self) -> None:
        names = {brought[0] for brought in self._brought if brought}
        if len(names) > 1 or (names != {""} and any(self._ended)):
            texts = [f"replica {index} {'has ended' if not brought else f'calls xm.{brought[0]}' if brought[0] else 'is at a step barrier'}"
                     for index, brought in enumerate(self._brought)]
            self._error = self._error or (0, RuntimeError("the replicas call different functions: " + ", ".join(texts)))
        self._met = Meeting([brought and brought[1] for brought in self._brought])
        self._brought = [None] * len(self._brought)


def collective(place: tuple[Replicas, int], name: str, tensors: Sequence[torch.Tensor], reduction: str, dims: Sequence[int],
               groups: list[list[int]] | None) -> list[torch.Tensor]:
    """Returns the results of a collective of StableHLO for this replica, as _collective_programs records it for processes. `groups`: of
    collective_permute pairs."""
    replicas, index = place
    # Clones, for the replica that continues first may write to its tensors.
    meeting = replicas.meet(index, name, [tensor.detach().clone() for tensor in tensors])
    if any(len(each) != len(tensors) for each in meeting.brought):
        raise RuntimeError(f"xm.{name}: expects equally many tensors of all replicas, but got {', '.join(str(len(each)) for each in meeting.brought)}")
    every = list(zip(*meeting.brought))
    for brought in every:
        if name != "all_gather" and any(each.shape != brought[0].shape or each.dtype != brought[0].dtype for each in brought):
            raise RuntimeError(f"xm.{name}: replicas contribute tensors of different shapes: "
                               + ", ".join(f"{each.dtype} {list(each.shape)}" for each in brought))
    if name == "collective_permute":
        source = next((pair[0] for pair in groups or () if pair[1] == index), None)
        return [torch.zeros_like(own) if source is None else brought[source].to(own.device, copy=True) for own, brought in zip(tensors, every)]
    group = next((row for row in groups if index in row), [index]) if groups else list(range(len(meeting.brought)))
    rank = group.index(index)
    if reduction and tuple(group) not in meeting.reduced:
        meeting.reduced[tuple(group)] = _reduced([[brought[member] for member in group] for brought in every], reduction)
    made = []
    for number, own in enumerate(tensors):
        members = [every[number][member].to(own.device) for member in group]
        if name == "all_reduce":
            made.append(meeting.reduced[tuple(group)][number].to(own.device, copy=True))
        elif name == "reduce_scatter":
            made.append(meeting.reduced[tuple(group)][number].chunk(len(group), dims[0])[rank].to(own.device, copy=True))
        elif name == "collective_broadcast":
            made.append(members[0].clone())
        elif name == "all_gather":
            made.append(torch.cat(members, dims[0]))
        else:
            made.append(torch.cat([each.chunk(len(group), dims[0])[rank] for each in members], dims[1]))
    return made


def _reduced(every: list[list[torch.Tensor]], reduction: str) -> list[torch.Tensor]:
    """Returns the reduction of each list, in order. Behind a barrier: all replicas get the same bits, whatever each computes with them."""
    made = []
    for members in every:
        dtype, device = members[0].dtype, members[0].device
        is_narrow = reduction == "sum" and dtype in (torch.bfloat16, torch.float16)  # sums of 16 bits are rounded once, as among processes
        total = members[0].float() if is_narrow else members[0].clone()
        for each in members[1:]:
            total = _COMBINE[reduction](total, each.to(device))
        made.append(total.to(dtype))
    _load.sys.modules["torch_xla._XLAC"]._xla_optimization_barrier_(made)
    return made
