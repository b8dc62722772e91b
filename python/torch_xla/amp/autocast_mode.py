# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.autocast."""
from typing import Any

import torch


class autocast(torch.amp.autocast_mode.autocast):
    """torch.autocast("xla") under PyTorch/XLA's name.

    Args:
      device: A device of the type xla, or its name.
      enabled: Whether operations change their types.
      dtype: The type of matrix multiplications and convolutions; None: torch.bfloat16.
      cache_enabled: Whether a converted weight is kept until the end of the context.

    Raises:
      ValueError: The device is of another type.
    """

    def __init__(self, device: Any = "xla", enabled: bool = True, dtype: torch.dtype | None = None, cache_enabled: bool = True) -> None:
        if torch.device(device).type != "xla":
            raise ValueError(f"expects a device of type xla, but got {device}")
        super().__init__("xla", enabled=enabled, dtype=dtype or torch.bfloat16, cache_enabled=cache_enabled)
