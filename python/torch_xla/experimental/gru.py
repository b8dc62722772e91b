# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch/XLA's name for a torch.nn.GRU whose steps are a loop of the program. Here every torch.nn.GRU is one, in both directions and on
packed sequences, so it is the same class. PyTorch/XLA replaces torch.nn.GRU and keeps PyTorch's as torch.nn.GRU._orig, see _recurrent."""
import torch

GRU = torch.nn.GRU
