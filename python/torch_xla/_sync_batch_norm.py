# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.nn.SyncBatchNorm on the device. PyTorch has kernels for the statistics of several processes on its own devices only; here they are two
reductions, of sums and of squared distances from the mean, that gradients go through."""
import functools

import torch
import torch.distributed as dist
import torch.nn.functional as F


class _Sum(torch.autograd.Function):
    """The sum over the processes of a group; so is the gradient."""

    @staticmethod
    def forward(ctx, value: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
        ctx.group = group
        total = value.clone()
        dist.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        total = gradient.contiguous().clone()
        dist.all_reduce(total, group=ctx.group)
        return total, None


def _normalize(module: torch.nn.SyncBatchNorm, batch: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
    """Returns the batches (N, C, ...) of all processes of the group, normalized together. They may be of different sizes."""
    channels, shape = batch.size(1), [1, -1] + [1] * (batch.dim() - 2)
    dims = [0, *range(2, batch.dim())]
    values = batch.float() if batch.dtype in (torch.bfloat16, torch.float16) else batch
    own = torch.full((1,), batch.numel() // channels, dtype=values.dtype, device=batch.device)
    sums = _Sum.apply(torch.cat([values.sum(dims), own]), group)
    count = sums[-1].detach()
    mean = sums[:-1] / count
    distances = values - mean.reshape(shape)
    variance = _Sum.apply((distances * distances).sum(dims), group) / count
    if module.track_running_stats:
        with torch.no_grad():
            module.num_batches_tracked.add_(1)
            factor = 1.0 / module.num_batches_tracked if module.momentum is None else module.momentum
            unbiased = variance * (count / (count - 1).clamp(min=1))
            for running, seen in ((module.running_mean, mean), (module.running_var, unbiased)):
                running.copy_(running + factor * (seen.to(running.dtype) - running))
    made = distances * torch.rsqrt(variance + module.eps).reshape(shape)
    if module.affine:
        made = made * module.weight.reshape(shape) + module.bias.reshape(shape)
    return made.to(batch.dtype)


def install() -> None:
    """Replaces torch.nn.SyncBatchNorm.forward() for tensors of the device."""
    original = torch.nn.SyncBatchNorm.forward

    @functools.wraps(original)
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        if input.device.type != "xla" or not (self.training and dist.is_available() and dist.is_initialized()):
            return original(self, input)
        self._check_input_dim(input)
        self._check_non_zero_input_channels(input)
        group = self.process_group or dist.group.WORLD
        return _normalize(self, input, group) if dist.get_world_size(group) > 1 else _alone(self, input)

    torch.nn.SyncBatchNorm.forward = forward


def _alone(module: torch.nn.SyncBatchNorm, batch: torch.Tensor) -> torch.Tensor:
    """In a world of one it is a batch norm."""
    factor = module.momentum if module.momentum is not None else 0.0
    if module.track_running_stats:
        module.num_batches_tracked.add_(1)
        if module.momentum is None:
            factor = 1.0 / module.num_batches_tracked.item()
    return F.batch_norm(batch, module.running_mean if module.track_running_stats else None, module.running_var if module.track_running_stats else None,
                        module.weight, module.bias, True, factor, module.eps)
