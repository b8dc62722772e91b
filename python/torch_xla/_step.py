# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The step barrier, which compiles and starts everything recorded, and the closures that run after it."""
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from . import _load, _replicas
from ._c_environment import getenv, is_on
from .utils import closures as _closure_handlers

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_closures: list[Callable[[], Any]] = []
_async_closures: list[Callable[[], Any]] = []
_taking = threading.Lock()  # of a thread that takes closures out of both lists; others only append
_sync_handler, _async_handler = _closure_handlers.ClosureHandler(), _closure_handlers.AsyncClosureHandler()


def _barrier(wait: bool = False, counts: bool = True, reset_scope: bool = True) -> None:
    """Compiles (or finds) the program of everything recorded, starts it and runs the step closures.

    Args:
      wait: Whether to wait until the program has ended.
      counts: Whether this is a step of the user's program, which the counter MarkStep counts.
      reset_scope: Whether to leave all name scopes; it is an error inside of an xp.Trace.

    The name begins with an underscore because tracing/reports/Analysis.cpp leaves such frames out of the stacks that it reports.
    """
    if place := _replicas.current():  # All replicas wait here, and one of them executes the barrier for all.
        replicas, index = place
        if next(number for number, one in enumerate(replicas.meet(index, "", True).brought) if one) != index:
            return
    if counts:
        _XLAC._count("MarkStep")
        if is_on(getenv(b"XLA_EMIT_STEPLOG")):
            print("torch_xla: step barrier", file=sys.stderr, flush=True)
    _XLAC._profile_begin_region("StepMarker", "")
    try:
        _XLAC._sync(bool(wait) or is_on(getenv(b"XLA_SYNC_WAIT")))
    finally:
        _XLAC._profile_end_region()
    if counts and reset_scope:
        _XLAC._reset_scopes()
    if _closures or _async_closures:
        _run_step_closures()
    if counts and (getenv(b"PT_XLA_DEBUG") or getenv(b"PT_XLA_DEBUG_LEVEL")):
        from .debug import _auto_metrics
        if _auto_metrics.is_on():
            _auto_metrics.after_step()
    if port := getenv(b"MILLRACE_METRICS_PORT"):
        from .debug import open_metrics
        open_metrics.start_from_environment(os.fsdecode(port))
    if getenv(b"XLA_METRICS_FILE"):
        from .debug import metrics_saver
        metrics_saver.save_metrics()


def _run_step_closures() -> None:
    with _taking:
        now, later = list(_closures), list(_async_closures)
        del _closures[:len(now)], _async_closures[:len(later)]  # not those that other threads have added meanwhile
    for closure in later:
        _async_handler.run(closure)
    _sync_handler.run_all(now)


def add_step_closure(closure: Callable[..., Any], args: Sequence[Any] = (), run_async: bool = False) -> None:
    """Runs closure(*args) after the next step barrier, when the tensors in `args` are computed.

    Args:
      closure: The function to run.
      args: Its arguments.
      run_async: Whether to run it on another thread, in order, beside the next step. What it raises is raised at a later
        barrier.
    """
    (_async_closures if run_async else _closures).append(lambda: closure(*args))
