# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives that gradients go through, and layers made of them. The world has one replica today."""
import torch
import torch.nn.functional as F

from . import xla_model as xm


class AllReduce(torch.autograd.Function):
    """The reduction over replicas; the gradient is reduced alike."""

    @staticmethod
    def forward(ctx, input, reduce_type, scale, groups):
        ctx.reduction = reduce_type, scale, groups
        return xm.all_reduce(reduce_type, input, scale=scale, groups=groups)

    @staticmethod
    def backward(ctx, grad_output):
        reduce_type, scale, groups = ctx.reduction
        return xm.all_reduce(reduce_type, grad_output, scale=scale, groups=groups), None, None, None


def all_reduce(reduce_type, value, scale=1.0, groups=None):
    """xm.all_reduce() of a tensor, through which gradients go."""
    return AllReduce.apply(value, reduce_type, scale, groups)


class AllGather(torch.autograd.Function):
    """The tensors of all replicas along a dim; the gradient of the own part is summed over replicas."""

    @staticmethod
    def forward(ctx, input, dim):
        ctx.place = dim, input.shape[dim] * xm.get_ordinal(), input.shape[dim]
        return xm.all_gather(input, dim=dim)

    @staticmethod
    def backward(ctx, grad_output):
        dim, start, size = ctx.place
        return xm.all_reduce(xm.REDUCE_SUM, grad_output).narrow(dim, start, size), None


def all_gather(value, dim=0):
    """xm.all_gather() of a tensor, through which gradients go."""
    return AllGather.apply(value, dim)


def distributed_mm(w, x, split=1):
    """all_gather(w) @ x where every replica has some rows of w, in `split` pieces of x's columns to hold less at once."""
    if w.dim() != 2 or x.dim() != 2 or w.size(1) != x.size(0):
        raise ValueError(f"expects matrices (N/world, M) and (M, K), but got {tuple(w.shape)} and {tuple(x.shape)}")
    if x.size(1) % split:
        raise ValueError(f"expects a number of columns that {split} divides, but got {x.size(1)}")
    return torch.cat([all_gather(w @ piece, dim=0) for piece in x.split(x.size(1) // split, dim=1)], dim=1)


class AllReduceSumLayer(torch.autograd.Function):
    """The sum over replicas, of the gradient too."""

    @staticmethod
    def forward(ctx, x):
        return xm.all_reduce(xm.REDUCE_SUM, x)

    @staticmethod
    def backward(ctx, grad_output):
        return xm.all_reduce(xm.REDUCE_SUM, grad_output)


class SyncBatchNorm(torch.nn.Module):
    """Batch normalization over the batches of all replicas, without gathering them: sums are reduced."""

    def __init__(self, num_features, eps=1e-05, momentum=0.1):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight = torch.nn.Parameter(torch.ones(num_features))
        self.bias = torch.nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, batch):
        """Normalizes dim 1 of a batch of at least two dims."""
        if batch.dim() < 2 or batch.size(1) != self.num_features:
            raise ValueError(f"expects a batch of sizes (N, {self.num_features}, ...), but got {tuple(batch.shape)}")
        if not self.training:
            return F.batch_norm(batch, self.running_mean, self.running_var, self.weight, self.bias, False, 0.0, self.eps)
        dims = [0, *range(2, batch.dim())]
        count = batch.numel() // self.num_features * xm.xrt_world_size()
        sums = AllReduceSumLayer.apply(torch.stack([batch.sum(dims), (batch * batch).sum(dims)]))
        mean, variance = sums[0] / count, sums[1] / count - (sums[0] / count) ** 2
        with torch.no_grad():
            self.running_mean.lerp_(mean.detach(), self.momentum)
            self.running_var.lerp_(variance.detach() * (count / max(count - 1, 1)), self.momentum)
        shape = [1, -1] + [1] * (batch.dim() - 2)
        scale = (self.weight * torch.rsqrt(variance + self.eps)).reshape(shape)
        return (batch - mean.reshape(shape)) * scale + self.bias.reshape(shape)

    def extra_repr(self):
        """What print(module) shows."""
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"
