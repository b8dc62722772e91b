# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.profiler's annotations in recordings of MILLRACE_PROFILE, and the lines at which a program waits for values. In recordings of jax.profiler the
annotations are jaxlib's own."""
import atexit
import ctypes
import functools
import os
import sys
import types
from collections.abc import Callable
from typing import Any


def _user_place() -> str:
    """"train.py:12": the innermost line that belongs to none of JAX, NumPy and this package; "" if there is none."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_packages()):
            return f"{file}:{frame.f_lineno}".replace(", ", "; ").replace("=", ":")
        frame = frame.f_back
    return ""


@functools.cache
def _packages() -> tuple[str, ...]:
    """The folders of packages whose lines are not the user's."""
    import jax
    import jaxlib
    import numpy
    files = (jax.__file__, jaxlib.__file__, numpy.__file__, __file__)
    return tuple(os.path.dirname(file) + os.sep for file in files if file) + ("<frozen ",)


def _install_waits(begin: Callable[[bytes, bytes], None], end: Callable[[], int]) -> None:
    """float(x), x.item(), jax.device_get(x) and what else reads a value are regions "ReadByHost", block_until_ready is "WaitByHost": the host cannot
    launch what follows before the devices are done."""
    from jax._src import api, array
    kind: Any = array.ArrayImpl

    def in_region(name: bytes, function: Callable[..., Any], is_waiting: Callable[..., bool]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            if not is_waiting(*arguments):
                return function(*arguments)
            begin(name, f"source={_user_place()}".encode())
            try:
                return function(*arguments)
            finally:
                end()
        call.__doc__ = function.__doc__
        return call

    value = kind._value.fget
    kind._value = property(in_region(b"ReadByHost", value, lambda x: x._npy_value is None), doc=kind._value.__doc__)
    kind.block_until_ready = in_region(b"WaitByHost", kind.block_until_ready, lambda x: True)
    api.xc.batched_block_until_ready = in_region(b"WaitByHost", api.xc.batched_block_until_ready, lambda arrays: True)


_ReaderPlace = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t)


@_ReaderPlace
def _write_place(text: int, size: int) -> int:
    place = _user_place().encode()[:size]
    ctypes.memmove(text, place, len(place))
    return len(place)


def _install_reader_place(set_place: Any) -> None:
    """np.asarray(x) and memoryview(x) read an array's memory through the interpreter's buffer protocol, where no function of Python can be in between:
    the plug-in sees that read, and asks for the line while somebody records."""
    set_place.argtypes, set_place.restype = [ctypes.c_void_p], None
    set_place(ctypes.cast(_write_place, ctypes.c_void_p))
    atexit.register(set_place, None)


def install(library: ctypes.CDLL) -> None:
    """Recordings know the lines that read an array's memory. Where MILLRACE_PROFILE asks for one, TraceAnnotation, StepTraceAnnotation and
    annotate_function are regions in it, as are the lines that wait for values. `library`: the plug-in."""
    _install_reader_place(library.millrace_set_reader_place)
    if not os.environ.get("MILLRACE_PROFILE"):
        return
    import jax

    begin, end = library.millrace_begin_region, library.millrace_end_region
    begin.argtypes, begin.restype = [ctypes.c_char_p, ctypes.c_char_p], None
    end.argtypes, end.restype = [], ctypes.c_int
    _install_waits(begin, end)
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
