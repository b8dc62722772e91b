# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.syncfree.SGD."""
import torch

from . import _functional
from ._step import Step


class SGD(Step, torch.optim.SGD):
    """torch.optim.SGD whose step takes `found_inf`."""

    def _init_state(self, group, p, state):
        if group["momentum"] != 0:
            state["momentum_buffer"] = torch.zeros_like(p)

    def _update(self, group, params, states, found_inf):
        _functional.sgd_step(found_inf, [s["step"] for s in states], params, [p.grad for p in params],
                             [s.get("momentum_buffer") for s in states], weight_decay=group["weight_decay"],
                             momentum=group["momentum"], lr=group["lr"], dampening=group["dampening"],
                             nesterov=group["nesterov"], maximize=group["maximize"])
