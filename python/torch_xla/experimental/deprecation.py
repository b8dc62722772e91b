# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Old names of functions, with a word about the new ones."""
import functools
import warnings


def _title(function):
    return f"{function.__module__}.{function.__qualname__}"


def deprecated(module, new, old_name=None, extra_msg=None):
    """The function `new` for a place in `module` under its old name: a call warns and runs `new`."""
    old = f"{module.__name__}.{old_name or new.__name__}"

    @functools.wraps(new)
    def run(*args, **kwargs):
        warnings.warn(f"{old} is deprecated: use {_title(new)} instead." + (f" {extra_msg}" if extra_msg else ""),
                      DeprecationWarning, stacklevel=2)
        return new(*args, **kwargs)
    return run


def mark_deprecated(new, extra_msg=None):
    """Decorates a function that `new` takes the place of: a call warns, and runs the function as it is."""
    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            warnings.warn(f"{_title(function)} is deprecated: use {_title(new)} instead." + (f" {extra_msg}" if extra_msg else ""),
                          DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)
        return run
    return decorate


def register_deprecated(module, new):
    """Decorates a function whose body does not matter: its name in `module` becomes deprecated(module, new)."""
    def decorate(function):
        made = deprecated(module, new, old_name=function.__name__)
        setattr(module, function.__name__, made)
        return made
    return decorate
