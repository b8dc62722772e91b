# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Millrace: compiles and runs StableHLO programs.

This module says where the libraries and tools are; JAX uses them through the distribution `millrace-jax`.
"""
import ctypes
import os
import platform
import re
from collections.abc import Iterator

__version__ = "0.1.0"
__all__ = ["cmake_prefix_path", "library_path", "load_library", "tool_path", "carriers_path", "MissingDependency"]


class MissingDependency(ImportError):
    """Something that Millrace needs from the system is not installed; the message says what to do."""


def _roots() -> Iterator[str]:
    """Folders with lib/ and bin/: a build tree that the user names, the installed package, the build tree of these sources."""
    if build := os.environ.get("MILLRACE_BUILD"):
        yield build
    here = os.path.dirname(os.path.abspath(__file__))
    yield here
    yield os.path.join(os.path.dirname(os.path.dirname(here)), "build")


def _find(relative: list[str]) -> str:
    tried = []
    for root in _roots():
        for name in relative:
            path = os.path.join(root, name)
            if os.path.exists(path):
                return path
            tried.append(path)
    raise MissingDependency("millrace: none of these files exists: " + ", ".join(tried) +
                            "; install Millrace with `pip install .` in its sources, or set MILLRACE_BUILD to a build tree")


def library_path(name: str) -> str:
    """Returns the absolute path of a library.

    Args:
      name: `libmillrace.so`, `libmillrace_runtime.so` or `libmillrace_pjrt.so`.

    Raises:
      MissingDependency: This installation does not have it.
    """
    return _find([f"lib/{name}", f"lib/{name}.0"])


def tool_path(name: str) -> str:
    """Returns the absolute path of a tool.

    Args:
      name: `xla-opt`, `xla-translate`, `xla-compile`, `xla-run` or `xla-prof`.

    Raises:
      MissingDependency: This installation does not have it.
    """
    return _find([f"bin/{name}"])


def carriers_path() -> str:
    """Returns the folder with the sources of carriers, libraries that transport large messages between processes: mpi.c, gloo.cpp and
    carrier.h, the interface that they implement.

    Raises:
      MissingDependency: This installation does not have it.
    """
    return _find(["share/carriers"])


def cmake_prefix_path() -> str:
    """Returns the folder for CMAKE_PREFIX_PATH, with which find_package(Millrace) finds the headers and libraries of this package.

    Raises:
      MissingDependency: This installation does not have it.
    """
    config = "lib/cmake/Millrace/MillraceConfig.cmake"
    return _find([config])[:-len(config) - 1]


def _why_not_loaded(message: str) -> str | None:
    """What to do about a message of the dynamic linker; None where it says all there is to say."""
    version = re.search(r"version [`']GLIBC_([\d.]+)' not found", message)
    if version:
        return (f"it needs glibc {version[1]} or newer (Debian 12, Ubuntu 22.04, RHEL 9), but this system has "
                f"{' '.join(platform.libc_ver()).strip() or 'another C library'}; build Millrace here from source, "
                "or use a newer system or container")
    if "GLIBC" not in message and platform.libc_ver()[0] != "glibc":
        return "this Python does not use glibc (musl, as in Alpine, is not supported): use an image with glibc, such as python:3.13-slim"
    if "libMLIR" in message or "libLLVM" in message:
        return "this build tree needs LLVM and MLIR 22 from Debian's security suite: apt-get install libmlir-22 libllvm22"
    if "libstdc++" in message or "libgcc_s" in message:
        return "it needs the C++ runtime of the system: apt-get install libstdc++6, or dnf install libstdc++"
    return None


def load_library(name: str) -> ctypes.CDLL:
    """Loads a library of Millrace.

    Args:
      name: See library_path().

    Raises:
      MissingDependency: The library, or one that it needs, is missing; the message says what to install.
    """
    path = library_path(name)
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        why = _why_not_loaded(str(error))
        raise MissingDependency(f"millrace: cannot load {path}: {error}" + (f": {why}" if why else "")) from None
