# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that are called when a tensor's value has been computed."""
import inspect
import threading

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def call_when_ready(tensor, callback):
    """Calls callback() on a thread when the value of `tensor` is computed. Starts its computation if it is pending. The program does not
    end before: the thread is no daemon, because a daemon in the middle of an operator would end the process with an abort."""
    ready = _XLAC._ready(tensor)

    def wait():
        _XLAC._await_ready(ready)
        callback()

    threading.Thread(target=wait, name="torch_xla callback", daemon=False).start()


def on_ready_callback(tensor, callback):
    """Calls callback(tensor) on a thread when the value of `tensor` is computed; callback() if it takes no argument. Starts its
    computation if it is pending."""
    try:
        given = [tensor] if inspect.signature(callback).parameters else []
    except ValueError:  # of a builtin
        given = []
    call_when_ready(tensor, lambda: callback(*given))


def on_ready_event(tensor):
    """A threading.Event that is set when the value of `tensor` is computed."""
    event = threading.Event()
    on_ready_callback(tensor, event.set)
    return event
