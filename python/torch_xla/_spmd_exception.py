# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's functions without what they do for the device type "xla" alone."""
import types
from collections.abc import Callable


def without_exception(function: Callable) -> Callable:
    """The function without what PyTorch does for the device type "xla" alone: SPMD, in which one process has all devices."""
    code = function.__code__
    assert "xla" in code.co_consts, f"{function.__qualname__} has no exception for xla any more"
    constants = tuple("xla of one process" if value == "xla" else value for value in code.co_consts)
    made = types.FunctionType(code.replace(co_consts=constants), function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made
