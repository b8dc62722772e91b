# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers take their foreach form by default, as on the other accelerators: one dispatch for all parameters. fused=True is there
too; what it computes is one kernel per parameter or fewer, as the compiler decides, like everything else."""
import contextlib
import functools
import importlib
import sys
from collections.abc import Callable

import torch
import torch.utils._foreach_utils as foreach


@contextlib.contextmanager
def _unless(found_inf, lists):
    """What is written to the tensors of `lists` holds where `found_inf` is 0: GradScaler skips a step without asking the device."""
    before = [(tensor, tensor.clone()) for tensors in lists for tensor in tensors] if found_inf is not None else []
    yield
    for tensor, old in before:
        tensor.copy_(torch.where(found_inf != 0, old, tensor))


def _gradients(grads, grad_scale, maximize):
    """What the step descends along; unscaled gradients are written back."""
    if grad_scale is not None:
        torch._foreach_div_(grads, grad_scale)
    return torch._foreach_neg(grads) if maximize else grads


def _adam(decouples):
    def step(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, *, lr, beta1, beta2, weight_decay, eps, amsgrad, maximize,
             grad_scale=None, found_inf=None):
        grads = _gradients(grads, grad_scale, maximize)
        with _unless(found_inf, (params, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)):
            if weight_decay and decouples:
                torch._foreach_mul_(params, 1 - lr * weight_decay)
            elif weight_decay:
                grads = torch._foreach_add(grads, params, alpha=weight_decay)
            torch._foreach_lerp_(exp_avgs, grads, 1 - beta1)
            torch._foreach_mul_(exp_avg_sqs, beta2)
            torch._foreach_addcmul_(exp_avg_sqs, grads, grads, 1 - beta2)
            if amsgrad:
                torch._foreach_maximum_(max_exp_avg_sqs, exp_avg_sqs)
            for p, first, second, t in zip(params, exp_avgs, max_exp_avg_sqs if amsgrad else exp_avg_sqs, steps):
                size = lr / (1 - beta1 ** t)
                p.sub_(size * first / (second.sqrt() / (1 - beta2 ** t).sqrt() + eps))
    return step


def _sgd(params, grads, momentum_buffers, *, weight_decay, momentum, lr, dampening, nesterov, maximize, is_first_step, grad_scale=None,
         found_inf=None):
    grads = _gradients(grads, grad_scale, maximize)
    with _unless(found_inf, (params, momentum_buffers)):
        if weight_decay:
            grads = torch._foreach_add(grads, params, alpha=weight_decay)
        if momentum:
            if is_first_step:
                torch._foreach_copy_(momentum_buffers, grads)
            else:
                torch._foreach_mul_(momentum_buffers, momentum)
                torch._foreach_add_(momentum_buffers, grads, alpha=1 - dampening)
            grads = torch._foreach_add(grads, momentum_buffers, alpha=momentum) if nesterov else momentum_buffers
        torch._foreach_sub_(params, torch._foreach_mul(grads, lr))


def _adagrad(params, grads, state_sums, steps, *, lr, lr_decay, weight_decay, eps, maximize, grad_scale=None, found_inf=None):
    grads = _gradients(grads, grad_scale, maximize)
    with _unless(found_inf, (params, state_sums)):
        if weight_decay:
            grads = torch._foreach_add(grads, params, alpha=weight_decay)
        torch._foreach_addcmul_(state_sums, grads, grads, 1)
        for p, gradient, total, t in zip(params, grads, state_sums, steps):
            p.sub_(lr / (1 + (t - 1) * lr_decay) * gradient / (total.sqrt() + eps))


_library = torch.library.Library("aten", "IMPL")


# torch.distributed.optim compiles optimizers and the functions that they call with TorchScript, which requires annotations and reads closures.


def _with_xla(original: Callable[[], list[str]]) -> Callable[[], list[str]]:
    def devices() -> list[str]:
        return original() + ["xla"]
    return devices


def _always_with_xla(original: Callable[[bool], list[str]]) -> Callable[[bool], list[str]]:
    def devices(supports_xla: bool = True) -> list[str]:
        return original(True)
    return devices


def _unless_differentiable(original):
    """Returns the choice between lists and single tensors, told whether the step is differentiable. SGD leaves that out, and the gradient of a sum of
    lists keeps the parameters, which the step then writes to."""
    @functools.wraps(original)
    def choice(params, differentiable, use_fused=False):
        return original(params, differentiable or torch.is_grad_enabled(), use_fused)
    return choice


def install():
    optimizer = importlib.import_module("torch.optim.optimizer")
    for name in ("_get_foreach_kernels_supported_devices", "_get_fused_kernels_supported_devices"):
        devices = _with_xla(getattr(foreach, name))
        setattr(foreach, name, devices)
        setattr(optimizer, name, devices)
    sgd = importlib.import_module("torch.optim.sgd")
    sgd._default_to_fused_or_foreach = _unless_differentiable(sgd._default_to_fused_or_foreach)
    for name, module in list(sys.modules.items()):
        if name.startswith("torch.optim.") and hasattr(module, "_get_capturable_supported_devices"):
            # PyTorch allows the xla device where an optimizer updates tensor by tensor; updates of lists work as well.
            module._get_capturable_supported_devices = _always_with_xla(module._get_capturable_supported_devices)
    for name, function in {"_fused_adam_": _adam(False), "_fused_adamw_": _adam(True), "_fused_sgd_": _sgd,
                           "_fused_adagrad_": _adagrad}.items():
        _library.impl(name, function, "XLA")
        _library.impl(name + ".tensor_lr", function, "XLA")
