# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.syncfree.SGD."""
import torch

from . import _functional


class SGD(torch.optim.SGD):
    """torch.optim.SGD whose step takes `found_inf`."""

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
                    if group["momentum"] != 0:
                        state["momentum_buffer"] = torch.zeros_like(p)
            states = [self.state[p] for p in params]
            _functional.sgd_step(found_inf, [s["step"] for s in states], params, [p.grad for p in params],
                                 [s.get("momentum_buffer") for s in states], weight_decay=group["weight_decay"],
                                 momentum=group["momentum"], lr=group["lr"], dampening=group["dampening"],
                                 nesterov=group["nesterov"], maximize=group["maximize"])
        return loss
