# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling and running StableHLO from Python, over the C ABI of include/millrace/millrace.h.

    import numpy as np, millrace.core
    client = millrace.core.Client()
    add = client.compile("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {"
                         "  %0 = stablehlo.add %x, %x : tensor<3xf32>  return %0 : tensor<3xf32> }")
    add(np.array([1, 2, 3], np.float32))   # [array([2., 4., 6.], dtype=float32)]

All calls are thread-safe; the GIL is released while they compile or run (ctypes does so).
"""
import contextlib
import ctypes
import types
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import millrace

_ml: types.ModuleType | None = None
with contextlib.suppress(ImportError):  # Only the types that NumPy does not have need it.
    import ml_dtypes
    _ml = ml_dtypes

# In the order of millrace_dtype; None where no NumPy type exists.
_NUMPY: list[Any] = [None, np.bool_, "int2", "int4", np.int8, np.int16, np.int32, np.int64, "uint2", "uint4", np.uint8, np.uint16,
          np.uint32, np.uint64, "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
          "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
          "bfloat16", np.float16, np.float32, np.float64, np.complex64, np.complex128, None]
_TOKEN = 31


def _dtype_of(number: int) -> np.dtype:
    entry = _NUMPY[number] if 0 <= number < len(_NUMPY) else None
    if isinstance(entry, str):
        entry = getattr(_ml, entry, None) if _ml else None
    if entry is None:
        raise TypeError(f"element type {number} has no NumPy type; ml_dtypes is {'there' if _ml else 'not installed'}")
    return np.dtype(entry)


def _number_of(dtype: np.dtype) -> int:
    for number in range(1, _TOKEN):
        try:
            if _dtype_of(number) == dtype:
                return number
        except TypeError:
            pass
    raise TypeError(f"arrays of {dtype} have no StableHLO element type")


class Error(RuntimeError):
    """An error of the compiler or the runtime.

    Args:
      code: The status code of gRPC and PJRT, such as 3 for an invalid argument.
      message: The text.

    Attributes:
      code: The status code.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Type(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("rank", ctypes.c_size_t), ("dims", ctypes.POINTER(ctypes.c_int64))]


_library: ctypes.CDLL | None = None


def _lib() -> ctypes.CDLL:
    global _library
    if _library is None:
        lib = millrace.load_library("libmillrace.so")
        handle, size = ctypes.c_void_p, ctypes.c_size_t
        out = ctypes.POINTER(handle)
        for name, result, arguments in [
            ("error_code", ctypes.c_int, [handle]), ("error_message", ctypes.c_char_p, [handle]),
            ("error_destroy", None, [handle]), ("client_create", handle, [ctypes.c_uint32, out]),
            ("client_destroy", None, [handle]), ("client_num_devices", ctypes.c_uint32, [handle]),
            ("compile", handle, [ctypes.c_char_p, size, ctypes.c_char_p, out]),
            ("program_destroy", None, [handle]), ("program_num_arguments", size, [handle]),
            ("program_num_results", size, [handle]), ("program_num_devices", size, [handle]),
            ("program_argument_type", _Type, [handle, size]), ("load", handle, [handle, handle, out]),
            ("executable_destroy", None, [handle]), ("buffer_destroy", None, [handle]),
            ("buffer_create", handle, [handle, ctypes.c_uint32, ctypes.c_int, size, ctypes.POINTER(ctypes.c_int64),
                                       ctypes.c_void_p, size, out]),
            ("buffer_type", handle, [handle, ctypes.POINTER(_Type)]),
            ("buffer_read", handle, [handle, ctypes.c_void_p, size]),
            ("execute_wait", handle, [handle, out, size, out, size]),
        ]:
            function = getattr(lib, "millrace_" + name)
            function.restype, function.argtypes = result, arguments
        _library = lib
    return _library


def _check(error: int | None) -> None:
    if error:
        lib = _lib()
        raised = Error(lib.millrace_error_code(error), lib.millrace_error_message(error).decode(errors="replace"))
        lib.millrace_error_destroy(error)
        raise raised


class _Handle:
    """Owns one object of the C ABI."""

    def __init__(self, destroy: str, value: int | None) -> None:
        self.value, self._destroy = value, getattr(_lib(), f"millrace_{destroy}_destroy")

    def __del__(self) -> None:
        if self.value:
            self._destroy(self.value)
            self.value = None


class Client:
    """Virtual CPU devices of this process.

    Args:
      num_devices: How many. All of them share the threads of the process.

    Raises:
      Error: The number is not from 1 to 65536.
    """

    def __init__(self, num_devices: int = 1) -> None:
        out = ctypes.c_void_p()
        _check(_lib().millrace_client_create(num_devices, ctypes.byref(out)))
        self._handle = _Handle("client", out.value)

    @property
    def num_devices(self) -> int:
        """The number of devices."""
        return _lib().millrace_client_num_devices(self._handle.value)

    def compile(self, code: str | bytes, entry: str | None = None) -> "Executable":
        """Compiles a program, or finds it in the compilation cache.

        Args:
          code: StableHLO as text (str) or as bytecode (bytes).
          entry: The function to run. Without it, @main or the only public function.

        Returns:
          The program, loaded on the devices of this client.

        Raises:
          Error: The program is wrong or cannot be compiled; the message names the place in the source.
        """
        source = code.encode() if isinstance(code, str) else bytes(code)
        lib, compiled, loaded = _lib(), ctypes.c_void_p(), ctypes.c_void_p()
        _check(lib.millrace_compile(source, len(source), entry.encode() if entry else None, ctypes.byref(compiled)))
        program = _Handle("program", compiled.value)
        _check(lib.millrace_load(self._handle.value, program.value, ctypes.byref(loaded)))
        return Executable(self, program, _Handle("executable", loaded.value))


class Executable:
    """A program on the devices of a client; Client.compile() makes the objects.

    Args:
      client: The client that compiled the program.
      program: The handle of the compiled program.
      handle: The handle of the loaded program.

    Attributes:
      num_arguments: The number of arguments per device.
      num_results: The number of results per device.
      num_devices: The number of devices on which the program runs at once.
    """

    def __init__(self, client: Client, program: _Handle, handle: _Handle) -> None:
        self._client, self._program, self._handle = client, program, handle
        lib = _lib()
        self.num_arguments: int = lib.millrace_program_num_arguments(program.value)
        self.num_results: int = lib.millrace_program_num_results(program.value)
        self.num_devices: int = lib.millrace_program_num_devices(program.value)

    def _buffer(self, device: int, given: npt.ArrayLike, index: int) -> _Handle:
        expected = _lib().millrace_program_argument_type(self._program.value, index)
        array = np.ascontiguousarray(given).reshape(np.shape(given))
        number = _number_of(array.dtype)
        if number != expected.dtype:
            raise TypeError(f"argument {index}: expects {_dtype_of(expected.dtype)}, but got {array.dtype}")
        shape, out = (ctypes.c_int64 * array.ndim)(*array.shape), ctypes.c_void_p()
        _check(_lib().millrace_buffer_create(self._client._handle.value, device, number, array.ndim, shape,
                                             array.ctypes.data, array.nbytes, ctypes.byref(out)))
        return _Handle("buffer", out.value)

    @staticmethod
    def _array(handle: _Handle) -> np.ndarray | None:
        lib, type_ = _lib(), _Type()
        _check(lib.millrace_buffer_type(handle.value, ctypes.byref(type_)))
        if type_.dtype == _TOKEN:
            return None
        array = np.empty([type_.dims[i] for i in range(type_.rank)], _dtype_of(type_.dtype))
        _check(lib.millrace_buffer_read(handle.value, array.ctypes.data, array.nbytes))
        return array

    def __call__(self, *arguments: npt.ArrayLike) -> list[np.ndarray | None]:
        """Runs a program of one device and waits for its results.

        Args:
          *arguments: An array per argument of the program, of its element type and shape.

        Returns:
          An array per result; None for a token.

        Raises:
          ValueError: The program runs on several devices.
          TypeError: The number or an element type of the arguments is not the program's.
          Error: A shape is not the program's, or the execution failed.
        """
        if self.num_devices != 1:
            raise ValueError(f"the program runs on {self.num_devices} devices: use run(), with a list of arguments for each")
        return self.run([arguments])[0]

    def run(self, arguments: Sequence[Sequence[npt.ArrayLike]]) -> list[list[np.ndarray | None]]:
        """Runs a program on all of its devices and waits for its results.

        Args:
          arguments: arguments[device][k] is argument k on that device.

        Returns:
          results[device][k], as of __call__().

        Raises:
          ValueError: The lists are not as many as the program has devices.
          TypeError: The number or an element type of the arguments is not the program's.
          Error: A shape is not the program's, or the execution failed.
        """
        if len(arguments) != self.num_devices:
            raise ValueError(f"expects arguments for {self.num_devices} devices, but got {len(arguments)} lists")
        for given in arguments:
            if len(given) != self.num_arguments:
                raise TypeError(f"expects {self.num_arguments} arguments, but got {len(given)}")
        buffers = [self._buffer(d, a, k) for d, given in enumerate(arguments) for k, a in enumerate(given)]
        total = self.num_devices * self.num_results
        inputs = (ctypes.c_void_p * max(1, len(buffers)))(*[b.value for b in buffers])
        outputs = (ctypes.c_void_p * max(1, total))()
        _check(_lib().millrace_execute_wait(self._handle.value, inputs, len(buffers), outputs, total))
        results = [_Handle("buffer", outputs[i]) for i in range(total)]
        return [[self._array(results[d * self.num_results + k]) for k in range(self.num_results)]
                for d in range(self.num_devices)]
