# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Former names of functions, whose use writes the new name to the log."""
import functools
import logging
import types
from collections.abc import Callable
from typing import Any


_log = logging.getLogger("torch_xla")


def _title(function):
    return f"{function.__module__}.{getattr(function, '__qualname__', function.__name__)}"


def _warn(old, new, extra_msg):
    _log.warning("%s is deprecated: use %s instead.%s", old, _title(new), f" {extra_msg}" if extra_msg else "")


def deprecated(module: types.ModuleType, new: Callable[..., Any], old_name: str | None = None,
               extra_msg: str | None = None) -> Callable[..., Any]:
    """Returns a function that logs a warning and calls `new`, for a place in a module under the former name.

    Args:
      module: The module that has the former name.
      new: The function that is to be used instead.
      old_name: The former name; None: the name of `new`.
      extra_msg: A sentence that is added to the warning.
    """
    old = f"{module.__name__}.{old_name or new.__name__}"

    @functools.wraps(new)
    def run(*args, **kwargs):
        _warn(old, new, extra_msg)
        return new(*args, **kwargs)
    return run


def mark_deprecated(new: Callable[..., Any], extra_msg: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator of a function that is replaced: a call logs a warning and calls `new`.

    Args:
      new: The function that is to be used instead.
      extra_msg: A sentence that is added to the warning.
    """
    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            _warn(_title(function), new, extra_msg)
            return new(*args, **kwargs)
        return run
    return decorate


def register_deprecated(module: types.ModuleType, new: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that sets a function's name in a module to deprecated(module, new); the body of the function is not used.

    Args:
      module: The module that has the former name.
      new: The function that is to be used instead.
    """
    def decorate(function):
        made = deprecated(module, new, old_name=function.__name__)
        setattr(module, function.__name__, made)
        return made
    return decorate
