# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torchao's products of 8-bit integers on the device. torchao prints its argument to see whether it is a FakeTensor (0.18), and computes on the
CPU where a size is no multiple of 8: both read a value in the middle of a step. The device needs neither."""
import functools
import sys
from typing import Any

import torch

from . import _import_hooks

_MODULE = "torchao.kernel.intmm"


def _use(module: Any) -> None:
    """`module`: torchao.kernel.intmm."""
    original = module.safe_int_mm

    @functools.wraps(original)
    def safe_int_mm(input: torch.Tensor, mat2: torch.Tensor) -> torch.Tensor:
        if type(input) is torch.Tensor and input.device.type == "xla" and mat2.device == input.device:
            return torch._int_mm(input, mat2)
        return original(input, mat2)

    for name, loaded in list(sys.modules.items()):
        if name.startswith("torchao") and getattr(loaded, "safe_int_mm", None) is original:
            vars(loaded)["safe_int_mm"] = safe_int_mm
    vars(module)["safe_int_mm"] = safe_int_mm


def install() -> None:
    """Also where torchao is imported already."""
    if hasattr(sys.modules.get(_MODULE), "safe_int_mm"):
        _use(sys.modules[_MODULE])
    else:
        _import_hooks.add(_MODULE, after=_use)
