# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.utils.serialization (xser): one file per checkpoint, tensors written one after the other."""
import torch

from ..core import xla_model as xm


def save(data, path, master_only=True, global_master=False):
    xm.save(data, path, master_only=master_only)


def load(path):
    """What save() wrote, on the CPU."""
    return torch.load(path, map_location="cpu")
