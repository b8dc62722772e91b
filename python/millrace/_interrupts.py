# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings of MILLRACE_PROFILE of programs that end by Ctrl-C."""
import atexit
import ctypes
import os
import sys


def install(library: str) -> None:
    """Where MILLRACE_PROFILE asks for a recording, a program that KeyboardInterrupt ends writes it.

    Args:
      library: The path of what this process has loaded, which depends on Millrace's runtime: there may be several on this machine.
    """
    if os.environ.get("MILLRACE_PROFILE"):
        atexit.register(_write, library)


def _write(library: str) -> None:
    # After this exception the interpreter ends itself by the signal, so that a shell sees it: no exit function of C is called.
    if isinstance(getattr(sys, "last_value", None), KeyboardInterrupt):
        ctypes.CDLL(library).millrace_end_recording()
