# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.autocast."""
from typing import Any

import torch


class autocast(torch.amp.autocast_mode.autocast):
    """torch.autocast("xla"). `device`: a device, or its type; `dtype`: torch.bfloat16 by default."""

    def __init__(self, device: Any = "xla", enabled: bool = True, dtype: torch.dtype | None = None, cache_enabled: bool = True) -> None:
        if torch.device(device).type != "xla":
            raise ValueError(f"expects a device of type xla, but got {device}")
        super().__init__("xla", enabled=enabled, dtype=dtype or torch.bfloat16, cache_enabled=cache_enabled)
