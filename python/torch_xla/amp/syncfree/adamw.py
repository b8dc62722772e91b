# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.syncfree.AdamW."""
import torch

from .adam import AdamStep


class AdamW(AdamStep, torch.optim.AdamW):
    """torch.optim.AdamW whose step takes `found_inf`."""

    _use_adamw = True
