# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings of MILLRACE_PROFILE of programs that end by Ctrl-C."""
import atexit
import os
import sys

import millrace


def install() -> None:
    """Where MILLRACE_PROFILE asks for a recording, a program that KeyboardInterrupt ends writes it. Once a process."""
    if os.environ.get("MILLRACE_PROFILE"):
        atexit.unregister(_write)
        atexit.register(_write)


def _write() -> None:
    # After this exception the interpreter ends itself by the signal, so that a shell sees it: nothing that C registers for the end is called.
    if isinstance(getattr(sys, "last_value", None), KeyboardInterrupt):
        millrace.load_library("libmillrace_runtime.so").millrace_end_recording()
