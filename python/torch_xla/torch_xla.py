# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands directly in the namespace torch_xla."""
import contextlib
import functools

import torch

from . import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def device(index=None):
    """The device with that index (the only one: 0)."""
    if index not in (None, 0):
        raise RuntimeError(f"expects the index of a device, 0 to 0, but got {index}")
    return torch.device("xla", 0)


def devices():
    """All devices of this process."""
    return [device()]


def real_devices():
    return ["CPU:0"]


def device_count():
    return 1


def manual_seed(seed, device=None):
    """Seeds the random numbers of the device."""
    _XLAC._set_seed(int(seed) & (1 << 64) - 1)


def sync(wait=False, reset_scope=True):
    """The step barrier: compiles (or finds) the program of everything recorded and starts it; waits if asked."""
    from .core import xla_model
    xla_model._barrier(wait)


@contextlib.contextmanager
def step():
    """A region whose operations become programs of their own."""
    sync()
    try:
        yield
    finally:
        sync()


def compile(f=None, full_graph=False, name=None, max_different_graphs=None):
    """Wraps a function so that what it records is compiled as one program, cut off from what comes before and after.

    `full_graph`: a value that is read inside is an error. `max_different_graphs`: so many compilations are allowed.
    """
    if f is None:
        return step()
    if not callable(f):
        raise TypeError(f"expects a function, but got {type(f).__name__}")

    @functools.wraps(f)
    def run(*args, **kwargs):
        sync()
        before = run_state["graphs"]
        runs = _XLAC._samples().get("ExecuteTime", (0,))[0]
        made = _XLAC._compilations()
        result = f(*args, **kwargs)
        if full_graph and _XLAC._samples().get("ExecuteTime", (0,))[0] != runs:
            raise RuntimeError(f"{getattr(f, '__name__', 'the function')} reads a value, which cuts its graph, but "
                               "full_graph=True was asked for")
        sync()
        run_state["graphs"] = before + _XLAC._compilations() - made
        if max_different_graphs is not None and run_state["graphs"] > max_different_graphs:
            raise RuntimeError(f"{getattr(f, '__name__', 'the function')} was compiled {run_state['graphs']} times, but at "
                               f"most {max_different_graphs} graphs are allowed")
        return result

    run_state = {"graphs": 0}
    return run


def eager(*args, **kwargs):
    raise NotImplementedError("torch_xla.eager is not there yet; operations are recorded until torch_xla.sync()")


def launch(fn, args=(), start_method="spawn", debug_single_process=False):
    """Runs fn(index, *args) in one process per device: here, as index 0."""
    from .distributed import xla_multiprocessing
    return xla_multiprocessing.spawn(fn, args=args, nprocs=1)
