# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Millrace: compiles and runs StableHLO programs.

This module says where the libraries and tools are; JAX uses them through the distribution `millrace-jax`.
"""
import ctypes
import os

__version__ = "0.1.0"
__all__ = ["library_path", "load_library", "tool_path", "MissingDependency"]


class MissingDependency(ImportError):
    """Something that Millrace needs from the system is not installed; the message says what to do."""


def _roots():
    """Folders with lib/ and bin/: a build tree that the user names, the installed package, the build tree of these sources."""
    if build := os.environ.get("MILLRACE_BUILD"):
        yield build
    here = os.path.dirname(os.path.abspath(__file__))
    yield here
    yield os.path.join(os.path.dirname(os.path.dirname(here)), "build")


def _find(relative):
    tried = []
    for root in _roots():
        for name in relative:
            path = os.path.join(root, name)
            if os.path.exists(path):
                return path
            tried.append(path)
    raise MissingDependency("millrace: none of these files exists: " + ", ".join(tried) +
                            "; install Millrace with `pip install .` in its sources, or set MILLRACE_BUILD to a build tree")


def library_path(name):
    """Absolute path of `libmillrace.so`, `libmillrace_runtime.so` or `libmillrace_pjrt.so`, given by that name.

    Raises MissingDependency if this installation does not have it."""
    return _find([f"lib/{name}", f"lib/{name}.0"])


def tool_path(name):
    """Absolute path of `xla-opt`, `xla-translate`, `xla-compile` or `xla-run`. Raises MissingDependency."""
    return _find([f"bin/{name}"])


def load_library(name):
    """Loads a library of ours with ctypes. Raises MissingDependency, naming the package, if one that it needs is missing."""
    path = library_path(name)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        message = str(error)
        if "libMLIR" in message or "libLLVM" in message:
            raise MissingDependency(
                f"millrace: {message}. Millrace needs LLVM and MLIR 22 from Debian's security suite: "
                "apt-get install libmlir-22 libllvm22") from None
        raise MissingDependency(f"millrace: cannot load {path}: {message}") from None
