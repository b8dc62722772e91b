# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ZeRO stage 1: every replica keeps the optimizer's state of its shard of the parameters."""
import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

from ..core import _coalesced
from ..core import xla_model as xm


def _hyperparameters(group):
    return {name: value for name, value in group.items() if name != "params"}


class ZeroRedundancyOptimizer(torch.optim.Optimizer):
    """An optimizer whose state is sharded over the replicas along dimension 0 of the parameters (ZeRO stage 1).

    step() reduces and scatters the gradients, divides them by the number of replicas, clips their norm, updates the shards and gathers the parameters.

    Args:
      params: The parameters, on the device.
      optimizer_class: The class of the optimizer that updates the shards.
      optimizer_dtype: The type of the shards, float32 by default. Shards of another type than their parameters are kept from step to step; others are
        taken from the parameters in each step and have no elements between steps.
      grad_clipping: Whether the norm of the gradients is clipped.
      max_norm: The largest norm, 1.0 by default.
      pin_layout: Has no effect.
      sharding_groups: Groups of replicas among which the state is sharded.
      grad_norm_groups: Replicas that have other parameters of the same model, over which the norm is summed, too.
      lazy_init: Whether the user calls init_zero().
      bucket_cap_mb_all_gather: The most MiB that one operation gathers; 0: 32.
      bucket_cap_mb_reduce_scatter: The most MiB that one operation reduces; 0: one operation for all small gradients, and one for each large one.
      use_grad_acc_hook: Whether gradients of several backward passes are accumulated in optimizer_dtype, in the attribute main_grad of each
        parameter, whose grad is None after a backward pass; zero_grad() removes them.
      save_master_weights: Whether all shards are kept from step to step, and are part of the state_dict.
      higher_cc_precision: Whether replicas reduce gradients in optimizer_dtype.
      **defaults: Arguments of optimizer_class.

    Raises:
      ValueError: A parameter is not on the device.
    """

    def __init__(self, params: Any, optimizer_class: type[torch.optim.Optimizer], optimizer_dtype: torch.dtype | None = None, grad_clipping: bool = True, max_norm: float | None = None, pin_layout: bool = True,
                 sharding_groups: list[list[int]] | None = None, grad_norm_groups: list[list[int]] | None = None, lazy_init: bool = False, bucket_cap_mb_all_gather: int = 0,
                 bucket_cap_mb_reduce_scatter: int = 0, use_grad_acc_hook: bool = False, save_master_weights: bool = False, higher_cc_precision: bool = False,
                 **defaults: Any) -> None:
        super().__init__(params, defaults)
        self.use_grad_acc_hook, self.higher_cc_precision = use_grad_acc_hook, higher_cc_precision
        self._hooks: list[Any] = []
        self.optimizer_class, self.optimizer_dtype = optimizer_class, optimizer_dtype or torch.float32
        self.grad_clipping, self.max_norm = grad_clipping, 1.0 if max_norm is None else max_norm
        self.pin_layout, self.save_master_weights = pin_layout, save_master_weights
        self._gather_bytes, self._scatter_bytes = int(bucket_cap_mb_all_gather * 1024 * 1024), int(bucket_cap_mb_reduce_scatter * 1024 * 1024)
        self._groups, self.grad_norm_groups = sharding_groups, grad_norm_groups
        self._grad_norm: Any = None
        self.base_optimizer: Any = None
        if not lazy_init:
            self.init_zero()

    def init_zero(self) -> None:
        """Creates the shards and their optimizer."""
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._pairs, groups = [], []
        for group in self.param_groups:
            parts = []
            for parameter in group["params"]:
                if parameter.device.type != "xla":
                    raise ValueError("expects parameters on the device: move the model before the optimizer is made")
                part = torch.nn.Parameter(self._own(parameter.data).to(self.optimizer_dtype).clone(), requires_grad=parameter.requires_grad)
                parts.append(part)
                if self.use_grad_acc_hook and parameter.requires_grad:
                    self._hooks.append(parameter.register_post_accumulate_grad_hook(self._accumulate))
                self._pairs.append((parameter, part))
            groups.append({**_hyperparameters(group), "params": parts})
        self.base_optimizer = self.optimizer_class(groups, **self.defaults)
        self._nothing = torch.empty(0, dtype=self.optimizer_dtype, device="xla")  # the data of shards between steps, one empty tensor for all
        self._release()
        for group, base in zip(self.param_groups, self.base_optimizer.param_groups):  # defaults of the class
            group.update({name: value for name, value in _hyperparameters(base).items() if name not in group})

    sharding_groups = property(lambda self: self._groups, doc="The groups of replicas among which the parameters are split.")
    grad_norm = property(lambda self: self._grad_norm, doc="The norm of the gradients in the last step, before they were clipped.")

    @property
    def _world(self):
        return len(self._groups[0]) if self._groups else xm.xrt_world_size()

    @property
    def _rank(self):
        return next(g for g in self._groups if xm.get_ordinal() in g).index(xm.get_ordinal()) if self._groups else xm.get_ordinal()

    @torch.no_grad()
    def _accumulate(self, parameter):
        """Adds what a backward pass has given to a parameter to its main_grad."""
        gradient, before = parameter.grad.to(self.optimizer_dtype), getattr(parameter, "main_grad", None)
        parameter.main_grad = gradient if before is None else before + gradient
        parameter.grad = None

    def _gradient(self, parameter):
        """What a step takes for the gradient of a parameter, or None."""
        gradient = getattr(parameter, "main_grad", None) if self.use_grad_acc_hook else parameter.grad
        return gradient.to(self.optimizer_dtype) if gradient is not None and self.higher_cc_precision else gradient

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Takes away the gradients, or makes zeros of them; main_grad is taken away in any case."""
        super().zero_grad(set_to_none)
        if self.use_grad_acc_hook:
            for parameter, _ in self._pairs:
                parameter.main_grad = None

    def _keeps(self, parameter, part):
        return self.save_master_weights or parameter.dtype != part.dtype

    @torch.no_grad()
    def _release(self):
        """Takes the elements of the parts that the parameters have, too."""
        for parameter, part in self._pairs:
            if not self._keeps(parameter, part):
                part.data = self._nothing

    def _padded(self, tensor):
        missing = -tensor.size(0) % self._world if tensor.dim() else 0
        return F.pad(tensor, [0, 0] * (tensor.dim() - 1) + [0, missing]) if missing else tensor

    def _own(self, tensor):
        """This replica's part of a whole tensor; scalars are whole everywhere."""
        return self._padded(tensor).chunk(self._world)[self._rank] if tensor.dim() else tensor

    def _scatter(self, gradients):
        """Returns the parts of the sums of gradients, divided by the number of replicas; of scalars the whole."""
        scale, made = 1.0 / self._world, [None] * len(gradients)
        scalars = [index for index, gradient in enumerate(gradients) if not gradient.dim()]
        if scalars:
            reduced = xm.all_reduce(xm.REDUCE_SUM, [gradients[index].clone() for index in scalars], scale=scale, groups=self._groups, pin_layout=self.pin_layout)
            for index, value in zip(scalars, reduced):
                made[index] = value
        for dtype in dict.fromkeys(gradient.dtype for gradient in gradients):
            indices = [index for index, gradient in enumerate(gradients) if gradient.dim() and gradient.dtype == dtype]
            scatter = functools.partial(xm.reduce_scatter, xm.REDUCE_SUM, scale=scale, scatter_dim=0, shard_count=self._world, groups=self._groups,
                                        pin_layout=self.pin_layout)
            parts = _coalesced.reduce_scatter([self._padded(gradients[index]) for index in indices], self._world, scatter, self._scatter_bytes)
            for index, part in zip(indices, parts):
                made[index] = part
        return made

    def _gather(self, there):
        """Gives parameters the values of all their parts; `there`: pairs of both."""
        for parameter, part in there:
            if not parameter.dim():
                parameter.data.copy_(part.data)
        for dtype in dict.fromkeys(parameter.dtype for parameter, _ in there):
            pairs = [(parameter, part.data.to(dtype)) for parameter, part in there if parameter.dim() and parameter.dtype == dtype]
            sizes = [part.numel() * part.element_size() for _, part in pairs]
            for bucket in _coalesced.buckets(sizes, self._gather_bytes or _coalesced.GATHER_BYTES // self._world):
                wholes = _coalesced.all_gather([pairs[index][1] for index in bucket], self._groups)
                for index, whole in zip(bucket, wholes):
                    parameter = pairs[index][0]
                    parameter.data.copy_(whole[:parameter.size(0)])

    def _clip(self, gradients):
        square = sum(gradient.float().square().sum() for gradient in gradients)
        square = xm.all_reduce(xm.REDUCE_SUM, square, groups=self._groups, pin_layout=self.pin_layout)
        if self.grad_norm_groups is not None:
            square = xm.all_reduce(xm.REDUCE_SUM, square, groups=self.grad_norm_groups, pin_layout=self.pin_layout)
        self._grad_norm = square.sqrt()
        factor = torch.clamp(self.max_norm / (self._grad_norm + 1e-6), max=1.0)
        for gradient in gradients:
            gradient.mul_(factor.to(gradient.dtype))

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Reduces the gradients, updates the shards of this replica, and gathers the parameters.

        Args:
          closure: Computes the loss again; None: nothing does.
          **kwargs: Further arguments of the base optimizer's step().

        Returns:
          The result of `closure`, or None.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group, base in zip(self.param_groups, self.base_optimizer.param_groups):  # a scheduler may have changed the values
            base.update({name: value for name, value in _hyperparameters(group).items() if name in base})
        found = [(pair, gradient) for pair in self._pairs if (gradient := self._gradient(pair[0])) is not None]
        parts = self._scatter([gradient for _, gradient in found])
        there = [pair for pair, _ in found]
        for (parameter, part), gradient in zip(there, parts):
            if not self._keeps(parameter, part):
                part.data = self._own(parameter.data).clone()
            part.grad = gradient.to(self.optimizer_dtype)
        gradients = [part.grad for _, part in self._pairs if part.grad is not None]
        if self.grad_clipping and gradients:
            self._clip(gradients)
        self.base_optimizer.step(**kwargs)
        self._gather(there)
        self.base_optimizer.zero_grad(set_to_none=True)
        self._release()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """Returns the state of an optimizer, with that of the shards as "base_state" and the sizes of the parameters as "shape_info"."""
        made = super().state_dict()
        made["base_state"] = self.base_optimizer.state_dict()["state"]
        made["shape_info"] = {number: tuple(parameter.shape) for number, (parameter, _) in enumerate(self._pairs)}
        if self.save_master_weights:
            made["sharded_master_weights"] = {number: part.data for number, (_, part) in enumerate(self._pairs)}
        return made

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores the state that state_dict() of this replica returned.

        Args:
          state_dict: The state.

        Raises:
          ValueError: It is that of another optimizer.
        """
        state_dict = dict(state_dict)
        if "base_state" not in state_dict:
            raise ValueError("expects the state of a ZeroRedundancyOptimizer, with base_state")
        base, weights = state_dict.pop("base_state"), state_dict.pop("sharded_master_weights", None)
        state_dict.pop("shape_info", None)
        super().load_state_dict(state_dict)
        groups = self.base_optimizer.state_dict()["param_groups"]
        for group, own in zip(groups, self.param_groups):
            group.update({name: value for name, value in _hyperparameters(own).items() if name in group})
        self.base_optimizer.load_state_dict({"state": base, "param_groups": groups})
        if weights is not None:
            with torch.no_grad():
                for number, (_, part) in enumerate(self._pairs):
                    part.data = weights[number].to(device=part.device, dtype=part.dtype, copy=True)
                self._gather([pair for pair in self._pairs if not self._keeps(*pair)])
                self._release()
