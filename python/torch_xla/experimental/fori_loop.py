# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops with a counter and loops with a condition, on the device."""
from collections.abc import Callable
from typing import Any

import torch
from torch._higher_order_ops.while_loop import while_loop  # noqa: F401  (on the device: _control_flow.py)

from ._control_flow import _to_device, _while_loop_op, while_loop as _while_loop


def _xla_while_loop_wrapper(cond_fn, body_fn, carried_inputs, additional_inputs=(), fake_tensor=False):
    """torch._higher_order_ops.while_loop() on the device, without its checks. `fake_tensor`: no effect."""
    return list(_while_loop_op(cond_fn, body_fn, tuple(carried_inputs), tuple(additional_inputs or ())))


def fori_loop(lower: int | torch.Tensor, upper: int | torch.Tensor, body_fun: Callable[..., Any],
              *input_value: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Runs a function upper - lower times, as one loop of the program.

    Args:
      lower: The first value of the counter, an integer or an integer tensor of one element.
      upper: The value of the counter at which the loop ends.
      body_fun: The body: body_fun(*values) returns the next values, of the same sizes and types; if they are fewer, they replace the last ones. It
        does not get the counter.
      *input_value: The values before the first iteration.

    Returns:
      The counter and the bound after the loop, followed by the values.

    Raises:
      ValueError: The body returns more values than it gets.
    """
    values = [_to_device(value) for value in input_value]
    bounds = [_to_device(bound) for bound in (lower, upper)]

    def step(now, end, *values):
        made = body_fun(*values)
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        if len(made) > len(values):
            raise ValueError(f"expects the body to return at most {len(values)} values, but got {len(made)}")
        return [now + 1, end.clone()] + [v.clone() for v in values[:len(values) - len(made)]] + made
    return tuple(_while_loop(lambda now, end, *values: (now < end).reshape(()), step, bounds + values))
