# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.profiler's annotations in recordings of MILLRACE_PROFILE. In those of jax.profiler they are jaxlib's own."""
import ctypes
import os
from typing import Any


def install(library: ctypes.CDLL) -> None:
    """Where MILLRACE_PROFILE asks for a recording, TraceAnnotation, StepTraceAnnotation and annotate_function are regions in it. `library`: the
    plug-in."""
    if not os.environ.get("MILLRACE_PROFILE"):
        return
    import jax

    begin, end = library.millrace_begin_region, library.millrace_end_region
    begin.argtypes, begin.restype = [ctypes.c_char_p, ctypes.c_char_p], None
    end.argtypes, end.restype = [], ctypes.c_int
    kind = jax.profiler.TraceAnnotation
    make, enter, leave = kind.__init__, kind.__enter__, kind.__exit__

    def make_region(self: Any, name: str, **details: Any) -> None:
        make(self, name, **details)
        self._millrace_region = str(name).encode(), ", ".join(f"{key}={value}" for key, value in details.items()).encode()

    def enter_region(self: Any) -> Any:
        begin(*self._millrace_region)
        return enter(self)

    def leave_region(self: Any, *failure: Any) -> Any:
        left = leave(self, *failure)
        end()
        return left

    kind.__init__, kind.__enter__, kind.__exit__ = make_region, enter_region, leave_region
