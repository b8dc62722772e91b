# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ends the interpreter safely while other threads execute operators of the device."""
import atexit
import sys
import threading
import time
import types
from collections.abc import Callable

# Files of PyTorch whose functions its dispatcher calls, so that frames of C++ are below them on the stack.
_KERNELS = ("_compile.py", "_decomp/", "_library/", "_meta_registrations.py", "_ops.py", "_prims/", "_prims_common/", "_refs/", "_subclasses/", "library.py")
_PATIENCE = 4.0  # Unit: seconds. For one second more, threads that enter an operator are held there (csrc/Ending.cpp).
_LONGEST_WAIT = 30.0  # seconds


def install(begin_ending: Callable[[], None]) -> None:
    """Registers what happens at the end. Once, early: what is registered later runs before."""
    atexit.register(_end, begin_ending)


def _end(begin_ending: Callable[[], None]) -> None:
    # The first call of an operator imports modules of PyTorch, for a second, which the compiled part does not notice. CPython would end such a
    # thread where it acquires the interpreter's lock again, by unwinding the frames of C++, whose destructors use Python objects: the process
    # would abort. The thread is held at its next operator, see begin_ending.
    latest = time.monotonic() + _LONGEST_WAIT
    while True:
        begin_ending()
        again = min(latest, time.monotonic() + _PATIENCE)
        while others := _are_in_kernels():
            if time.monotonic() > again:
                break
            time.sleep(0.001)
        if not others or time.monotonic() > latest:
            return


def _are_in_kernels() -> bool:
    """Returns whether a thread other than this one is in a function that PyTorch's dispatcher has called."""
    return any(thread != threading.get_ident() and _is_in_kernel(frame) for thread, frame in sys._current_frames().items())


def _is_in_kernel(frame: types.FrameType | None) -> bool:
    """Returns whether a function that PyTorch's dispatcher has called is among the callers."""
    here = _folder_of_torch()
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(here) and path.startswith(_KERNELS, len(here)):
            return True
        frame = frame.f_back
    return False


def _folder_of_torch() -> str:
    return str(sys.modules["torch"].__file__).removesuffix("__init__.py")
