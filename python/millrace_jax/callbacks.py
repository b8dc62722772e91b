# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python functions that programs call: pure_callback, io_callback, debug.print, debug.callback, checkify, sparse.

JAX lowers them all through one function, which emits a typed custom call of jaxlib's own handler; that handler is not to
be had from outside. Here the call goes to `millrace_python_callback` instead, with the number of a function in the table
below. The runtime calls `_call` on the thread of the device, which waits for it: a callback may use JAX itself.
"""
import atexit
import ctypes
import itertools
import threading
import traceback
from typing import Any

import numpy as np

from millrace import core

_TARGET = "millrace_python_callback"
_TOKEN = 31


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64))]


_Call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.POINTER(_Tensor), ctypes.c_int64, ctypes.POINTER(_Tensor),
                         ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
_Hold = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, ctypes.c_int)


class _Functions:
    """Functions by number, each with the count of those who need it. Numbers are never used twice."""

    def __init__(self):
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._entries = {}

    def add(self, function):
        with self._lock:
            number = next(self._numbers)
            self._entries[number] = [function, 1]
        return number

    def hold(self, number, delta):
        released = None  # the object is released outside of the lock: its destructor may run any code
        with self._lock:
            entry = self._entries.get(number)
            if entry is None:
                return False
            entry[1] += delta
            if entry[1] <= 0:
                released = self._entries.pop(number)
        del released
        return True

    def get(self, number):
        with self._lock:
            return self._entries[number][0]

    def __len__(self):
        return len(self._entries)


_functions = _Functions()


class _Handle:
    """Keeps a function between lowering and loading; JAX keeps it with the lowered program and the executable."""

    def __init__(self, function):
        self.number = _functions.add(function)

    def __del__(self):
        _functions.hold(self.number, -1)


def _view(tensor):
    """Returns the memory of a tensor as an array."""
    dtype = core._dtype_of(tensor.dtype)
    shape = tensor.dims[:tensor.rank]
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    return np.frombuffer((ctypes.c_byte * size).from_address(tensor.data), dtype).reshape(shape)


def _run(number, arguments, results):
    # The callback gets copies: arrays that it keeps must not change when the program continues.
    values = [None if t.dtype == _TOKEN else _view(t).copy() for t in arguments]
    outcome = _functions.get(number)(*values)
    if len(outcome) != len(results):
        raise RuntimeError(f"the callback gives {len(outcome)} values, but the program expects {len(results)}")
    for tensor, value in zip(results, outcome):
        if tensor.dtype == _TOKEN:
            continue
        target, value = _view(tensor), np.asarray(value)
        if value.shape != target.shape or value.dtype != target.dtype:
            raise RuntimeError(f"the callback gives {value.dtype}{list(value.shape)}, but the program expects "
                               f"{target.dtype}{list(target.shape)}")
        np.copyto(target, value)


@_Call
def _call(number, arguments, num_arguments, results, num_results, message, size):
    try:
        _run(number, arguments[:num_arguments], results[:num_results])
        return 0
    except BaseException:  # no exception may pass through the frames of C++
        text = traceback.format_exc().encode()
        if len(text) >= size:  # the end says what happened, the beginning where
            text = text[:size // 4] + b"\n...\n" + text[len(text) - size // 2:]
        ctypes.memmove(message, text + b"\0", len(text) + 1)
        return 1


@_Hold
def _hold(number, delta):
    return int(_functions.hold(number, delta))


class _Ffi:
    """The module jax._src.ffi as jax._src.callback sees it: one function is another."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return getattr(self._module, name)

    def build_ffi_lowering_function(self, target, **options):
        if not (target.startswith("xla_ffi_") and target.endswith("python_cpu_callback")):
            return self._module.build_ffi_lowering_function(target, **options)
        build = self._module.build_ffi_lowering_function(_TARGET, **options)

        def lower(ctx, *operands, index):
            # JAX has just listed the function for its own handler, at `index`.
            assert int(index) == len(ctx.module_context.host_callbacks) - 1
            handle = _Handle(ctx.module_context.host_callbacks.pop())
            ctx.module_context.add_keepalive(handle)
            return build(ctx, *operands, index=np.int64(handle.number))

        return lower


def install(library: Any) -> None:
    """Sends JAX's callbacks to the runtime in `library` (libmillrace_pjrt.so, loaded with ctypes)."""
    import jax
    from jax._src import callback

    if isinstance(callback.ffi, _Ffi):
        return
    register = library.millrace_set_python_callbacks
    register.restype, register.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
    register(_call, _hold)
    callback.ffi = _Ffi(callback.ffi)

    def shutdown():
        # This function is registered after JAX's own exit functions, so that it runs before they release the devices.
        try:
            jax.effects_barrier()
        finally:
            register(None, None)

    atexit.register(shutdown)
