# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.debug.profiler (xp): named regions of the host's program, shown by torch.profiler. Captures of the device, and the
server that hands them out, are not there yet."""
import functools

import torch

from .. import _XLAC

_marked_step = False


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
        super().__init__(name, ", ".join(f"{key}={value}" for key, value in kwargs.items()) or None)

    def __enter__(self):
        _XLAC._push_scope(self.name)
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        _XLAC._pop_scope()
        return super().__exit__(kind, value, trace)


class StepTrace(Trace):
    """A region that is a step: a barrier stands at its end. `kwargs`: step_num."""

    def __exit__(self, kind, value, trace):
        left = super().__exit__(kind, value, trace)
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


def _missing(name):
    raise NotImplementedError(f"xp.{name}: captures of the device are not there yet; torch.profiler shows the host's regions")


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


def start_trace(log_dir):
    """Captures are not there yet: raises NotImplementedError."""
    _missing("start_trace")


def stop_trace():
    """Captures are not there yet: raises NotImplementedError."""
    _missing("stop_trace")
