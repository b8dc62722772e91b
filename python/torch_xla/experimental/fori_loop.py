# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops with a counter and loops with a condition, on the device."""
from torch._higher_order_ops.while_loop import while_loop  # noqa: F401  (on the device: _control_flow.py)

from ._control_flow import _to_device, _while_loop_op, while_loop as _while_loop


def _xla_while_loop_wrapper(cond_fn, body_fn, carried_inputs, additional_inputs=(), fake_tensor=False):
    """torch._higher_order_ops.while_loop() on the device, without its checks. `fake_tensor`: no effect."""
    return list(_while_loop_op(cond_fn, body_fn, tuple(carried_inputs), tuple(additional_inputs or ())))


def fori_loop(lower, upper, body_fun, *input_value):
    """Runs `body_fun(*values)` upper - lower times and returns (lower, upper, *values) as they are afterwards.

    `lower` and `upper` are integers or integer tensors of one element. The body returns as many values as it is given, with
    the same sizes and types; one that returns fewer changes the last ones."""
    values = [_to_device(value) for value in input_value]
    bounds = [_to_device(bound) for bound in (lower, upper)]

    def step(now, end, *values):
        made = body_fun(*values)
        made = list(made) if isinstance(made, (tuple, list)) else [made]
        if len(made) > len(values):
            raise ValueError(f"expects the body to return at most {len(values)} values, but got {len(made)}")
        return [now + 1, end.clone()] + [v.clone() for v in values[:len(values) - len(made)]] + made
    return tuple(_while_loop(lambda now, end, *values: (now < end).reshape(()), step, bounds + values))
