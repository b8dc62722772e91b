# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch/XLA's name for a torch.nn.GRU whose steps are a loop of the program: here every torch.nn.GRU is one."""
import torch


class GRU(torch.nn.GRU):
    """torch.nn.GRU."""
