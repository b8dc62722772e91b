# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of results are asked for without an import of torch._dynamo, which takes a second of every process.

PyTorch's Meta kernels in Python are marked with torch._disable_dynamo. What it returns imports torch._dynamo at its first call, makes a
function of it that Dynamo does not trace, and keeps that as the attribute `__dynamo_disable` of the kernel. Where there is no Dynamo in
the process, nothing can be traced, and the kernel itself is that function. The attributes are removed before torch._dynamo is imported,
by whomever: from then on all is as PyTorch made it."""
import gc
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import torch

from . import _import_hooks

_ATTRIBUTE = "__dynamo_disable"


def _marked() -> Iterator[Callable[..., Any]]:
    """The functions of PyTorch's decompositions, and kernels of torch_xla, that torch._disable_dynamo marks: without the mark."""
    code = torch._disable_dynamo(lambda: None).__code__  # all functions that torch._disable_dynamo() returns share this code object
    place = code.co_freevars.index("fn")
    for marked in gc.get_referrers(code):
        if isinstance(marked, FunctionType) and marked.__closure__:
            kernel = marked.__closure__[place].cell_contents
            if kernel.__globals__["__name__"].startswith(("torch._refs", "torch._decomp", "torch._prims_common", "torch_xla")):
                yield kernel


def install() -> None:
    """Once, after all kernels of torch_xla are registered. Does nothing where torch._dynamo is imported already. Any thread."""
    if "torch._dynamo" in sys.modules:
        return
    kernels = [kernel for kernel in _marked() if not hasattr(kernel, _ATTRIBUTE)]
    for kernel in kernels:
        setattr(kernel, _ATTRIBUTE, kernel)

    def restore() -> None:
        for kernel in kernels:
            if getattr(kernel, _ATTRIBUTE, None) is kernel:
                delattr(kernel, _ATTRIBUTE)

    _import_hooks.add("torch._dynamo", before=restore)
