# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.syncfree.Adam."""
import torch

from . import _functional
from ._step import Step


class AdamStep(Step):
    """The step of Adam and AdamW."""

    _use_adamw = False

    def _init_state(self, group, p, state):
        state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.zeros_like(p)

    def _update(self, group, params, states, found_inf):
        beta1, beta2 = group["betas"]
        _functional.adam_step(found_inf, [s["step"] for s in states], params, [p.grad for p in params],
                              [s["exp_avg"] for s in states], [s["exp_avg_sq"] for s in states],
                              [s.get("max_exp_avg_sq") for s in states], amsgrad=group["amsgrad"], beta1=beta1, beta2=beta2,
                              lr=group["lr"], weight_decay=group["weight_decay"], eps=group["eps"],
                              maximize=group["maximize"], use_adamw=self._use_adamw)


class Adam(AdamStep, torch.optim.Adam):
    """torch.optim.Adam whose step takes `found_inf`."""
