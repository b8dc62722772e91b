# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells the other processes of a job why this one ends. JAX's own service waits for all of them at the end: the others would wait for this one, which
seems alive, until their timeout."""
import atexit
import contextlib
import ctypes
import os
import re
import sys
import threading
import time
import traceback
from types import TracebackType


def _finish_devices() -> None:
    """Waits until the devices of this process have executed all enqueued programs, which they do in order."""
    import jax
    import numpy
    for device in jax.local_devices():
        with contextlib.suppress(Exception):  # an error here follows a failure of the program, which is reported elsewhere
            (jax.device_put(numpy.float32(0), device) + 1).block_until_ready()


# The runtime's message about a process that does not reach the barrier at the end.
_LOST = r"process \d+ \(pid \d+ on host [^)]*\) (has ended|has closed its connection|is stopped|cannot be reached|has been silent)"
_SECONDS_FOR_THE_END = 5.0


def _end_soon() -> None:
    """Exits the process after some seconds, although JAX's coordination service still waits for a lost process: 300 s, or until its heartbeats are missed."""
    def end() -> None:
        time.sleep(_SECONDS_FOR_THE_END)
        print(f"millrace: JAX has waited {_SECONDS_FOR_THE_END:g} s for all processes to end, of which one is lost; this one ends without them", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)

    threading.Thread(target=end, daemon=True, name="millrace-end").start()


def install(library: ctypes.CDLL) -> None:
    """Registers handlers that run when this process ends, normally or by an uncaught exception: they end the collectives in which other processes wait
    for it. `library`: the plug-in."""
    end = library.millrace_end_processes
    end.argtypes, end.restype = [ctypes.c_char_p], None
    before = sys.excepthook

    def told(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        before(kind, value, trace)
        text = "".join(traceback.format_exception_only(kind, value)).strip()
        end(text.encode())
        if re.search(_LOST, text):
            _end_soon()

    sys.excepthook = told

    @atexit.register  # runs before JAX's, which keeps a client that arrays of modules refer to, and then waits for the other processes
    def leave() -> None:
        import jax
        from jax._src import xla_bridge
        if jax.distributed.is_initialized() and xla_bridge.backends_are_initialized() and getattr(sys, "last_value", None) is None:
            _finish_devices()
            end(b"")
