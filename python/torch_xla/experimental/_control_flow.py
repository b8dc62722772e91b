# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's higher-order operators on the device: while_loop, cond, scan and map become loops and branches of the program.

A body is run once, on stand-ins for its arguments, and recorded. It may read any tensor from outside, draw random numbers
(others in every iteration), contain loops itself and write to a tensor from outside: the loop carries its value, too. It must not ask
for a value."""
import warnings

import torch
from torch._C import DispatchKey
from torch.utils import _pytree as pytree

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_NEEDS_VALUE = "needs the value of a tensor, which the body"  # the message of Trace.cpp


def _to_device(value):
    """Returns a tensor of the device for a tensor or a number."""
    if isinstance(value, torch.Tensor):
        return value if value.device.type == "xla" else value.to("xla")
    return torch.as_tensor(value).to("xla")


def traced(is_loop, tensors, run):
    """Returns the function that `run` computes from arguments like `tensors`; it must return a list of tensors of the device."""
    scope, stand_ins = _XLAC._body_begin(is_loop, tensors)
    try:
        results = run(*stand_ins)
        return _XLAC._body_end(scope, results)
    finally:
        _XLAC._body_abort(scope)


def while_loop(condition, body, carried):
    """Returns the last values of `carried` (tensors of the device): while condition(*carried): carried = body(*carried)."""
    test = traced(False, carried, lambda *now: [_to_device(condition(*now))])
    step = traced(True, carried, lambda *now: [_to_device(new) for new in body(*now)])
    return _XLAC._while(test, step, carried)


def recorded_step(body, like):
    """Returns the body of a loop without gradients, body(*carried, *slices) -> carried and results, for arguments like these tensors."""
    return traced(True, like, lambda *now: [_to_device(value) for value in body(*now)])


def scan(body, carried, sequences, length, reverse=False):
    """body(*carried, *slices of the sequences) -> carried and results, which are stacked. None among the results stays None."""
    present = []

    def run(*now):
        made = body(*now)
        present[:] = [value is not None for value in made]
        return [_to_device(value) for value in made if value is not None]
    if length == 0:
        raise ValueError("expects sequences that are not empty")
    like = list(carried) + [xs[0] for xs in sequences]
    step = traced(True, like, run)
    made = iter(_XLAC._scan(step, list(carried), list(sequences), length, reverse))
    return [next(made) if there else None for there in present]


def _while_loop_op(cond_fn, body_fn, carried_inputs, additional_inputs, stack_output=False, mutated_arg_indices=""):
    is_number = [not isinstance(value, torch.Tensor) for value in carried_inputs]
    try:
        made = while_loop(lambda *now: cond_fn(*now, *additional_inputs), lambda *now: body_fn(*now, *additional_inputs),
                          [_to_device(value) for value in carried_inputs])
    except RuntimeError as error:
        if _NEEDS_VALUE not in str(error):
            raise
        # PyTorch's own gradient of a while_loop indexes with a value that it reads.
        warnings.warn(f"a while_loop runs in Python, one iteration after the other: {error}", stacklevel=2)
        _XLAC._count("WhileLoopInPython")
        made = list(carried_inputs)
        while cond_fn(*made, *additional_inputs):
            made = list(body_fn(*made, *additional_inputs))
        return tuple(value.clone() if isinstance(value, torch.Tensor) else value for value in made)
    return tuple(value.item() if number else value for value, number in zip(made, is_number))


def _while_loop_stacked_op(cond_fn, body_fn, carried_inputs, additional_inputs, mutated_arg_indices=""):
    """All values that were carried. How many there are is read from the device, once: their number is a size."""
    carried = [_to_device(value) for value in carried_inputs]
    count = while_loop(lambda n, *now: cond_fn(*now, *additional_inputs),
                       lambda n, *now: (n + 1, *body_fn(*now, *additional_inputs)),
                       [torch.zeros((), dtype=torch.int64, device="xla"), *carried])[0].item()
    if count == 0:
        return tuple(value.unsqueeze(0).clone() for value in carried)

    def step(*now):
        new = list(body_fn(*now, *additional_inputs))
        return new + [value.clone() for value in new]
    return tuple(scan(step, carried, [], count)[len(carried):])


def _cond_op(pred, true_fn, false_fn, operands):
    if not isinstance(pred, torch.Tensor):
        return true_fn(*operands) if pred else false_fn(*operands)
    layout = []

    def branch(function):
        def run():
            leaves, spec = pytree.tree_flatten(function(*operands))
            layout.append((spec, [leaf is not None for leaf in leaves]))
            return [_to_device(leaf) for leaf in leaves if leaf is not None]
        return traced(False, [], run)
    yes, no = branch(true_fn), branch(false_fn)
    if layout[0] != layout[1]:
        raise RuntimeError(f"expects both branches to return the same structure, but got {layout[0]} and {layout[1]}")
    made = iter(_XLAC._branch(_to_device(pred), yes, no))
    spec, present = layout[0]
    return pytree.tree_unflatten([next(made) if there else None for there in present], spec)


def _scan_op(combine_fn, init, xs, additional_inputs):
    if not xs:
        return (*init,)
    made = scan(lambda *now: combine_fn(*now, *additional_inputs), [_to_device(value) for value in init],
                [_to_device(value) for value in xs], xs[0].shape[0])
    return tuple(made)


def _map_op(f, xs, pos_args, mutated_arg_indices=""):  # the last one since PyTorch 2.14
    if mutated_arg_indices:
        raise NotImplementedError(f"map on the device xla cannot change its inputs in place (arguments {mutated_arg_indices}): return the new "
                                  "values, or use torch._higher_order_ops.scan")
    leaves, spec = pytree.tree_flatten(xs)
    layout = []

    def step(*slices):
        made, layout_now = pytree.tree_flatten(f(*pytree.tree_unflatten(list(slices), spec), *pos_args))
        layout[:] = [layout_now]
        return made
    made = scan(step, [], [_to_device(leaf) for leaf in leaves], leaves[0].shape[0])
    return pytree.tree_unflatten(made, layout[0])


def install():
    from torch._higher_order_ops.cond import cond_op
    from torch._higher_order_ops.map import map_impl
    from torch._higher_order_ops.scan import scan_op
    from torch._higher_order_ops.while_loop import while_loop_op, while_loop_stack_output_op
    for op, function in ((while_loop_op, _while_loop_op), (while_loop_stack_output_op, _while_loop_stacked_op),
                         (cond_op, _cond_op), (scan_op, _scan_op), (map_impl, _map_op)):
        op.py_impl(DispatchKey.XLA)(function)
