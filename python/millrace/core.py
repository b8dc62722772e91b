# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling and running StableHLO from Python, over the C ABI of include/millrace/millrace.h.

    import numpy as np, millrace.core
    client = millrace.core.Client()
    add = client.compile("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {"
                         "  %0 = stablehlo.add %x, %x : tensor<3xf32>  return %0 : tensor<3xf32> }")
    add(np.array([1, 2, 3], np.float32))   # [array([2., 4., 6.], dtype=float32)]

All calls are thread-safe; the GIL is released while they compile or run (ctypes does so).
"""
import ctypes

import numpy as np

import millrace

try:
    import ml_dtypes as _ml
except ImportError:  # only the types that NumPy does not have need it
    _ml = None

# In the order of millrace_dtype; None where no NumPy type exists.
_NUMPY = [None, np.bool_, "int2", "int4", np.int8, np.int16, np.int32, np.int64, "uint2", "uint4", np.uint8, np.uint16,
          np.uint32, np.uint64, "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
          "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
          "bfloat16", np.float16, np.float32, np.float64, np.complex64, np.complex128, None]
_TOKEN = 31


def _dtype_of(number):
    entry = _NUMPY[number] if 0 <= number < len(_NUMPY) else None
    if isinstance(entry, str):
        entry = getattr(_ml, entry, None) if _ml else None
    if entry is None:
        raise TypeError(f"element type {number} has no NumPy type; ml_dtypes is {'there' if _ml else 'not installed'}")
    return np.dtype(entry)


def _number_of(dtype):
    for number in range(1, _TOKEN):
        try:
            if _dtype_of(number) == dtype:
                return number
        except TypeError:
            pass
    raise TypeError(f"arrays of {dtype} have no StableHLO element type")


class Error(RuntimeError):
    """An error of the compiler or the runtime. `code` is the number of gRPC and PJRT (3: invalid argument, ...)."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class _Type(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int), ("rank", ctypes.c_size_t), ("dims", ctypes.POINTER(ctypes.c_int64))]


_library = None


def _lib():
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


def _check(error):
    if error:
        lib = _lib()
        raised = Error(lib.millrace_error_code(error), lib.millrace_error_message(error).decode(errors="replace"))
        lib.millrace_error_destroy(error)
        raise raised


class _Handle:
    """Owns one object of the C ABI."""

    def __init__(self, destroy, value):
        self.value, self._destroy = value, getattr(_lib(), f"millrace_{destroy}_destroy")

    def __del__(self):
        if self.value:
            self._destroy(self.value)
            self.value = None


class Client:
    """`num_devices` virtual CPU devices of this process."""

    def __init__(self, num_devices=1):
        out = ctypes.c_void_p()
        _check(_lib().millrace_client_create(num_devices, ctypes.byref(out)))
        self._handle = _Handle("client", out.value)

    @property
    def num_devices(self):
        return _lib().millrace_client_num_devices(self._handle.value)

    def compile(self, code, entry=None):
        """An Executable of StableHLO text (str) or bytecode (bytes), through the compilation cache. `entry`: the function to
        run, else @main or the only public one. Raises Error with the place in the source."""
        code = code.encode() if isinstance(code, str) else bytes(code)
        lib, program, loaded = _lib(), ctypes.c_void_p(), ctypes.c_void_p()
        _check(lib.millrace_compile(code, len(code), entry.encode() if entry else None, ctypes.byref(program)))
        program = _Handle("program", program.value)
        _check(lib.millrace_load(self._handle.value, program.value, ctypes.byref(loaded)))
        return Executable(self, program, _Handle("executable", loaded.value))


class Executable:
    """A program on the devices of a client."""

    def __init__(self, client, program, handle):
        self._client, self._program, self._handle = client, program, handle
        lib = _lib()
        self.num_arguments = lib.millrace_program_num_arguments(program.value)
        self.num_results = lib.millrace_program_num_results(program.value)
        self.num_devices = lib.millrace_program_num_devices(program.value)

    def _buffer(self, device, array, index):
        expected = _lib().millrace_program_argument_type(self._program.value, index)
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        number = _number_of(array.dtype)
        if number != expected.dtype:
            raise TypeError(f"argument {index}: expects {_dtype_of(expected.dtype)}, but got {array.dtype}")
        shape, out = (ctypes.c_int64 * array.ndim)(*array.shape), ctypes.c_void_p()
        _check(_lib().millrace_buffer_create(self._client._handle.value, device, number, array.ndim, shape,
                                             array.ctypes.data, array.nbytes, ctypes.byref(out)))
        return _Handle("buffer", out.value)

    @staticmethod
    def _array(handle):
        lib, type_ = _lib(), _Type()
        _check(lib.millrace_buffer_type(handle.value, ctypes.byref(type_)))
        if type_.dtype == _TOKEN:
            return None
        array = np.empty([type_.dims[i] for i in range(type_.rank)], _dtype_of(type_.dtype))
        _check(lib.millrace_buffer_read(handle.value, array.ctypes.data, array.nbytes))
        return array

    def __call__(self, *arguments):
        """Runs on one device and waits; arrays in, list of arrays out (None for a token)."""
        if self.num_devices != 1:
            raise ValueError(f"the program runs on {self.num_devices} devices: use run(), with a list of arguments for each")
        return self.run([arguments])[0]

    def run(self, arguments):
        """Runs on all devices of the program: arguments[device][k] in, results[device][k] out."""
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
