# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental.gradient_accumulation: gradients over several batches as one loop of the program."""
from collections.abc import Callable, Iterable
from typing import Any

import torch

from ._control_flow import _to_device, scan


def _differentiated(train_step, weights, batch, carried, count):
    """One iteration: [loss, new carried tensors, gradients], the loss and the gradients divided by `count`."""
    given = [*batch, *carried]
    versions = [tensor._version for tensor in given]
    with torch.enable_grad():
        result = train_step(*given)
        loss, *rest = result if isinstance(result, (tuple, list)) else (result,)
        if len(rest) not in (0, len(carried)):
            raise ValueError(f"expects train_step to return {len(carried)} carried tensors, but got {len(rest)}")
        loss = loss / count
        gradients = torch.autograd.grad(loss, weights, allow_unused=True) if weights else []
    if [tensor._version for tensor in given] != versions:
        raise AssertionError("train_step changed one of its arguments in place: return the new value instead")
    gradients = [torch.zeros_like(w) if g is None else g for w, g in zip(weights, gradients)]
    return [loss.detach(), *(_to_device(value).detach() for value in rest or [c.clone() for c in carried]), *gradients]


def gradient_accumulation(train_step: Callable[..., Any], iterable_tensors: Iterable[torch.Tensor], model: torch.nn.Module,
                          *carried_tensors: Any) -> tuple[torch.Tensor, ...]:
    """Computes the mean gradient over several batches as one loop of the program, without a step barrier between them.

    Args:
      train_step: A function of a batch and the carried tensors, which is recorded once; it returns the loss, or a tuple of the loss and the next
        carried tensors.
      iterable_tensors: Tensors whose slices along dimension 0 are the batches.
      model: The module; the gradients of its parameters grow by the mean of the batches' gradients.
      *carried_tensors: Tensors that go from one batch to the next; PyTorch/XLA 2.6 passes them as one list.

    Returns:
      The mean of the losses, and the last carried tensors.

    Raises:
      ValueError: The numbers of batches differ or are 0, or `train_step` returns another number of carried tensors.
      AssertionError: `train_step` changes an argument in place.
    """
    if len(carried_tensors) == 1 and isinstance(carried_tensors[0], (tuple, list)):  # PyTorch/XLA 2.6 passes one list
        carried_tensors = tuple(carried_tensors[0])
    tensors = [_to_device(tensor) for tensor in iterable_tensors]
    counts = {tensor.size(0) for tensor in tensors}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(f"expects tensors with as many batches in dim 0, at least one, but got {[t.size(0) for t in tensors]}")
    count = counts.pop()
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    carried = [_to_device(value).detach() for value in carried_tensors]
    split = 1 + len(carried)

    def step(*now):
        sums, carry, batch = now[:1] + now[split:split + len(weights)], now[1:split], now[split + len(weights):]
        loss, *rest = _differentiated(train_step, weights, batch, carry, count)
        new, gradients = rest[:len(carry)], rest[len(carry):]
        return [sums[0] + loss, *new, *(s + g for s, g in zip(sums[1:], gradients))]
    with torch.no_grad():
        total = torch.zeros((), dtype=weights[0].dtype if weights else torch.float32, device="xla")
        made = scan(step, [total, *carried, *map(torch.zeros_like, weights)], [tensor.detach() for tensor in tensors], count)
    for weight, gradient in zip(weights, made[split:]):
        weight.grad = gradient if weight.grad is None else weight.grad + gradient
    return tuple(made[:split])
