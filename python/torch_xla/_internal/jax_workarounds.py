# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for programs that use JAX beside torch_xla. Both runtimes work in one process, so the guards have nothing to do."""
import contextlib
import functools
import importlib.util


def jax_import_guard():
    """Nothing: JAX may be imported before or after torch_xla, and takes no device away from it."""


@contextlib.contextmanager
def jax_env_context():
    """A region for functions of JAX."""
    yield


def maybe_get_jax():
    """Returns the module jax, or None where it is not installed."""
    if importlib.util.find_spec("jax") is None:
        return None
    import jax
    return jax


def requires_jax(function):
    """Decorates a function that needs JAX: calling it without raises a RuntimeError that says so."""
    @functools.wraps(function)
    def run(*args, **kwargs):
        if maybe_get_jax() is None:
            raise RuntimeError(f"{function.__name__} needs the package jax: pip install jax")
        return function(*args, **kwargs)
    return run
