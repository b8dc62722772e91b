# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Environment variables that are read at every step barrier, as the compiled part reads them: by C's getenv().

os.environ takes 1 us to say that a variable is not set, getenv() a tenth of that. Python hands every change of os.environ to the C library
(os.putenv()), so that both say the same."""
import ctypes
from collections.abc import Callable
from typing import cast

_ON = (b"ON", b"1", b"YES", b"TRUE", b"Y")

_function = ctypes.PyDLL(None).getenv  # The GIL is kept, under which Python changes the environment.
_function.argtypes, _function.restype = (ctypes.c_char_p,), ctypes.c_char_p
getenv = cast(Callable[[bytes], bytes | None], _function)  # The value of a variable; None where it is not set.


def is_on(value: bytes | None) -> bool:
    """Returns whether a value is ON, 1, YES, TRUE or Y, in any case, as torch_xla.utils.utils.check_env_flag() does."""
    return value is not None and value.upper() in _ON
