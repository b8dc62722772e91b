# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The devices of this process: their indices, their torch.device objects and their names in the runtime.

This module imports no other public module of the package, so that every one of them can import it."""
from collections.abc import Sequence

import torch

from . import _load
from .utils.utils import as_list

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class NoSuchDevice(IndexError, RuntimeError):
    """An index that no device has."""


def device_count() -> int:
    """Returns the number of devices on which this process can put tensors."""
    return _XLAC._device_count()


def device(index: int | None = None) -> torch.device:
    """Returns a device.

    Args:
      index: The index of the device, from 0 to device_count() - 1. Without it, the device on which this thread creates
        tensors for "xla", which is 0 at first.

    Raises:
      NoSuchDevice: No device has this index.
    """
    if torch.compiler.is_dynamo_compiling() and index in (None, 0):
        return torch.device("xla", 0)  # Dynamo cannot trace the call that returns the thread's current device.
    if index is None:
        return torch.device("xla", _XLAC._current_device())
    if index not in range(device_count()):
        raise NoSuchDevice(f"expects the index of a device, 0 to {device_count() - 1}, but got {index}")
    return torch.device("xla", index)


def devices() -> list[torch.device]:
    """Returns all devices of this process."""
    return [device(index) for index in range(device_count())]


def real_devices() -> list[str]:
    """Returns the names of this process's devices in the runtime, such as "CPU:0"."""
    return [f"CPU:{index}" for index in range(device_count())]


def is_kind_supported(devkind: str | Sequence[str] | None) -> bool:
    """Returns whether a device of this kind, or of one of these kinds, exists; None means any kind."""
    return devkind is None or "CPU" in as_list(devkind)


def xla_device(n: int | None = None, devkind: str | Sequence[str] | None = None) -> torch.device:
    """Returns the device with index `n`, or the default device.

    Args:
      n: The index of the device.
      devkind: The kind that the device must be of. Only "CPU" exists.

    Raises:
      RuntimeError: No device is of this kind.
      NoSuchDevice: No device has this index.
    """
    if not is_kind_supported(devkind):
        raise RuntimeError(f"no device of kind {devkind}: available is CPU")
    return device(n)


def index_of(device: torch.device | str | int | None) -> int:
    """Returns the index of a device; of None, the index of the default device.

    Raises:
      RuntimeError: The argument does not name a device of this process.
    """
    found, count = torch.device(device if device is not None else "xla"), device_count()
    if found.type != "xla" or (found.index or 0) >= count:
        raise RuntimeError(f"expects a device of xla:0 to xla:{count - 1}, but got {device}")
    return _XLAC._current_device() if found.index is None else found.index
