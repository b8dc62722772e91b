# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The update rules of the optimizers as recorded operations under a mask. Without a mask (`found_inf` is None) the update is unconditional."""
import torch


class Mask:
    """Assigns where the step is made."""

    def __init__(self, found_inf):
        self.keep = None if found_inf is None else found_inf.reshape(()) > 0

    def assign(self, target, value):
        """target = value, in the type of `target`."""
        value = value.to(target.dtype)
        target.copy_(value if self.keep is None else torch.where(self.keep, target, value))


def _wide(tensor):
    """16-bit floats are computed with in 32 bits."""
    return tensor.float() if tensor.dtype in (torch.bfloat16, torch.float16) else tensor


def adam(mask, counts, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, *, amsgrad, beta1, beta2, lr, weight_decay, eps,
         maximize, use_adamw):
    """Adam (AdamW with `use_adamw`) on all parameters, in place; `counts`: which step it is for each, from 1 on."""
    for i, (parameter, gradient, count) in enumerate(zip(params, grads, counts)):
        value, gradient = _wide(parameter), _wide(gradient)
        gradient = -gradient if maximize else gradient
        if weight_decay != 0:
            if use_adamw:
                value = value * (1 - lr * weight_decay)
            else:
                gradient = gradient + value * weight_decay
        average = _wide(exp_avgs[i]) * beta1 + gradient * (1 - beta1)
        square = _wide(exp_avg_sqs[i]) * beta2 + gradient * gradient * (1 - beta2)
        correction1, correction2 = 1 - beta1 ** count, 1 - beta2 ** count
        largest = square
        if amsgrad:
            largest = torch.maximum(_wide(max_exp_avg_sqs[i]), square)
            mask.assign(max_exp_avg_sqs[i], largest)
        mask.assign(parameter, value - (lr / correction1) * average / ((largest / correction2).sqrt() + eps))
        mask.assign(exp_avgs[i], average)
        mask.assign(exp_avg_sqs[i], square)


def adam_step(found_inf, state_steps, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, *, amsgrad, beta1, beta2, lr,
              weight_decay, eps, maximize, use_adamw):
    """As adam(), and counts the steps that are made."""
    mask, counts = Mask(found_inf), [step + 1 for step in state_steps]
    adam(mask, counts, params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, amsgrad=amsgrad, beta1=beta1, beta2=beta2, lr=lr,
         weight_decay=weight_decay, eps=eps, maximize=maximize, use_adamw=use_adamw)
    for step, count in zip(state_steps, counts):
        mask.assign(step, count)


def sgd(mask, first, params, grads, momentum_buffers, *, weight_decay, momentum, lr, dampening, nesterov, maximize):
    """SGD on all parameters, in place. A momentum buffer begins with the first gradient, undamped: where `first`, a bool or a
    boolean tensor for each."""
    for i, (parameter, gradient) in enumerate(zip(params, grads)):
        value, gradient = _wide(parameter), _wide(gradient)
        gradient = -gradient if maximize else gradient
        if weight_decay != 0:
            gradient = gradient + value * weight_decay
        if momentum != 0:
            made = gradient
            if first[i] is not True:
                made = _wide(momentum_buffers[i]) * momentum + gradient * (1 - dampening)
            if first[i] is not True and first[i] is not False:
                made = torch.where(first[i], gradient, made)
            mask.assign(momentum_buffers[i], made)
            gradient = gradient + made * momentum if nesterov else made
        mask.assign(parameter, value - gradient * lr)


def sgd_step(found_inf, state_steps, params, d_p_list, momentum_buffer_list, *, weight_decay, momentum, lr, dampening, nesterov,
             maximize):
    """As sgd(), and counts the steps that are made."""
    mask = Mask(found_inf)
    sgd(mask, [step == 0 for step in state_steps], params, d_p_list, momentum_buffer_list, weight_decay=weight_decay,
        momentum=momentum, lr=lr, dampening=dampening, nesterov=nesterov, maximize=maximize)
    for step in state_steps:
        mask.assign(step, step + 1)
