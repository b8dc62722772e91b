# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What happens when a tensor's value is there."""
import inspect
import threading

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def on_ready_callback(tensor, callback):
    """Calls callback(tensor) on a thread when the value of `tensor` is computed; callback() if it takes no argument. Starts its
    computation if nobody has."""
    _XLAC._xla_sync_multi([tensor])
    try:
        given = [tensor] if inspect.signature(callback).parameters else []
    except ValueError:  # of a builtin
        given = []

    def wait():
        _XLAC._await_tensor(tensor)
        callback(*given)

    threading.Thread(target=wait, name="torch_xla callback", daemon=True).start()


def on_ready_event(tensor):
    """A threading.Event that is set when the value of `tensor` is computed."""
    event = threading.Event()
    on_ready_callback(tensor, event.set)
    return event
