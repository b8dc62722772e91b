# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Former names of functions, whose use writes the new name to the log."""
import functools
import logging


_log = logging.getLogger("torch_xla")


def _title(function):
    return f"{function.__module__}.{getattr(function, '__qualname__', function.__name__)}"


def _warn(old, new, extra_msg):
    _log.warning("%s is deprecated: use %s instead.%s", old, _title(new), f" {extra_msg}" if extra_msg else "")


def deprecated(module, new, old_name=None, extra_msg=None):
    """The function `new` for a place in `module` under its old name: a call warns and runs `new`."""
    old = f"{module.__name__}.{old_name or new.__name__}"

    @functools.wraps(new)
    def run(*args, **kwargs):
        _warn(old, new, extra_msg)
        return new(*args, **kwargs)
    return run


def mark_deprecated(new, extra_msg=None):
    """Decorates a function that `new` takes the place of: a call warns and runs `new`."""
    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            _warn(_title(function), new, extra_msg)
            return new(*args, **kwargs)
        return run
    return decorate


def register_deprecated(module, new):
    """Decorates a function whose body does not matter: its name in `module` becomes deprecated(module, new)."""
    def decorate(function):
        made = deprecated(module, new, old_name=function.__name__)
        setattr(module, function.__name__, made)
        return made
    return decorate
