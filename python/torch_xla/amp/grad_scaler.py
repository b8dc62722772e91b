# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.GradScaler, and PyTorch's two kernels for gradient scaling as recorded operations."""
from typing import Any

import torch


class GradScaler(torch.amp.GradScaler):
    """torch.amp.GradScaler("xla").

    Optimizers of torch_xla.amp.syncfree skip a step with infinite gradients on the device; for others the host reads whether there are some, which
    executes the pending graph.

    Args:
      init_scale: The first factor of the loss.
      growth_factor: What the factor is multiplied by after `growth_interval` finite steps.
      backoff_factor: What the factor is multiplied by after a step with infinite gradients.
      growth_interval: The number of steps.
      enabled: Whether losses are scaled.
      use_zero_grad: Whether infinite gradients are replaced by zeros and every step is made, so that nothing is read.
    """

    def __init__(self, init_scale: float = 2.0 ** 16, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
                 use_zero_grad: bool = False) -> None:
        super().__init__("xla", init_scale=init_scale, growth_factor=growth_factor, backoff_factor=backoff_factor,
                         growth_interval=growth_interval, enabled=enabled)
        self._use_zero_grad = use_zero_grad

    def _maybe_opt_step(self, optimizer, optimizer_state, *args, **kwargs):
        from .syncfree import SYNCFREE
        found = sum(found.to("xla") for found in optimizer_state["found_inf_per_device"].values())
        if isinstance(optimizer, SYNCFREE):
            return optimizer.step(*args, found_inf=found, **kwargs)
        if self._use_zero_grad:
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if parameter.grad is not None:
                        parameter.grad.copy_(torch.where(found > 0, torch.zeros_like(parameter.grad), parameter.grad))
            return optimizer.step(*args, **kwargs)
        return super()._maybe_opt_step(optimizer, optimizer_state, *args, **kwargs)


def _check_and_unscale(tensors, found_inf, inv_scale):
    """Multiplies the gradients by 1/scale, and notes in found_inf (0 or 1) whether one of them is not finite."""
    for tensor in tensors:
        bad = tensor.isfinite().all().logical_not()
        found_inf.copy_(torch.maximum(found_inf, bad.to(found_inf.dtype).reshape(found_inf.shape)))
        tensor.mul_(inv_scale.reshape(()).to(tensor.dtype))


def _update_scale(scale, growth_tracker, found_inf, growth_factor, backoff_factor, growth_interval):
    """The scale shrinks after a step with infinite gradients, and grows after `growth_interval` steps without."""
    bad = found_inf > 0
    steps = growth_tracker + 1
    grown = scale * growth_factor
    grows = (steps == growth_interval) & grown.isfinite()
    scale.copy_(torch.where(bad, scale * backoff_factor, torch.where(grows, grown, scale)))
    growth_tracker.copy_(torch.where(bad | (steps == growth_interval), torch.zeros_like(steps), steps))
    return scale


def install(library: Any) -> None:
    """Registers the two kernels of gradient scaling for the device; torch_xla calls it once.

    Args:
      library: The torch.library.Library of aten.
    """
    library.impl("_amp_foreach_non_finite_check_and_unscale_", _check_and_unscale, "XLA")
    library.impl("_amp_update_scale_", _update_scale, "XLA")
