# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ends this process is told to the others of its job. JAX's own service waits for all of them at the end: the others would wait for this one, which
seems alive, until their timeout."""
import ctypes
import sys
import traceback
from types import TracebackType


def install(library: ctypes.CDLL) -> None:
    """Has an exception that nobody catches end the operations in which other processes wait for this one. `library`: the plug-in."""
    end = library.millrace_end_processes
    end.argtypes, end.restype = [ctypes.c_char_p], None
    before = sys.excepthook

    def told(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        before(kind, value, trace)
        end("".join(traceback.format_exception_only(kind, value)).strip().encode())

    sys.excepthook = told
