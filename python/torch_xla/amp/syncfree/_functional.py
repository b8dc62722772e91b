# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of the optimizers, as recorded operations under a mask. `found_inf` None: the step is made."""
import torch


class _Mask:
    """Assigns where the step is made."""

    def __init__(self, found_inf):
        self.keep = None if found_inf is None else found_inf.reshape(()) > 0

    def assign(self, target, value):
        target.copy_(value if self.keep is None else torch.where(self.keep, target, value))


def adam_step(found_inf, state_steps, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, *, amsgrad, beta1, beta2, lr,
              weight_decay, eps, maximize, use_adamw):
    """One step of Adam (AdamW with `use_adamw`) on all parameters, in place."""
    mask = _Mask(found_inf)
    for i, (parameter, gradient, step) in enumerate(zip(params, grads, state_steps)):
        gradient = -gradient if maximize else gradient
        count = step + 1
        value = parameter
        if weight_decay != 0:
            if use_adamw:
                value = value * (1 - lr * weight_decay)
            else:
                gradient = gradient + parameter * weight_decay
        average = exp_avgs[i] * beta1 + gradient * (1 - beta1)
        square = exp_avg_sqs[i] * beta2 + gradient * gradient * (1 - beta2)
        correction1, correction2 = 1 - beta1 ** count, 1 - beta2 ** count
        largest = square
        if amsgrad:
            largest = torch.maximum(max_exp_avg_sqs[i], square)
            mask.assign(max_exp_avg_sqs[i], largest)
        value = value - (lr / correction1) * average / ((largest / correction2).sqrt() + eps)
        mask.assign(parameter, value.to(parameter.dtype))
        mask.assign(exp_avgs[i], average)
        mask.assign(exp_avg_sqs[i], square)
        mask.assign(step, count)


def sgd_step(found_inf, state_steps, params, d_p_list, momentum_buffer_list, *, weight_decay, momentum, lr, dampening, nesterov,
             maximize):
    """One step of SGD on all parameters, in place. A momentum buffer begins with the first gradient, undamped."""
    mask = _Mask(found_inf)
    for i, (parameter, gradient, step) in enumerate(zip(params, d_p_list, state_steps)):
        if weight_decay != 0:
            gradient = gradient + parameter * weight_decay
        if momentum != 0:
            buffer = momentum_buffer_list[i]
            made = torch.where(step > 0, buffer * momentum + gradient * (1 - dampening), gradient)
            mask.assign(buffer, made)
            gradient = gradient + made * momentum if nesterov else made
        mask.assign(parameter, parameter + gradient * (lr if maximize else -lr))
        mask.assign(step, step + 1)
