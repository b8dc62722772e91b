# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds and loads the compiled part: beside this file when installed, else in the build folder of this source tree. Says what to
do where PyTorch, LLVM or another torch_xla is in the way."""
import importlib.machinery
import importlib.metadata
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _versions

_COMPILED = "torch_xla._XLAC"


def check_torch(built: str, installed: str) -> None:
    """Raises ImportError unless the compiled part was built for the minor version of PyTorch that is installed."""
    minor, other = _versions.minor_of(built), _versions.minor_of(installed)
    if minor != other:
        what = f"install the torch_xla for PyTorch {other} (torch_xla-{other}.0+millrace…)" if other in _versions.TORCH else \
            f"this version of Millrace knows PyTorch {', '.join(_versions.TORCH[:-1])} and {_versions.TORCH[-1]}"
        raise ImportError(f"this torch_xla is for PyTorch {minor}, but torch {installed} is installed: `pip install torch=={minor}.*`; or {what}")


def check_original(folder: str) -> None:
    """Finds installations of the original PyTorch/XLA: over ours that is an error, elsewhere on sys.path a warning."""
    ours = os.path.realpath(os.path.dirname(folder))
    for distribution in importlib.metadata.distributions(name="torch_xla"):
        version = distribution.version or ""
        if "millrace" in version:
            continue
        where = os.path.realpath(str(distribution.locate_file("")))
        if where == ours:
            raise ImportError(f"torch_xla {version}, the original PyTorch/XLA, is installed over Millrace's torch_xla in {where}: run "
                              "`pip uninstall torch_xla` until it says that there is none, then install Millrace's again")
        warnings.warn(f"torch_xla {version}, the original PyTorch/XLA, is also installed, in {where}; Millrace's, in {ours}, "
                      "is used. `pip uninstall torch_xla` removes it", stacklevel=4)


def load() -> ModuleType:
    """Returns the module torch_xla._XLAC."""
    here = os.path.dirname(os.path.realpath(__file__))
    root = os.path.dirname(os.path.dirname(here))
    build = os.environ.get("MILLRACE_BUILD") or os.path.join(root, "build")
    candidates = [os.path.join(here, "_XLAC.so"), os.path.join(build, "python", "torch_xla", "_XLAC.so")]
    for path in candidates:
        if os.path.exists(path):
            return _load(path)
    raise ImportError("torch_xla's compiled part _XLAC.so is neither at " + " nor at ".join(candidates) +
                      ": build it with `ninja -C build torch_xla_shim`")


def loaded() -> ModuleType | None:
    """Returns the module torch_xla._XLAC, if an import of torch_xla that failed later has loaded it in this process; else None."""
    return sys.modules.get(_COMPILED)


def once(name: str, function: Callable[..., Any], *args: Any) -> None:
    """function(*args), unless that was done in this process: an import that failed later is tried again by some programs, and PyTorch
    takes no registration twice. What is done is remembered by the compiled part, which stays."""
    done = vars(sys.modules[_COMPILED]).setdefault("_installed", set())
    if name not in done:
        function(*args)
        done.add(name)


def _load(path: str) -> ModuleType:
    try:
        import millrace
    except ImportError:
        raise ImportError("torch_xla needs Millrace's distribution millrace: install the wheel that came with this one (docs/guide/install.md), or run "
                          "`pip install .` in the root of the sources. The millrace on PyPI is another program") from None
    if not hasattr(millrace, "load_library"):
        where = getattr(millrace, "__file__", None) or "sys.path"
        raise ImportError(f"torch_xla needs Millrace's distribution millrace, but the millrace in {where} is another program: "
                          "`pip uninstall millrace`, and install the wheel that came with this one (docs/guide/install.md)")
    millrace.load_library("libmillrace.so")  # an error names the Debian package that is missing
    import torch

    try:  # versions are compared before the library is loaded, which may fail with another torch
        with open(path[:-len(".so")] + ".torch", encoding="ascii") as file:
            check_torch(file.read().strip(), torch.__version__)
    except OSError:
        pass  # checked below
    loader = importlib.machinery.ExtensionFileLoader(_COMPILED, path)
    spec = importlib.util.spec_from_file_location(_COMPILED, path, loader=loader)
    assert spec is not None  # the finder has a loader
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise ImportError(f"torch_xla's compiled part cannot be loaded: {error}. It was built for another torch or another millrace "
                          "than those installed: install it again, with pip install --no-build-isolation ./python/torch_xla") from None
    check_torch(module._built_for_torch, torch.__version__)
    sys.modules[_COMPILED] = module
    return module
