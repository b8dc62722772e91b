# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long a program would take on a machine with more cores, from the times of its kernels' pieces on one.

What a profile of `xla-run --pieces=N` says of each kernel (its pieces, cut as for N threads and run one after the other) is scheduled on N
threads as the pool does: whoever is free takes the next piece, and thread k comes after the wake-ups of a binary tree. A kernel takes no
less than its bytes need from the memory where they lie. Large copies and fills are shared by threads, as fast as the memory; every other step
of the runtime (library calls) runs on one thread.
"""
from __future__ import annotations

import dataclasses
import heapq
import json
import math
from typing import Any


@dataclasses.dataclass(frozen=True)
class Machine:
    """A file of benchmarks/machines: what a prediction must know."""
    name: str
    threads: int  # that run at full speed: cores
    wake_us: float  # from a job's begin until the thread that it wakes takes a piece
    join_us: float  # from the end of the last piece until the next job
    near_bytes: float  # of cache that belongs to one core
    shared_bytes: float  # of the last cache, all cores' together
    core_gbs: float  # what one core reads and writes in memory, GB/s
    shared_gbs: float  # the same from the last cache
    memory_gbs: float  # all cores together
    source: str  # where the numbers come from

    @staticmethod
    def load(path: str) -> Machine:
        """Raises ValueError, which names the file, where a field is missing, unknown or not positive."""
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        fields = {field.name for field in dataclasses.fields(Machine)}
        if set(found) != fields:
            raise ValueError(f"{path}: expected the fields {', '.join(sorted(fields))}, but got {', '.join(sorted(found))}")
        machine = Machine(**found)
        for name in fields - {"name", "source"}:
            value = getattr(machine, name)
            if not isinstance(value, (int, float)) or value <= 0:
                raise ValueError(f"{path}: expected a positive number for {name}, but got {value!r}")
        return machine

    def least_us(self, count: float, threads: int) -> float:
        """Microseconds that `threads` cores need for `count` bytes which the whole kernel reads and writes; 0 where they lie near the cores."""
        if count <= self.near_bytes * threads:
            return 0.0
        if count <= self.shared_bytes:
            return count / (self.shared_gbs * threads) / 1e3
        return count / min(self.core_gbs * threads, self.memory_gbs) / 1e3


def makespan(pieces: list[float], threads: int, machine: Machine) -> float:
    """Microseconds from the begin of a job of these pieces (microseconds each) until all are done, on so many threads."""
    if threads == 1 or len(pieces) == 1:
        return sum(pieces)
    threads = min(threads, len(pieces))
    free = [machine.wake_us * math.ceil(math.log2(k + 1)) for k in range(threads)]
    heapq.heapify(free)
    end = 0.0
    for piece in pieces:
        done = heapq.heappop(free) + piece
        end = max(end, done)
        heapq.heappush(free, done)
    return end + machine.join_us


@dataclasses.dataclass
class Kernel:
    """A kernel's part of a prediction, microseconds per execution of the program."""
    name: str
    emitter: str
    alone: float  # on one thread
    together: float  # on the predicted number
    at_roof: bool  # most of its launches wait for memory


def kernels(profile: list[dict[str, Any]], machine: Machine, threads: int) -> list[Kernel]:
    """What each row of a profile that was cut for `threads` threads takes on them."""
    predicted = []
    for row in profile:
        if row["emitter"] == "step" and row["name"] in ("copy", "fill"):
            gain = min(threads, machine.memory_gbs / machine.core_gbs)
            predicted.append(Kernel(row["name"], row["emitter"], row["min_us"], row["min_us"] / gain, threads > 1))
            continue
        if not row["pieces"]:  # another step of the runtime
            predicted.append(Kernel(row["name"], row["emitter"], row["min_us"], row["min_us"], False))
            continue
        traffic = (row["bytes_read"] + row["bytes_written"]) / max(row["calls"], 1)
        roof, alone, together, waiting = machine.least_us(traffic, threads), 0.0, 0.0, 0.0
        for group in row["pieces"]:
            span = makespan(group["us"], threads, machine)
            alone += group["launches"] * max(sum(group["us"]), machine.least_us(traffic, 1))
            together += group["launches"] * max(span, roof)
            waiting += group["launches"] * (max(span, roof) if roof > span else 0.0)
        predicted.append(Kernel(row["name"], row["emitter"], alone, together, waiting > together / 2))
    return predicted
