# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands directly in the namespace torch_xla."""
import os

from . import _load, _step, runtime
from ._compile import compile, set_custom_compile_options, step
from ._devices import NoSuchDevice, device, device_count, devices, real_devices

__all__ = ["NoSuchDevice", "compile", "device", "device_count", "devices", "launch", "manual_seed", "real_devices", "set_custom_compile_options",
           "step", "sync"]

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def manual_seed(seed, device=None):
    """Seeds the random numbers of the device (or all devices)."""
    _XLAC._set_seed(int(seed) & (1 << 64) - 1)


def sync(wait=False, reset_scope=True):
    """The step barrier: compiles (or finds) the program of everything recorded and starts it; waits if asked. An error inside of an
    xp.Trace, unless reset_scope=False."""
    _step._barrier(wait, reset_scope=reset_scope)


def launch(fn, args=(), start_method="spawn", debug_single_process=False):
    """Runs fn(index, *args) in as many processes as CPU_NUM_DEVICES says, see xmp.spawn(). Under torchrun, which has started them, in this
    one, with its LOCAL_RANK as index. `debug_single_process`: in this one, as index 0, of a world of one."""
    from .distributed import xla_multiprocessing
    if runtime.is_spmd():
        raise NotImplementedError("torch_xla.launch under SPMD: there one process is all devices; call the function")
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return fn(int(os.environ.get("LOCAL_RANK", "0")), *args)
    return xla_multiprocessing.spawn(fn, args=args, nprocs=1 if debug_single_process else None, start_method=start_method)
