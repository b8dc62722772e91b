# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of functions that become functions of the compiled module torch_xla._XLAC, under their own names."""
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Table:
    """The functions of one file, in the order in which they stand there. An instance is the decorator that adds one."""

    def __init__(self) -> None:
        self.functions: dict[str, Callable[..., Any]] = {}

    def __call__(self, function: Function) -> Function:
        """Adds a function and returns it as it is."""
        self.functions[function.__name__] = function
        return function

    def install(self, module: ModuleType) -> None:
        """Makes every function of the table an attribute of the module, in place of one of the same name."""
        vars(module).update(self.functions)
