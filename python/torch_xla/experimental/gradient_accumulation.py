# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental.gradient_accumulation."""
import torch


def gradient_accumulation(train_step, iterable_tensors, model, *carried_tensors):
    """Gradients over several batches, without a barrier between them.

    Calls train_step(*batch, *carried) for every batch, the slices of `iterable_tensors` along their dim 0; it returns the loss,
    or a tuple of the loss and new carried tensors. Every loss goes backward, so the gradients of `model` are their sum; scale
    the loss in train_step for a mean. Returns (sum of the losses, *carried tensors)."""
    tensors = list(iterable_tensors)
    counts = {tensor.size(0) for tensor in tensors}
    if len(counts) != 1 or 0 in counts:
        raise ValueError(f"expects tensors with as many batches in dim 0, at least one, but got {[t.size(0) for t in tensors]}")
    del model  # its gradients are where autograd puts them
    total, carried = None, list(carried_tensors)
    for batch in zip(*(tensor.unbind(0) for tensor in tensors)):
        result = train_step(*batch, *carried)
        loss, *rest = result if isinstance(result, (tuple, list)) else (result,)
        if len(rest) not in (0, len(carried)):
            raise ValueError(f"train_step returned {len(rest)} carried tensors, but got {len(carried)}")
        carried = [value.detach() if isinstance(value, torch.Tensor) else value for value in rest] or carried
        loss.backward()
        total = loss.detach() if total is None else total + loss.detach()
    return (total, *carried)
