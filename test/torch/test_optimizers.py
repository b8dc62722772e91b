# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Optimizers of PyTorch give the CPU's parameters, fused=True included."""
import copy

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met


def compare(make, steps=4, scaler=None):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
    moved = copy.deepcopy(model).to("xla")
    x = torch.randn(6, 4)
    for m, device in ((model, "cpu"), (moved, "xla")):
        optimizer = make(m.parameters(), device)
        made = torch_xla._XLAC._compilations()
        for _ in range(steps):
            optimizer.zero_grad()
            m(x.to(device)).square().mean().backward()
            optimizer.step()
            torch_xla.sync()
    for p, q in zip(model.parameters(), moved.parameters()):
        torch.testing.assert_close(q.cpu(), p, rtol=1e-5, atol=1e-6)
    assert torch_xla._XLAC._compilations() - made <= 2, "one program for the first step, one for the others"


OPTIONS = {
    "Adam": [{}, dict(weight_decay=0.1), dict(amsgrad=True), dict(maximize=True, lr=1e-3)],
    "AdamW": [{}, dict(weight_decay=0.1, amsgrad=True)],
    "SGD": [dict(), dict(momentum=0.9), dict(momentum=0.9, nesterov=True, weight_decay=0.1), dict(momentum=0.9, dampening=0.1, maximize=True)],
    "Adagrad": [{}, dict(lr_decay=0.1, weight_decay=0.1)],
}


@pytest.mark.parametrize("name, options", [(name, o) for name, all in OPTIONS.items() for o in all])
def test_fused_equals_the_cpu(name, options):
    before = len(met.executed_fallback_ops())
    compare(lambda p, device: getattr(torch.optim, name)(p, **{"lr": 0.03, **options}, fused=device == "xla"))
    assert len(met.executed_fallback_ops()) == before


@pytest.mark.parametrize("options", [dict(weight_decay=0.1), dict(weight_decay=0.1, momentum=0.9, nesterov=True)])
def test_gradients_of_a_differentiable_step(options):
    """Of SGD without `foreach`: PyTorch takes lists on an accelerator, and has no gradient of theirs."""
    def gradients(device):
        start, slope = torch.tensor([1.0, -2.0], device=device, requires_grad=True), torch.tensor([0.5, 3.0], device=device, requires_grad=True)
        parameter = start.clone()
        parameter.grad = slope
        torch.optim.SGD([parameter], lr=0.1, differentiable=True, **options).step()
        return [t.cpu() for t in torch.autograd.grad(parameter.square().sum(), [start, slope])]
    torch.testing.assert_close(gradients("xla"), gradients("cpu"))


def test_fused_with_a_learning_rate_on_the_device():
    compare(lambda p, device: torch.optim.AdamW(p, lr=torch.tensor(0.03).to(device), fused=device == "xla", capturable=False))


@pytest.mark.parametrize("name", ["Adam", "AdamW", "SGD"])
def test_fused_steps_are_scaled_and_skipped(name):
    def state(value):
        return torch.tensor(value, device="xla")
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0], device="xla"))
    twin = torch.nn.Parameter(w.detach().clone())
    optimizers = [getattr(torch.optim, name)([p], lr=0.1, fused=True) for p in (w, twin)]
    for p, scale in ((w, 4.0), (twin, 1.0)):
        p.grad = torch.tensor([0.5, -0.25], device="xla") * scale
    optimizers[0].grad_scale, optimizers[0].found_inf = state(4.0), state(0.0)
    for optimizer in optimizers:
        optimizer.step()
    torch.testing.assert_close(w.cpu(), twin.cpu())
    torch.testing.assert_close(w.grad.cpu(), twin.grad.cpu())
    before = w.detach().cpu()
    optimizers[0].found_inf = state(1.0)
    optimizers[0].step()
    assert torch.equal(w.detach().cpu(), before)
    if name != "SGD":
        assert optimizers[0].state[w]["step"].item() == 1
