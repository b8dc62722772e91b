# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives that gradients go through, and layers made of them. A gradient is that of the replica's own loss: it is not exchanged, except by
SyncBatchNorm and AllReduceSumLayer."""
from typing import Any

import torch
import torch.nn.functional as F

from . import xla_model as xm


class AllReduce(torch.autograd.Function):
    """The reduction over replicas as an autograd function; the gradient is that of the replica's own tensor."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, reduce_type: str, scale: float, groups: list[list[int]] | None) -> torch.Tensor:
        """Returns the reduction of the replicas' tensors.

        Args:
          input: The tensor of this replica.
          reduce_type: A kind of reduction, such as xm.REDUCE_SUM.
          scale: A factor of the result.
          groups: Groups of replicas that reduce separately; None: all are one group.
        """
        ctx.reduction = reduce_type, scale
        output = xm.all_reduce(reduce_type, input, scale=scale, groups=groups)
        ctx.save_for_backward(input, output)
        return output

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradients for the arguments of forward().

        Args:
          grad_output: The gradient of the result.

        Raises:
          RuntimeError: The reduction has no gradient, as that of bits.
        """
        (reduce_type, scale), (input, output) = ctx.reduction, ctx.saved_tensors
        if reduce_type == xm.REDUCE_SUM:
            made = grad_output * scale
        elif reduce_type == xm.REDUCE_MUL:
            made = grad_output * output / input
        elif reduce_type in (xm.REDUCE_MIN, xm.REDUCE_MAX):
            made = grad_output * scale * (input * scale == output).to(grad_output.dtype)
        else:
            raise RuntimeError(f"all_reduce of the kind {reduce_type!r} has no gradient")
        return made, None, None, None


def all_reduce(reduce_type: str, value: torch.Tensor, scale: float = 1.0, groups: xm.Groups = None) -> torch.Tensor:
    """Reduces a tensor over all replicas, as xm.all_reduce() does, in a way that autograd differentiates.

    As in PyTorch/XLA, the gradient is that of this replica's loss alone: it is not reduced. Unlike there, the gradient of a product is NaN, and not
    0, where the tensor is 0, and that of a minimum or maximum takes `scale` into account.

    Args:
      reduce_type: A kind of reduction: xm.REDUCE_SUM, REDUCE_MUL, REDUCE_MIN or REDUCE_MAX.
      value: The tensor of this replica.
      scale: A factor of the result.
      groups: Groups of replicas that reduce separately; None: all are one group.

    Raises:
      RuntimeError: In the backward pass, for a reduction that has no gradient.
    """
    return AllReduce.apply(value, reduce_type, scale, groups)


class AllGather(torch.autograd.Function):
    """The concatenation of the replicas' tensors as an autograd function; the gradient is the shard of this replica."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, dim: int) -> torch.Tensor:
        """Returns the tensors of all replicas along a dimension, in the order of their ranks.

        Args:
          input: The tensor of this replica.
          dim: The dimension.
        """
        ctx.place = dim, input.shape[dim] * xm.get_ordinal(), input.shape[dim]
        return xm.all_gather(input, dim=dim)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradients for the arguments of forward().

        Args:
          grad_output: The gradient of the result.
        """
        dim, start, size = ctx.place
        return grad_output.narrow(dim, start, size), None


def all_gather(value: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """Concatenates the tensors of all replicas, as xm.all_gather() does, in a way that autograd differentiates.

    Args:
      value: The tensor of this replica, of equal sizes on all.
      dim: The dimension along which they are concatenated.
    """
    return AllGather.apply(value, dim)


def distributed_mm(w: torch.Tensor, x: torch.Tensor, split: int = 1) -> torch.Tensor:
    """Multiplies a matrix whose columns are sharded over the replicas: all_gather(w, dim=1) @ x.

    Args:
      w: The columns of this replica, (N, M / world).
      x: A matrix (M, K).
      split: The number of blocks of w's rows that are gathered one after the other, to use less memory.

    Raises:
      ValueError: The sizes do not fit.
    """
    world = xm.xrt_world_size()
    if w.dim() != 2 or x.dim() != 2 or w.size(1) * world != x.size(0):
        raise ValueError(f"expects matrices (N, M/{world}) and (M, K) of {world} replicas, but got {tuple(w.shape)} and {tuple(x.shape)}")
    return torch.cat([all_gather(piece, dim=1) @ x for piece in w.split(-(-w.size(0) // split), dim=0)], dim=0)


class AllReduceSumLayer(torch.autograd.Function):
    """The sum over replicas as an autograd function; the gradient is summed over the replicas, too."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        """Returns the sum of the replicas' tensors.

        Args:
          x: The tensor of this replica.
        """
        return xm.all_reduce(xm.REDUCE_SUM, x)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> torch.Tensor:
        """Returns the sum of the replicas' gradients.

        Args:
          grad_output: The gradient of the result on this replica.
        """
        return xm.all_reduce(xm.REDUCE_SUM, grad_output)


class SyncBatchNorm(torch.nn.Module):
    """Batch normalization over the batches of all replicas; they exchange sums, and no elements of the batches.

    Args:
      num_features: The size of dimension 1 of a batch.
      eps: A value that is added to the variance.
      momentum: The weight of a batch in the running mean and variance.
    """

    def __init__(self, num_features: int, eps: float = 1e-05, momentum: float = 0.1) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.weight = torch.nn.Parameter(torch.ones(num_features))
        self.bias = torch.nn.Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Normalizes dimension 1 of a batch.

        Raises:
          ValueError: The batch does not have the sizes (N, num_features, ...).
        """
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

    def extra_repr(self) -> str:
        """Returns what print(module) shows."""
        return f"{self.num_features}, eps={self.eps}, momentum={self.momentum}"
