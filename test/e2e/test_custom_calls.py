# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A custom call served by a function that the embedding program registers through millrace.h: here Python, by ctypes."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = """
import ctypes
import millrace, millrace.core
import numpy as np

@ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.POINTER(ctypes.c_float)))
def twice(out, operands):
    for i in range(3):
        out[i] = 2 * operands[0][i]

library = millrace.load_library("libmillrace.so")
register = library.millrace_register_ffi_handler
register.restype = ctypes.c_char_p
register.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 4 + [ctypes.c_int, ctypes.c_uint32]
print(register(b"embedded.twice", None, None, None, None, 1, 0).decode())
print(register(b"embedded.twice", None, None, None, twice, 7, 0).decode())
print(register(b"embedded.twice", None, None, None, twice, 0, 0))
client = millrace.core.Client()
run = client.compile("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {"
                     "  %0 = stablehlo.custom_call @embedded.twice(%x) : (tensor<3xf32>) -> tensor<3xf32>"
                     "  return %0 : tensor<3xf32> }")
print(run(np.array([1, 2, 3], np.float32))[0].tolist())
"""


def test_handler_of_an_embedding_program():
    environment = dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"))
    environment.setdefault("MILLRACE_BUILD", os.path.join(ROOT, "build"))
    process = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, env=environment)
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines() == [
        "INVALID_ARGUMENT: custom call target 'embedded.twice' has no handler for the stage execute",
        "UNIMPLEMENTED: custom call target 'embedded.twice' is of api_version 7; known are 0 and 1",
        "None",
        "[2.0, 4.0, 6.0]",
    ]
