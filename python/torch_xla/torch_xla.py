# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands directly in the namespace torch_xla."""
import torch

from . import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class NoSuchDevice(IndexError, RuntimeError):
    """An index that no device has."""


def device(index=None):
    """The device with that index, otherwise the one on which this thread makes tensors for "xla" (0 at first)."""
    if torch.compiler.is_dynamo_compiling() and index in (None, 0):
        return torch.device("xla", 0)  # Dynamo cannot ask for the thread's
    if index is None:
        return torch.device("xla", _XLAC._current_device())
    if index not in range(device_count()):
        raise NoSuchDevice(f"expects the index of a device, 0 to {device_count() - 1}, but got {index}")
    return torch.device("xla", index)


def devices():
    """All devices of this process."""
    return [device(index) for index in range(device_count())]


def real_devices():
    """The names of the devices in the runtime."""
    return [f"CPU:{index}" for index in range(device_count())]


def device_count():
    """Devices on which this process can put tensors."""
    from . import runtime
    return runtime.addressable_device_count()


def manual_seed(seed, device=None):
    """Seeds the random numbers of the device (or all devices)."""
    _XLAC._set_seed(int(seed) & (1 << 64) - 1)


def sync(wait=False, reset_scope=True):
    """The step barrier: compiles (or finds) the program of everything recorded and starts it; waits if asked. An error inside of an
    xp.Trace, unless reset_scope=False."""
    from .core import xla_model
    xla_model._barrier(wait, reset_scope=reset_scope)


from ._compile import compile, step  # noqa: E402, F401


def launch(fn, args=(), start_method="spawn", debug_single_process=False):
    """Runs fn(index, *args) in one process per device: here in this one, as index 0. Under torchrun with several processes it is
    an error."""
    import os

    from .distributed import xla_multiprocessing
    wanted = int(os.environ.get("WORLD_SIZE", "1"))
    if wanted != 1:
        raise NotImplementedError(f"torch_xla.launch under torchrun with WORLD_SIZE={wanted}: several processes are not there yet")
    return xla_multiprocessing.spawn(fn, args=args, nprocs=1, start_method=start_method)


def set_custom_compile_options(options):
    """Options for the compiler, {name: value}. XLA's own (xla_...) are accepted without effect; there are no others."""
    for option in options:
        if not str(option).startswith("xla_"):
            raise ValueError(f"no compile option {option!r}: those of XLA, which begin with xla_, are accepted without effect")
