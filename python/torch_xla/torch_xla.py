# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions of the namespace torch_xla itself."""
import os
from collections.abc import Callable
from typing import Any

import torch

from . import _load, _step, runtime
from ._compile import compile, set_custom_compile_options, step
from ._devices import NoSuchDevice, device, device_count, devices, real_devices

__all__ = ["NoSuchDevice", "compile", "device", "device_count", "devices", "launch", "manual_seed", "real_devices", "set_custom_compile_options",
           "step", "sync"]

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def manual_seed(seed: int, device: torch.device | str | None = None) -> None:
    """Seeds the random numbers of the device.

    Args:
      seed: Its lowest 64 bits count.
      device: Has no effect: all devices of the process draw from one generator.
    """
    _XLAC._set_seed(int(seed) & (1 << 64) - 1)


def sync(wait: bool = False, reset_scope: bool = True) -> None:
    """Executes the step barrier: compiles (or finds) the program of everything recorded, and starts it.

    Args:
      wait: Whether to wait until the program has ended.
      reset_scope: Whether to leave all name scopes.

    Raises:
      RuntimeError: The barrier stands inside of an xp.Trace, unless reset_scope is False.
    """
    _step._barrier(wait, reset_scope=reset_scope)


def launch(fn: Callable[..., Any], args: tuple = (), start_method: str = "spawn", debug_single_process: bool = False) -> Any:
    """Runs fn(index, *args) in one process per device, as xmp.spawn() does.

    Under torchrun, which has started the processes, fn runs in this one with its LOCAL_RANK as index.

    Args:
      fn: A function that another process can import.
      args: Its arguments after the index.
      start_method: How processes are started, see multiprocessing.
      debug_single_process: Whether to run fn in this process, as index 0 of a world of one.

    Returns:
      Under torchrun, what fn returns; otherwise what xmp.spawn() returns.

    Raises:
      NotImplementedError: SPMD is on, where one process has all devices.
    """
    from .distributed import xla_multiprocessing
    if runtime.is_spmd():
        raise NotImplementedError("torch_xla.launch under SPMD, where one process has all devices: call the function itself")
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return fn(int(os.environ.get("LOCAL_RANK", "0")), *args)
    return xla_multiprocessing.spawn(fn, args=args, nprocs=1 if debug_single_process else None, start_method=start_method)
