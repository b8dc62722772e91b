# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp: autocast for the device."""
import torch


class autocast(torch.amp.autocast_mode.autocast):
    def __init__(self, device=None, enabled=True, dtype=torch.bfloat16, cache_enabled=True):
        super().__init__("xla", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


def GradScaler(*args, **kwargs):
    return torch.amp.GradScaler("xla", *args, **kwargs)
