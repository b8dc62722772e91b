# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.debug.profiler (xp): recordings of programs, devices and memory, made in this process and written as TensorBoard, XProf and
chrome://tracing read them; and named regions of the host's program, which torch.profiler shows, too. The server that hands recordings out to
other processes is not there yet."""
import datetime
import functools
import gzip
import os
import socket
import threading
import warnings

import torch

from .. import _XLAC

_marked_step = False
_lock = threading.Lock()
_running = None  # (session of the recorder, folder) between start_trace and stop_trace; guarded by _lock


def set_tracer_marked_step(value):
    """Notes that a StepTrace has put a barrier, so that a loader puts none."""
    global _marked_step
    _marked_step = value


def get_tracer_marked_step():
    """Whether a StepTrace has put a barrier since the loader's last batch."""
    return _marked_step


class Trace(torch.profiler.record_function):
    """`with Trace("name"):` names a region, also in texts of graphs and programs ("name.1"); a step barrier in it is an error.
    `kwargs` are shown beside the name."""

    def __init__(self, name, **kwargs):
        self._details = ", ".join(f"{key}={value}" for key, value in kwargs.items())
        super().__init__(name, self._details or None)

    def __enter__(self):
        _XLAC._push_scope(self.name)
        _XLAC._profile_begin_region(self.name, self._details)
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        left = self._leave(kind, value, trace)
        _XLAC._profile_end_region()
        return left

    def _leave(self, kind, value, trace):
        _XLAC._pop_scope()
        return super().__exit__(kind, value, trace)


class StepTrace(Trace):
    """A region that is a step: a barrier stands at its end, inside of what recordings show as the step. `kwargs`: step_num."""

    def __init__(self, name, **kwargs):
        super().__init__(name, **kwargs)
        self._details += (", " if self._details else "") + "_r=1"  # the root of a step, for XProf

    def _leave(self, kind, value, trace):
        left = super()._leave(kind, value, trace)
        if kind is None:
            set_tracer_marked_step(True)
            from ..core import xla_model
            xla_model.mark_step(reset_scope=_XLAC._scope() == "")
        return left


def trace_me(scope):
    """Decorates a function whose calls are regions of that name."""
    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            with Trace(scope):
                return function(*args, **kwargs)
        return run
    return decorate


def start_trace(log_dir: str) -> None:
    """Begins to record this process: programs and their kernels, transfers, memory, compilations, the regions of Trace and StepTrace. What
    runs when it begins is waited for. RuntimeError if a recording has begun already."""
    global _running
    with _lock:
        if _running is not None:
            raise RuntimeError("Profile has already been started. Only one profile may be run at a time.")
        _XLAC._wait()
        _running = _XLAC._profile_start(), os.fspath(log_dir)


def stop_trace() -> None:
    """Ends the recording and writes it, for TensorBoard and XProf, to `log_dir`/plugins/profile/TIME/HOST.xplane.pb, and for chrome://tracing
    and Perfetto to HOST.trace.json.gz beside it; with several processes HOST is followed by the number of the process. What runs is waited for.
    RuntimeError if none has begun."""
    global _running
    with _lock:
        if _running is None:
            raise RuntimeError("No profile started")
        (session, log_dir), _running = _running, None
    try:
        _XLAC._wait()
    finally:
        space, trace_json, messages = _XLAC._profile_stop(session)
    folder = os.path.join(log_dir, "plugins", "profile", datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S"))
    os.makedirs(folder, exist_ok=True)
    base = os.path.join(folder, _host())
    with open(base + ".xplane.pb", "wb") as file:
        file.write(space)
    with gzip.open(base + ".trace.json.gz", "wb", compresslevel=5) as file:
        file.write(trace_json)
    for message in messages:
        warnings.warn(f"xp.stop_trace: {message}", stacklevel=2)


def _host():
    """The name of this machine; with several processes, with the number of this one."""
    from .. import runtime as xr
    name = socket.gethostname() or "localhost"
    return f"{name}_{xr.process_index()}" if xr.process_count() > 1 else name


def _missing(name):
    raise NotImplementedError(f"xp.{name}: the server for captures is not there yet; xp.start_trace(log_dir) and xp.stop_trace() record this "
                              "process, and MILLRACE_PROFILE=FOLDER a whole program")


def start_server(port, only_on_master=True):
    """The server for captures is not there yet: raises NotImplementedError."""
    _missing("start_server")


def trace(service_addr, logdir, duration_ms=1000, num_tracing_attempts=3, host_tracer_level=2, device_tracer_level=1, delay_ms=0,
          timeout_s=120, interval_s=5):
    """Captures are not there yet: raises NotImplementedError."""
    _missing("trace")


def trace_detached(*args, **kwargs):
    """Captures are not there yet: raises NotImplementedError."""
    _missing("trace_detached")

