# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are called when a tensor's value has been computed."""
import inspect
import threading
from collections.abc import Callable
from typing import Any

import torch

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def call_when_ready(tensor: torch.Tensor, callback: Callable[[], Any]) -> None:
    """Calls a function in a thread of its own when the value of a tensor has been computed; starts the computation if it is pending.

    The program does not end before: the thread is no daemon, because a daemon in the middle of an operator would end the process with an abort.

    Args:
      tensor: A tensor of the device.
      callback: The function.
    """
    ready = _XLAC._ready(tensor)

    def wait():
        _XLAC._await_ready(ready)
        callback()

    threading.Thread(target=wait, name="torch_xla callback", daemon=False).start()


def on_ready_callback(tensor: torch.Tensor, callback: Callable[..., Any]) -> None:
    """Calls a function in a thread of its own when the value of a tensor has been computed; starts the computation if it is pending.

    Args:
      tensor: A tensor of the device.
      callback: The function. It gets the tensor, or nothing if it has no parameter.
    """
    try:
        given = [tensor] if inspect.signature(callback).parameters else []
    except ValueError:  # a builtin has no signature
        given = []
    call_when_ready(tensor, lambda: callback(*given))


def on_ready_event(tensor: torch.Tensor) -> threading.Event:
    """Returns an event that is set when the value of a tensor has been computed; starts the computation if it is pending.

    Args:
      tensor: A tensor of the device.
    """
    event = threading.Event()
    on_ready_callback(tensor, event.set)
    return event
