# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch/XLA's name for a torch.nn.GRU whose steps are a loop of the program: here every torch.nn.GRU is one."""
import torch


class GRU(torch.nn.GRU):
    """torch.nn.GRU with PyTorch/XLA's parameters."""

    def __init__(self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False):
        super().__init__(input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional)
