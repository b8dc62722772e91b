# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands directly in the namespace torch_xla."""
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


from ._compile import compile, step  # noqa: E402, F401


def launch(fn, args=(), start_method="spawn", debug_single_process=False):
    """Runs fn(index, *args) in one process per device: here, as index 0."""
    from .distributed import xla_multiprocessing
    return xla_multiprocessing.spawn(fn, args=args, nprocs=1)
