# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch programs as StableHLO text: models of which benchmarks measures both that text and PyTorch itself."""
import os
import sys
from typing import Any, Callable, NamedTuple

import torch
from torch.utils import _pytree as pytree

from benchmarks.program import flatten

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


class TorchProgram(NamedTuple):
    """The same maths twice. `function(*tree)` is pure, for the text: its parameters are the leaves of `tree`. `start(compile)` returns
    `step()`, which does the same as PyTorch's users write it, on the CPU, and returns the same results; `compile(f)` wraps what
    torch.compile is given. Steps of training go on from the state that the last one left; the first one's results are compared."""
    function: Callable
    tree: Any
    start: Callable


def tensors_of(module):
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def inference(module, *inputs, result=lambda r: r):
    """`module(*inputs)`, weights as parameters; `result` picks what counts."""
    module = module.eval().requires_grad_(False)

    def function(weights, *inputs):
        return result(torch.func.functional_call(module, weights, inputs))

    def start(compile):
        forward = compile(module)

        def step():
            with torch.no_grad():
                return result(forward(*inputs))
        return step

    return TorchProgram(function, (tensors_of(module), *inputs), start)


def training(module, loss, rule, *data):
    """One step of training: `loss(module(data[0]), data[1])`, its gradients, and the optimizer `rule` (Momentum or Adam)."""
    module = module.train()
    names = [name for name, _ in module.named_parameters()]
    weights = {name: p.detach().clone() for name, p in module.named_parameters()}
    buffers = {name: b.detach().clone() for name, b in module.named_buffers()}
    state = {name: rule.state(p) for name, p in weights.items()}

    def function(weights, buffers, state, x, y):
        leaves = {name: p.detach().requires_grad_() for name, p in weights.items()}
        buffers = {name: b.clone() for name, b in buffers.items()}  # changed in place
        with torch.enable_grad():
            value = loss(torch.func.functional_call(module, {**leaves, **buffers}, (x,)), y)
            gradients = torch.autograd.grad(value, list(leaves.values()))
        updated = {n: rule.update(weights[n], g, state[n]) for n, g in zip(leaves, gradients)}
        return value.detach(), [updated[n][0] for n in names], [updated[n][1] for n in names], [buffers[n] for n in sorted(buffers)]

    def start(compile):
        optimizer = rule.optimizer(module.parameters())
        for name, p in module.named_parameters():
            optimizer.state[p] = {key: value.clone() for key, value in state[name].items()}
        forward = compile(lambda x, y: loss(module(x), y))

        def step():
            optimizer.zero_grad()
            value = forward(*data)
            value.backward()
            optimizer.step()
            parameters = [dict(module.named_parameters())[n] for n in names]
            return (value.detach(), [p.detach() for p in parameters], [optimizer.state[p] for p in parameters],
                    [b for _, b in sorted(module.named_buffers())])
        return step

    return TorchProgram(function, (weights, buffers, state, *data), start)


class Momentum:
    """torch.optim.SGD(momentum=0.9), in a later step than the first."""

    def __init__(self, rate):
        self.rate = rate

    def state(self, p):
        return {"momentum_buffer": 0.01 * torch.randn_like(p)}

    def update(self, p, gradient, state):
        velocity = 0.9 * state["momentum_buffer"] + gradient
        return p - self.rate * velocity, {"momentum_buffer": velocity}

    def optimizer(self, parameters):
        return torch.optim.SGD(parameters, lr=self.rate, momentum=0.9)


class Adam:
    """torch.optim.Adam after ten steps: with its averages at zero, the first step only depends on the signs of gradients."""

    def __init__(self, rate):
        self.rate = rate

    def state(self, p):
        return {"step": torch.tensor(10.0), "exp_avg": 0.01 * torch.randn_like(p), "exp_avg_sq": 0.001 * torch.rand_like(p) + 1e-4}

    def update(self, p, gradient, state):
        t = state["step"] + 1
        first = 0.9 * state["exp_avg"] + 0.1 * gradient
        second = 0.999 * state["exp_avg_sq"] + 0.001 * gradient * gradient
        scale = self.rate / (1 - 0.9 ** t)
        p = p - scale * first / (torch.sqrt(second) / torch.sqrt(1 - 0.999 ** t) + 1e-8)
        return p, {"step": t, "exp_avg": first, "exp_avg_sq": second}

    def optimizer(self, parameters):
        return torch.optim.Adam(parameters, lr=self.rate)


def to_numpy(tensor):
    """Also of bfloat16, which NumPy does not know."""
    import ml_dtypes

    return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16) if tensor.dtype == torch.bfloat16 else tensor.numpy()


def trace(program):
    """(StableHLO text, the values of its parameters in order). Nothing is computed; the device only records."""
    sys.path.insert(0, os.path.join(ROOT, "python"))
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    import torch_xla  # noqa: F401
    from torch_xla import _XLAC

    leaves, spec = pytree.tree_flatten(program.tree)
    scope, stand_ins = _XLAC._graph_begin(tuple(torch.empty(leaf.shape, dtype=leaf.dtype, device="xla") for leaf in leaves))
    torch.compiler._is_compiling_flag = True  # as torch.export sets it: transformers then looks into no mask
    try:
        with torch.no_grad():
            results = program.function(*pytree.tree_unflatten(list(stand_ins), spec))
        # The order in which the results of PyTorch itself are compared: keys of dicts are sorted.
        text, constants, order = _XLAC._graph_export(scope, flatten(results))
    finally:
        torch.compiler._is_compiling_flag = False
        _XLAC._graph_end(scope)
    return text, [leaves[index].detach() for index in order] + [constant.cpu() for constant in constants]
