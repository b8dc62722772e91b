# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ends this process is told to the others of its job. JAX's own service waits for all of them at the end: the others would wait for this one, which
seems alive, until their timeout."""
import atexit
import contextlib
import ctypes
import sys
import traceback
from types import TracebackType


def _finish_devices() -> None:
    """Waits for what the devices of this process have yet to do: they run programs one after the other."""
    import jax
    import numpy
    for device in jax.local_devices():
        with contextlib.suppress(Exception):  # of a program that failed, which is told elsewhere
            (jax.device_put(numpy.float32(0), device) + 1).block_until_ready()


def install(library: ctypes.CDLL) -> None:
    """Has the end of this process, by an exception that nobody catches or in order, end the operations in which other processes wait for it. `library`:
    the plug-in."""
    end = library.millrace_end_processes
    end.argtypes, end.restype = [ctypes.c_char_p], None
    before = sys.excepthook

    def told(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        before(kind, value, trace)
        end("".join(traceback.format_exception_only(kind, value)).strip().encode())

    sys.excepthook = told

    @atexit.register  # runs before JAX's, which keeps a client that arrays of modules refer to, and then waits for the other processes
    def leave() -> None:
        import jax
        from jax._src import xla_bridge
        if jax.distributed.is_initialized() and xla_bridge.backends_are_initialized() and getattr(sys, "last_value", None) is None:
            _finish_devices()
            end(b"")
