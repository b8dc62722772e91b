# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a function in each process of the program."""
import contextlib
import functools
import os
from collections.abc import Callable
from typing import Any

import torch.multiprocessing as mp

from .. import _load, _world
from ..distributed import xla_multiprocessing as xmp

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class _Failure:
    """What fn raised, for the process that waits."""

    def __init__(self, error: Exception):
        self.error = error


def _put_value(ordinal: int, fn: Callable, args: tuple, kwargs: dict, values: Any) -> None:
    try:
        values.put((ordinal, fn(*args, **kwargs)))
    except Exception as error:
        with contextlib.suppress(Exception):  # some exceptions cannot be pickled
            values.put((ordinal, _Failure(error)))
        raise


def run_multiprocess(fn: Callable, *args: Any, start_method: str = "spawn", **kwargs: Any) -> dict[int, Any]:
    """Returns {ordinal: fn(*args, **kwargs)} of as many processes as CPU_NUM_DEVICES says. An exception of the first process that fails is raised
    here."""
    count = int(os.environ.get("CPU_NUM_DEVICES") or "1")
    if count == 1:
        return {0: fn(*args, **kwargs)}
    with mp.get_context(start_method).Manager() as manager:
        values = manager.Queue()
        try:
            xmp.spawn(_put_value, args=(fn, args, kwargs, values), start_method=start_method)
        except (mp.ProcessRaisedException, mp.ProcessExitedException) as trace:
            while not values.empty():
                ordinal, value = values.get()
                if isinstance(value, _Failure) and ordinal == trace.error_index:
                    raise value.error from trace
            raise
        return dict(values.get() for _ in range(count))


def _call_with_ordinal(fn: Callable, args: tuple) -> Any:
    return fn(_world.rank(), *args)


def spawn(fn: Callable, nprocs: int | None = None, start_method: str = "spawn", args: tuple = ()) -> Any:
    """See xmp.spawn()."""
    return xmp.spawn(fn, args=args, nprocs=nprocs, start_method=start_method)


def spawn_threads(fn: Callable, args: tuple = ()) -> None:
    """fn(ordinal, *args) in this process, which is one replica."""
    functools.partial(_call_with_ordinal, fn, args)()


def initialize_singleprocess() -> None:
    """Nothing: one process needs no introduction."""


def initialize_multiprocess(local_rank: int, local_world_size: int) -> None:
    """Says that this is one of so many processes of the host, unless the environment does; before the first use of the device."""
    if local_world_size > 1 and _XLAC._has_started() and (_world.local_rank(), _world.local_size()) != (local_rank, local_world_size):
        raise RuntimeError(f"process {local_rank} of {local_world_size}: the device is in use already, by process {_world.local_rank()} of "
                           f"{_world.local_size()}")
    os.environ.setdefault("PJRT_LOCAL_PROCESS_RANK", str(local_rank))
    os.environ.setdefault("PJRT_LOCAL_PROCESS_COUNT", str(local_world_size))
