# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own utilities with tensors of the device: copies, files, printing, optimizers, autograd, errors."""
import copy
import io
import pickle
import weakref

import pytest
import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.debug.metrics as met


def test_copies():
    x = torch.arange(4.0, device="xla").reshape(2, 2)
    shallow, deep = copy.copy(x), copy.deepcopy(x)
    x += 1
    assert shallow.tolist() == deep.tolist() == [[0.0, 1.0], [2.0, 3.0]], "copy.copy of a tensor of the device is a deep copy, as documented"
    assert shallow.device == deep.device == x.device
    a, b = copy.deepcopy([x, x])
    assert a is b
    p = torch.nn.Parameter(x.clone(), requires_grad=False)
    q = copy.deepcopy(p)
    assert isinstance(q, torch.nn.Parameter) and not q.requires_grad
    module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)).to("xla")
    module[1].weight = module[0].weight
    twin = copy.deepcopy(module)
    assert twin[0].weight is twin[1].weight and twin[0].weight is not module[0].weight


@pytest.mark.parametrize("tensor", [
    torch.tensor([1.5, 2.5]), torch.arange(6).reshape(2, 3).t(), torch.tensor(3), torch.tensor([True, False]),
    torch.tensor([1 + 2j]), torch.ones(2, dtype=torch.bfloat16), torch.empty(0, 3), torch.nn.Parameter(torch.ones(2))],
    ids=lambda t: f"{t.dtype}".removeprefix("torch."))
def test_files_and_pickles(tensor):
    x = tensor.detach().to("xla")
    if isinstance(tensor, torch.nn.Parameter):
        x = torch.nn.Parameter(x)
    again = pickle.loads(pickle.dumps(x))
    assert again.device == x.device and torch.equal(again.cpu(), tensor.detach()) and again.requires_grad == x.requires_grad
    buffer = io.BytesIO()
    torch.save({"x": x}, buffer)
    for where, device in ((None, "xla"), ("cpu", "cpu"), (torch.device("cpu"), "cpu"), ("xla", "xla")):
        for weights_only in (True, False):
            buffer.seek(0)
            loaded = torch.load(buffer, map_location=where, weights_only=weights_only)["x"]
            assert loaded.device.type == device
            assert type(loaded) is type(x) and loaded.dtype == x.dtype and torch.equal(loaded.detach().cpu(), tensor.detach())
    buffer = io.BytesIO()
    torch.save(tensor, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, map_location="xla:0")
    assert loaded.device.type == "xla" and torch.equal(loaded.detach().cpu(), tensor.detach())
    if tensor.numel() and tensor.is_contiguous():  # the device has it in its own type, not as bytes
        torch_xla.sync()
        assert "bitcast" not in torch_xla._XLAC._get_xla_tensors_text([loaded.detach() == loaded.detach()])


def test_tensors_of_a_file_share_memory():
    base = torch.arange(6.0)
    buffer = io.BytesIO()
    torch.save({"base": base, "part": base[2:4], "again": base}, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, map_location="xla")
    loaded["part"] += 10
    assert loaded["base"].tolist() == loaded["again"].tolist() == [0.0, 1.0, 12.0, 13.0, 4.0, 5.0] and base[2] == 2.0
    with pytest.raises(RuntimeError, match="Expects a storage of the xla device"):
        torch.empty(0, device="xla").set_(base.untyped_storage())


def test_printing():
    assert repr(torch.tensor(300, device="xla")) == "tensor(300, device='xla:0')"
    t = torch.tensor(100, device="xla") + torch.tensor(200, device="xla")
    assert str(t) == "tensor(300, device='xla:0')"
    assert repr(torch.tensor([1.5, -2.0], device="xla")) == "tensor([ 1.5000, -2.0000], device='xla:0')"
    assert repr(torch.tensor([[1, 2]], dtype=torch.int16, device="xla")) == "tensor([[1, 2]], device='xla:0', dtype=torch.int16)"
    assert repr(torch.zeros(2, requires_grad=True, device="xla")) == "tensor([0., 0.], device='xla:0', requires_grad=True)"
    w = torch.ones(1, device="xla", requires_grad=True)
    assert repr(w * 2) == "tensor([2.], device='xla:0', grad_fn=<MulBackward0>)"
    assert repr(torch.nn.Parameter(torch.ones(1, device="xla"))) == "Parameter containing:\ntensor([1.], device='xla:0', requires_grad=True)"
    assert repr(torch.empty(0, 2, device="xla")) == "tensor([], device='xla:0', size=(0, 2))"
    assert f"{torch.tensor(2.5, device='xla'):.1f}" == "2.5"


@pytest.mark.parametrize("options", [dict(foreach=True), dict(capturable=True), dict(foreach=False), dict(amsgrad=True, maximize=True),
                                     dict(differentiable=False, weight_decay=0.1)], ids=str)
@pytest.mark.parametrize("make", [torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam, torch.optim.RAdam])
def test_optimizers_with_options(no_fallback, make, options):
    if make in (torch.optim.NAdam, torch.optim.RAdam) and "amsgrad" in options:
        options = dict(maximize=True)
    torch.manual_seed(0)
    weights, results = [torch.randn(3, 2), torch.randn(2)], {}
    for device in ("cpu", "xla"):
        torch.manual_seed(1)
        parameters = [w.clone().to(device).requires_grad_() for w in weights]
        # The CPU has no capturable optimizers: the plain one is the oracle.
        given = {k: v for k, v in options.items() if k != "capturable" or device == "xla"}
        optimizer = make(parameters, lr=0.01, **given)
        for step in range(4):
            optimizer.zero_grad()
            sum((p * torch.full_like(p, 1.0 + step)).square().sum() for p in parameters).backward()
            optimizer.step()
            torch_xla.sync()
        state = optimizer.state_dict()
        again = make([p.detach().clone().requires_grad_() for p in parameters], lr=0.01, **given)
        again.load_state_dict(copy.deepcopy(state))
        for p, q in zip(again.param_groups[0]["params"], parameters):
            p.grad = torch.ones_like(p)
            q.grad = torch.ones_like(q)
        again.step()
        optimizer.step()
        for p, q in zip(again.param_groups[0]["params"], parameters):
            torch.testing.assert_close(p.detach().cpu(), q.detach().cpu())
        results[device] = [p.detach().cpu() for p in parameters]
    for got, want in zip(results["xla"], results["cpu"]):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


def test_hooks_run_in_order(no_fallback):
    seen = []
    layer = torch.nn.Linear(2, 2).to("xla")
    layer.register_forward_pre_hook(lambda module, args: seen.append("pre"))
    layer.register_forward_hook(lambda module, args, output: seen.append("forward") or output * 2)
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append("backward"))
    layer.weight.register_hook(lambda grad: seen.append("grad") or grad * 10)
    layer.weight.register_post_accumulate_grad_hook(lambda parameter: seen.append("accumulated"))
    layer(torch.ones(1, 2, device="xla", requires_grad=True)).sum().backward()
    assert seen == ["pre", "forward", "backward", "grad", "accumulated"] or sorted(seen) == sorted(["pre", "forward", "backward", "grad", "accumulated"])
    assert layer.weight.grad.tolist() == [[20.0, 20.0]] * 2


def test_double_backward_and_functions(no_fallback):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x ** 3

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            return 3 * x ** 2 * grad
    x = torch.tensor([1.0, 2.0], device="xla", requires_grad=True)
    first, = torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
    second, = torch.autograd.grad(first.sum(), x)
    assert first.tolist() == [3.0, 12.0] and second.tolist() == [6.0, 12.0]
    y = torch.randn(3, 3, device="xla", dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda t: (t @ t.t()).tanh().sum(), (y,), nondet_tol=1e-9)


def _raised(function):
    try:
        function()
    except Exception as error:
        return type(error), str(error)
    return None, "nothing was raised"


@pytest.mark.parametrize("name, function", [
    ("sizes", lambda d: torch.ones(3, device=d) + torch.ones(4, device=d)),
    ("matrices", lambda d: torch.ones(2, 3, device=d) @ torch.ones(2, 3, device=d)),
    ("linear", lambda d: F.linear(torch.ones(2, 3, device=d), torch.ones(4, 5, device=d))),
    ("in place", lambda d: torch.ones(3, device=d).add_(torch.ones(2, 3, device=d))),
    ("in place type", lambda d: torch.ones(3, dtype=torch.int64, device=d).add_(1.5)),
    ("view", lambda d: torch.ones(2, 3, device=d).t().view(6)),
    ("reshape", lambda d: torch.ones(2, 3, device=d).reshape(4)),
    ("dim", lambda d: torch.ones(2, 3, device=d).sum(5)),
    ("index", lambda d: torch.ones(2, device=d)[7]),
    ("cat", lambda d: torch.cat([torch.ones(2, 3, device=d), torch.ones(2, 4, device=d)], 0)),
    ("stack", lambda d: torch.stack([torch.ones(2, device=d), torch.ones(3, device=d)])),
    ("conv", lambda d: F.conv2d(torch.ones(1, 3, 8, 8, device=d), torch.ones(4, 2, 3, 3, device=d))),
    ("backward twice", lambda d: [y := (torch.ones(2, device=d, requires_grad=True) * 2).exp().sum(), y.backward(), y.backward()]),
    ("backward of a vector", lambda d: torch.ones(2, device=d, requires_grad=True).exp().backward()),
    ("modified", lambda d: [x := torch.ones(2, device=d, requires_grad=True) * 1, y := x.exp(), y.add_(1), y.sum().backward()]),
    ("leaf", lambda d: torch.ones(2, device=d, requires_grad=True).add_(1)),
    ("numpy", lambda d: torch.ones(2, device=d, requires_grad=True).numpy()),
    ("item", lambda d: torch.ones(2, device=d).item()),
    ("bool", lambda d: bool(torch.ones(2, device=d))),
    ("expand", lambda d: torch.ones(2, 3, device=d).expand(4, 3)),
    ("mask", lambda d: torch.ones(2, 3, device=d)[torch.ones(3, dtype=torch.bool, device=d)]),
    ("second mask", lambda d: torch.ones(2, 3, device=d)[:, torch.ones(2, dtype=torch.bool, device=d)]),
    ("masked write", lambda d: torch.ones(2, 3, device=d).__setitem__(torch.ones(3, dtype=torch.bool, device=d), 1.0)),
    ("load", lambda d: torch.nn.Linear(2, 2, device=d).load_state_dict({"weight": torch.ones(3, 2, device=d), "bias": torch.ones(2, device=d)})),
], ids=lambda value: value if isinstance(value, str) else "")
def test_errors_in_pytorchs_words(name, function):
    want, got = _raised(lambda: function("cpu")), _raised(lambda: function("xla"))
    if name == "numpy":  # the CPU says it for another reason
        assert got[0] in (TypeError, RuntimeError)
        return
    assert want[0] is not None and got[0] is want[0]
    plain = lambda text: text.replace("[xla:0FloatType [2]]", "").replace("XLAFloatType", "torch.FloatTensor").split("\n")[0]  # noqa: E731
    first = plain(want[1]).split(", which is output")[0].removeprefix("one of the variables")
    assert first[:60] in plain(got[1]), f"CPU: {want[1]}\nxla: {got[1]}"


def test_mixed_devices_are_errors():
    layer, x = torch.nn.Linear(3, 2), torch.ones(1, 3, device="xla")
    with pytest.raises(RuntimeError, match="Input tensor is not an XLA tensor: torch.FloatTensor"):
        layer(x)
    with pytest.raises(RuntimeError, match="not an XLA tensor"):
        x + torch.ones(1, 3)
    assert (x + torch.tensor(2.0)).tolist() == [[3.0, 3.0, 3.0]], "a number on the CPU goes along"
    met.clear_all()
    with pytest.raises(RuntimeError):
        torch.cat([x, torch.ones(1, 3)])
    assert met.executed_fallback_ops() == []


def test_modules_keep_parameters_on_the_way_and_others_are_left_alone():
    a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    b.weight = a.weight
    model, weight = torch.nn.Sequential(a, b, torch.nn.GRU(2, 2)), a.weight
    for move in (lambda: model.to("xla"), lambda: model.cpu(), lambda: model.to(torch.device("xla:0"), torch.bfloat16),
                 lambda: model.float(), lambda: model.to_empty(device="cpu"), lambda: model.to(torch.ones(1, device="xla"))):
        move()
        assert model[0].weight is model[1].weight is weight
        assert {p.device for p in model.parameters()} == {weight.device}
    assert weight.device.type == "xla"
    assert not torch.__future__.get_swap_module_params_on_conversion()
    gru = torch.nn.GRU(2, 2)  # its weights are held weakly: with PyTorch's switch on, this raises
    gru.load_state_dict(torch.nn.GRU(2, 2).state_dict())
    model[2].load_state_dict(gru.state_dict())
    held = torch.nn.Linear(2, 2)
    held_weight = held.weight
    reference = weakref.ref(held_weight)
    assert held.to("xla").weight.device.type == "xla" and reference().device.type == "cpu"


def test_tied_parameters_that_cannot_be_exchanged_stay_tied():
    tied = torch.nn.Module()
    tied.a, tied.b, tied.c = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    tied.b.weight, tied.c.bias = tied.a.weight, tied.a.bias
    for device in ("xla", "cpu", "xla"):
        reference = weakref.ref(tied.a.weight)  # PyTorch exchanges no tensor that is referred to so
        kept = reference()
        tied.to(device)
        assert tied.a.weight is tied.b.weight is not kept and tied.a.bias is tied.c.bias
        assert {p.device.type for p in tied.parameters()} == {device} and len(list(tied.parameters())) == 4
