# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.syncfree.Adam."""
import torch

from . import _functional


class Adam(torch.optim.Adam):
    """torch.optim.Adam whose step takes `found_inf`."""

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
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                    if group["amsgrad"]:
                        state["max_exp_avg_sq"] = torch.zeros_like(p)
            states = [self.state[p] for p in params]
            beta1, beta2 = group["betas"]
            _functional.adam_step(found_inf, [s["step"] for s in states], params, [p.grad for p in params],
                                  [s["exp_avg"] for s in states], [s["exp_avg_sq"] for s in states],
                                  [s.get("max_exp_avg_sq") for s in states], amsgrad=group["amsgrad"], beta1=beta1, beta2=beta2,
                                  lr=group["lr"], weight_decay=group["weight_decay"], eps=group["eps"],
                                  maximize=group["maximize"], use_adamw=False)
        return loss
