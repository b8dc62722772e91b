# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives on many tensors along dimension 0 with few operations, for FSDP and ZeRO stage 1."""
from typing import Callable

import torch

from . import _collective_programs, _collectives

# Tensors of fewer bytes are reduced together, above it alone: copying them into one operand costs as much as the latency of another reduction
# (benchmarks.processes: about 65 us for 64 KB between 2 processes of one host, AMD EPYC; a copy of 512 KB takes 50 us).
SMALL_BYTES = 512 * 1024
# Results of one all_gather of parameters at most: its operands are there until it is done. It takes some milliseconds, against which its latency does
# not count (benchmarks.processes: 16 MB between 2 processes of one host 3.1 ms, AMD EPYC).
GATHER_BYTES = 32 * 1024 * 1024


def buckets(sizes: list[int], limit: int = 0) -> list[list[int]]:
    """Which of so many bytes go together, as indices: as many as `limit` bytes allow, in their order; without a limit all small ones."""
    if not limit:
        small = [index for index, size in enumerate(sizes) if size < SMALL_BYTES]
        return [[index] for index, size in enumerate(sizes) if size >= SMALL_BYTES] + ([small] if small else [])
    made: list[list[int]] = []
    for index, size in enumerate(sizes):
        if not made or sum(sizes[each] for each in made[-1]) + size > limit:
            made.append([])
        made[-1].append(index)
    return made


def all_gather(tensors: list[torch.Tensor], groups: list[list[int]] | None) -> list[torch.Tensor]:
    """Returns the tensors of all replicas of a group along dim 0, by one operation. `tensors`: of one element type, with a dim."""
    if _collectives.is_alone():
        return [tensor.clone() for tensor in tensors]
    _collectives.check_groups(groups)
    return _collective_programs.all_gather_together(tensors, groups)


def reduce_scatter(tensors: list[torch.Tensor], count: int, scatter: Callable[[torch.Tensor], torch.Tensor], limit: int = 0) -> list[torch.Tensor]:
    """scatter() of tensors whose first dims `count` replicas divide, by one call per bucket: what belongs to a replica is put together."""
    made: list[torch.Tensor] = [torch.empty(0)] * len(tensors)
    for bucket in buckets([tensor.numel() * tensor.element_size() for tensor in tensors], limit):
        if len(bucket) == 1:
            made[bucket[0]] = scatter(tensors[bucket[0]])
            continue
        operands = [tensors[index] for index in bucket]
        reduced = scatter(torch.cat([operand.reshape(count, -1) for operand in operands], dim=1).reshape(-1))
        sizes = [torch.Size((operand.size(0) // count, *operand.shape[1:])) for operand in operands]
        for index, part, size in zip(bucket, reduced.split([size.numel() for size in sizes]), sizes):
            made[index] = part.view(size)
    return made
