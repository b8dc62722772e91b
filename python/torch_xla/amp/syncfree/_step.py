# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code that the steps of all syncfree optimizers share."""
import torch


class Step:
    """step(found_inf=...) for an optimizer that says what a parameter's state is and how a group is updated."""

    @torch.no_grad()
    def step(self, closure=None, found_inf=None):
        """A step, unless `found_inf` (a tensor of one element) is not 0. Returns what the closure does."""
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
