# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nn.LSTM, nn.GRU and nn.RNN: PyTorch's results and gradients, from a loop whose program does not grow with the sequence."""
import copy

import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch_xla import _recurrent

LENGTHS = [7, 5, 5, 2]


def tensors(value):
    return [t for part in value for t in (tensors(part) if isinstance(part, tuple) else [part])]


def run(module, x, state, packed, device):
    """Outputs, last states, and the gradients of input, initial states and weights."""
    module = copy.deepcopy(module).to(device)
    x = x.to(device).requires_grad_()
    state = [s.to(device).requires_grad_() for s in state]
    hx = tuple(state) if isinstance(module, torch.nn.LSTM) else state[0]
    if packed:
        out, last = module(pack_padded_sequence(x, LENGTHS, batch_first=module.batch_first, enforce_sorted=False), hx)
        out = pad_packed_sequence(out, batch_first=module.batch_first)[0]
    else:
        out, last = module(x, hx)
    made = tensors((out, last))
    sum((t.sin() * (i + 1)).sum() for i, t in enumerate(made)).backward()
    return [t.detach().cpu() for t in made] + [t.grad.cpu() for t in [x, *state, *module.parameters()]]


@pytest.mark.parametrize("kind, packed, options", [
    ("LSTM", False, {}), ("LSTM", True, dict(num_layers=2, bidirectional=True, batch_first=True)), ("LSTM", False, dict(proj_size=3)),
    ("GRU", True, dict(num_layers=2, bidirectional=True)), ("GRU", False, dict(bias=False, batch_first=True)),
    ("RNN", False, dict(num_layers=2, nonlinearity="relu")), ("RNN", True, dict(bidirectional=True, bias=False))])
def test_results_and_gradients(no_fallback, kind, packed, options):
    torch.manual_seed(0)
    module = getattr(torch.nn, kind)(4, 5, **options)
    x = torch.randn(4, 7, 4) if module.batch_first else torch.randn(7, 4, 4)
    slots = module.num_layers * (2 if module.bidirectional else 1)
    state = [torch.randn(slots, 4, module.proj_size or 5)] + [torch.randn(slots, 4, 5)] * (kind == "LSTM")
    for got, want in zip(run(module, x, state, packed, "xla"), run(module, x, state, packed, "cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_training_records_a_body_once(no_fallback, kind, monkeypatch):
    """Two modules with equal sizes and a training of both: the recorded body reads the weights of its own loop and step."""
    made, joint = [], _recurrent.Joint
    monkeypatch.setattr(_recurrent, "Joint", lambda *args: made.append(args) or joint(*args))
    monkeypatch.setattr(_recurrent, "_joints", {})

    def train(device):
        torch.manual_seed(0)
        modules = torch.nn.ModuleList([getattr(torch.nn, kind)(5, 5, num_layers=2) for _ in range(2)]).to(device)
        x = torch.randn(6, 3, 5).to(device)
        optimizer = torch.optim.SGD(modules.parameters(), lr=.5)
        for _ in range(4):
            optimizer.zero_grad()
            (modules[1](modules[0](x)[0])[0] - x).square().mean().backward()
            optimizer.step()
            torch_xla.sync()
        return [p.detach().cpu() for p in modules.parameters()]
    for got, want in zip(train("xla"), train("cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)
    assert len(made) == 1


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_program_does_not_grow(no_fallback, kind):
    def lines(length):
        torch.manual_seed(0)
        module = getattr(torch.nn, kind)(4, 5, num_layers=2, bidirectional=True).to("xla")
        out, _ = module(torch.ones(length, 3, 4, device="xla"))
        forward = xm.get_stablehlo([out]).count("\n")
        out.sum().backward()
        text = xm.get_stablehlo([p.grad for p in module.parameters()])
        assert text.count("stablehlo.while") >= 8, "a loop forward and one backward for each of four"
        return forward, text.count("\n")
    assert lines(10) == lines(300)


def test_gradients_have_gradients(no_fallback):
    torch.manual_seed(0)
    module, x = torch.nn.GRU(3, 4, bidirectional=True), torch.randn(5, 2, 3)

    def penalty(device):
        mine, inputs = copy.deepcopy(module).to(device), x.to(device).requires_grad_()
        gradient, = torch.autograd.grad(mine(inputs)[0].sin().sum(), inputs, create_graph=True)
        gradient.pow(2).sum().backward()
        return [p.grad.cpu() for p in mine.parameters()] + [inputs.grad.cpu()]
    for got, want in zip(penalty("xla"), penalty("cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_dropout_between_layers(no_fallback):
    torch.manual_seed(0)
    module = torch.nn.LSTM(4, 5, num_layers=2, dropout=0.5)
    x, on_device = torch.randn(6, 3, 4), copy.deepcopy(module).to("xla")
    first, second = (on_device(x.to("xla"))[0].cpu() for _ in range(2))
    assert not torch.equal(first, second)
    torch.testing.assert_close(on_device.eval()(x.to("xla"))[0].cpu(), module.eval()(x)[0], rtol=1e-4, atol=1e-5)
    with torch.no_grad():
        torch.testing.assert_close(on_device(x.to("xla"))[0].cpu(), module(x)[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_autocast(kind):
    torch.manual_seed(0)
    module, x = getattr(torch.nn, kind)(8, 8), torch.randn(5, 2, 8)
    on_device = copy.deepcopy(module).to("xla")
    with torch.autocast("xla", torch.bfloat16):
        out, _ = on_device(x.to("xla"))
    out.sum().backward()
    module(x)[0].sum().backward()
    torch.testing.assert_close(out.detach().float().cpu(), module(x)[0].detach(), rtol=0.05, atol=0.05)
    assert on_device.weight_hh_l0.grad.dtype == torch.float32
    torch.testing.assert_close(on_device.weight_hh_l0.grad.cpu(), module.weight_hh_l0.grad, rtol=0.1, atol=0.1)


def test_where_a_loop_is_not_made(no_fallback):
    """One step, torch.func, forward mode, torch.compile: PyTorch's definition, step by step."""
    torch.manual_seed(0)
    module = torch.nn.LSTM(3, 4)
    x, on_device = torch.randn(3, 2, 3), copy.deepcopy(module).to("xla")
    close = dict(rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(on_device(x[:1].to("xla"))[0].cpu(), module(x[:1])[0], **close)
    weights = {n: p.detach() for n, p in module.named_parameters()}

    def loss(weights, x):
        return torch.func.functional_call(module, weights, (x,))[0].sin().sum()
    want = torch.func.grad(loss)(weights, x)
    got = torch.func.grad(loss)({n: p.to("xla") for n, p in weights.items()}, x.to("xla"))
    torch.testing.assert_close({n: g.cpu() for n, g in got.items()}, want, **close)
    _, along = torch.func.jvp(lambda x: on_device(x)[0].sin().sum(), (x.to("xla"),), (x.cos().to("xla"),))
    inputs = x.clone().requires_grad_()  # the CPU's own kernel has no forward mode: the same number from the gradient
    want, = torch.autograd.grad(module(inputs)[0].sin().sum(), inputs)
    torch.testing.assert_close(along.cpu(), (want * x.cos()).sum(), **close)
    compiled = torch.compile(on_device, backend="openxla")
    with torch.no_grad():
        torch.testing.assert_close(compiled(x.to("xla"))[0].cpu(), module(x)[0], **close)


def test_errors_are_pytorchs():
    module = torch.nn.LSTM(3, 4).to("xla")
    for wrong in (torch.randn(5, 2, 4), torch.randn(2, 5, 2, 3), torch.randn(0, 2, 3)):
        messages = []
        for device in ("cpu", "xla"):
            with pytest.raises((RuntimeError, ValueError)) as caught:
                module.to(device)(wrong.to(device))
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
    torch_xla.sync()
