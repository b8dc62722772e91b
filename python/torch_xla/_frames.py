# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tells the compiled part which code is the user's: every recorded operation keeps the innermost line of the user's code."""
import functools
import os
import re
import types
from collections.abc import Callable
from typing import Any

import torch

_FOLDERS = tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, torch.__file__, os.__file__))
_FRAME = re.compile(r'^ *File "(.+)", line (\d+), in (.+)$', re.MULTILINE)


def install(xlac):
    xlac._watch_frames(list(_FOLDERS))


def _is_users(file: str) -> bool:
    """Returns what Frames.cpp says: whether code of this file is the user's."""
    return not file.startswith("<frozen") and not any(file.startswith(folder) and "site-packages" not in file[len(folder):] for folder in _FOLDERS)


def _call(function, *args): return function(*args)  # noqa: E704, its frame has one line


@functools.cache
def _caller(file: str, line: int, name: str) -> Callable[..., Any]:
    """Returns a function that calls another one from a frame at this place. There is one per place, because the compiled part keeps its code."""
    return types.FunctionType(_call.__code__.replace(co_filename=file, co_firstlineno=line, co_name=name), {})


@functools.lru_cache(maxsize=4096)
def _place(stack: str) -> tuple[str, int, str] | None:
    """Returns file, line and function of the innermost place in the user's code; graphs that are recorded in every call ask again and again."""
    places = [(file, int(line), name) for file, line, name in _FRAME.findall(stack) if _is_users(file)]
    return places[-1] if places else None


def call_at(stack: str | None, function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function as if the code did that which the stack ends in, so that what is recorded meanwhile gets that place.

    Args:
      stack: The text of a stack, innermost frame last, as nodes of torch.fx have it ("stack_trace"); None where nothing is known.
      function: The function.
      args: Its arguments.

    Returns:
      What the function returns.
    """
    place = _place(stack) if stack else None
    return function(*args) if place is None else _caller(*place)(function, *args)
