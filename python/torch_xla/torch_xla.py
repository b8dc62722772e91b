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
    """Runs fn(index, *args) in as many processes as CPU_NUM_DEVICES says, see xmp.spawn(). Under torchrun, which has started them, in this
    one, with its LOCAL_RANK as index. `debug_single_process`: in this one, as index 0, of a world of one."""
    import os

    from . import runtime
    from .distributed import xla_multiprocessing
    if runtime.is_spmd():
        raise NotImplementedError("torch_xla.launch under SPMD: there one process is all devices; call the function")
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return fn(int(os.environ.get("LOCAL_RANK", "0")), *args)
    return xla_multiprocessing.spawn(fn, args=args, nprocs=1 if debug_single_process else None, start_method=start_method)


def set_custom_compile_options(options):
    """Options for the compiler, {name: value}. XLA's own (xla_...) are accepted without effect; there are no others."""
    for option in options:
        if not str(option).startswith("xla_"):
            raise ValueError(f"no compile option {option!r}: those of XLA, which begin with xla_, are accepted without effect")
