# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prepares optimizers whose state is to be loaded."""
import torch

import torch_xla
from ...core import xla_model as xm


def prime_optimizer(optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
    """Gives a new optimizer its state, so that a checkpoint can be loaded into it: one step with gradients of zero, sharded as their parameters.

    The step may change parameters (weight decay), so load them, too.

    Args:
      optimizer: The optimizer.

    Returns:
      `optimizer`.
    """
    xlac = torch_xla._XLAC
    torch_xla.sync()
    xm.wait_device_ops()
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if not parameter.requires_grad:
                continue
            parameter.grad = torch.zeros_like(parameter, requires_grad=False)
            sharding = xlac._get_xla_op_sharding(parameter) if parameter.device.type == "xla" else None
            if sharding is not None:
                xlac._xla_mark_sharding(parameter.grad, sharding)
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
    xm.wait_device_ops()
    return optimizer
