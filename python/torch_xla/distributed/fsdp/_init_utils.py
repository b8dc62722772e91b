# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Materializes modules whose parameters are on the device meta, which has shapes without values."""
from typing import Callable

import torch
import torch.nn as nn


def is_meta(module: nn.Module) -> bool:
    """Returns whether a parameter or buffer of the module's own is on the device meta."""
    return any(tensor.is_meta for tensor in [*module.parameters(recurse=False), *module.buffers(recurse=False)])


def materialize(module: nn.Module, param_init_fn: Callable[[nn.Module], None] | None, is_other: Callable[[nn.Module], bool]) -> bool:
    """Gives values to the parameters and buffers on the device meta of a module and its parts, but for parts of which `is_other` is true; whether
    there were any. `param_init_fn(part)` makes them, else `part.to_empty()` on the CPU, of which only shards are uploaded, and its
    reset_parameters(). TypeError for a part without that."""
    parts = [part for part in module.modules() if is_meta(part) and not is_other(part)]
    for part in parts:
        if param_init_fn is not None:
            param_init_fn(part)
            continue
        if not callable(getattr(part, "reset_parameters", None)):
            raise TypeError(f"a {type(part).__name__} has parameters on the device meta and no reset_parameters(): give param_init_fn, a function "
                            "that makes the values of a module")
        part.to_empty(device="cpu", recurse=False)
        with torch.no_grad():
            part.reset_parameters()
    return bool(parts)
