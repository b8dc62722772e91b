# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.optim's fused=True: the step of an optimizer is one program on the device whichever way it is asked for. Gradient scales
and infinite gradients (torch.amp.GradScaler) stay on the device then."""
import importlib

import torch
import torch.utils._foreach_utils as names

from .amp.syncfree import _functional

_library = None


def _unscaled(grads, grad_scale):
    """The gradients without the scale, which they lose for good."""
    if grad_scale is not None:
        for gradient in grads:
            gradient.div_(grad_scale.reshape(()).to(gradient.dtype))
    return grads


def _adam(use_adamw):
    def step(params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *, grad_scale=None, found_inf=None, **options):
        _functional.adam(_functional.Mask(found_inf), state_steps, params, _unscaled(grads, grad_scale), exp_avgs, exp_avg_sqs,
                         max_exp_avg_sqs, use_adamw=use_adamw, **options)
    return step


def _sgd(params, grads, momentum_buffers, *, is_first_step, grad_scale=None, found_inf=None, **options):
    _functional.sgd(_functional.Mask(found_inf), [is_first_step] * len(params), params, _unscaled(grads, grad_scale),
                    momentum_buffers, **options)


def _adagrad(params, grads, state_sums, state_steps, *, grad_scale=None, found_inf=None, **options):
    _functional.adagrad(_functional.Mask(found_inf), state_steps, params, _unscaled(grads, grad_scale), state_sums, **options)


def install():
    """Once, at the import of torch_xla."""
    global _library
    _library = torch.library.Library("aten", "IMPL")
    for name, step in (("_fused_adam_", _adam(False)), ("_fused_adamw_", _adam(True)), ("_fused_sgd_", _sgd),
                       ("_fused_adagrad_", _adagrad)):
        _library.impl(name, step, "XLA")
        _library.impl(name + ".tensor_lr", step, "XLA")
    original = names._get_fused_kernels_supported_devices

    def devices():
        return original() + ["xla"]
    names._get_fused_kernels_supported_devices = devices
    importlib.import_module("torch.optim.optimizer")._get_fused_kernels_supported_devices = devices
