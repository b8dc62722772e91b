# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code that the steps of all syncfree optimizers share."""
from collections.abc import Callable
from typing import Any

import torch


class Step:
    """step(found_inf=...) for an optimizer that says what a parameter's state is and how a group is updated."""

    param_groups: list[dict[str, Any]]  # these two are PyTorch's Optimizer's
    state: Any
    _init_state: Callable[..., None]  # these two are the subclass's
    _update: Callable[..., None]

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None, found_inf: torch.Tensor | None = None) -> Any:
        """Updates the parameters, unless the gradients are infinite; the device decides, and nothing is read.

        Args:
          closure: Computes the loss again; None: nothing does.
          found_inf: A tensor of one element that is not 0 if a gradient is not finite, from GradScaler; None: the update is made.

        Returns:
          The result of `closure`, or None.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            for p in params:
                state = self.state[p]
                if not state:
                    state["step"] = torch.zeros((), dtype=torch.float32, device=p.device)
                    self._init_state(group, p, state)
            self._update(group, params, [self.state[p] for p in params], found_inf)
        return loss
