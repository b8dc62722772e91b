# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and branches on the device: one program with a loop in it, the values of PyTorch on the CPU."""
import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
from torch._higher_order_ops import cond, map as map_over, scan, while_loop


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    torch_xla.sync(wait=True)
    met.clear_all()


def test_while_loop_is_one_program():
    def condition(i, x):
        return i < 10

    def body(i, x):
        return i + 1, (x * 1.5).sin() + shift
    shift = torch.randn(3)
    i, x = torch.tensor(0), torch.randn(3)
    want = while_loop(condition, body, (i, x))
    shift = shift.to("xla")
    moved = i.to("xla"), x.to("xla")
    torch_xla.sync()
    met.clear_all()
    got = while_loop(condition, body, moved)
    text = xm.get_stablehlo(list(got))
    assert text.count("stablehlo.while") == 1 and text.count("stablehlo.sine") == 1
    torch.testing.assert_close([g.cpu() for g in got], list(want))
    assert met.metric_data("ExecuteTime")[0] == 1 and met.executed_fallback_ops() == []
    # In later steps it is the same program, with other numbers.
    compilations = torch_xla._XLAC._compilations()
    for _ in range(2):
        got = while_loop(condition, body, (i.to("xla"), got[1]))
        torch_xla.sync()
    assert torch_xla._XLAC._compilations() <= compilations + 1


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(4, 4), torch.nn.LayerNorm(4)

    def forward(self, x):
        return self.norm(torch.relu(self.linear(x)) + x)


def test_while_loop_over_a_module_and_compiled():
    class Repeat(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, n, x):
            return while_loop(lambda i, x: i < 5, lambda i, x: (i + 1, self.block(x)), (n, x))[1]
    model = Repeat().eval()
    x = torch.randn(2, 4)
    with torch.no_grad():
        want = model(torch.tensor(0), x)
        model.to("xla")
        arguments = torch.tensor(0).to("xla"), x.to("xla")
        torch.testing.assert_close(model(*arguments).cpu(), want, rtol=1e-4, atol=1e-5)
        compiled = torch.compile(model, backend="openxla", fullgraph=True)
        for _ in range(2):
            torch.testing.assert_close(compiled(*arguments).cpu(), want, rtol=1e-4, atol=1e-5)
    assert met.executed_fallback_ops() == []


def test_random_numbers_differ_between_iterations():
    def body(i, x, kept):
        noise = torch.rand(4, device="xla")
        return i + 1, x + noise, noise.clone()
    zero = torch.zeros(4).to("xla")
    start = torch.tensor(0).to("xla")
    _, total, last = while_loop(lambda i, x, kept: i < 8, body, (start, zero, zero.clone()))
    total, last = total.cpu(), last.cpu()
    assert ((total - 8 * last).abs() > 0.1).any() and 0.5 < total.mean() < 7.5
    again = while_loop(lambda i, x, kept: i < 8, body, (start, zero, zero.clone()))[1].cpu()
    assert not torch.equal(total, again)


@pytest.mark.parametrize("positive", [True, False])
def test_cond(positive):
    def f(x, w):
        return cond(x.sum() > 0, lambda x, w: (x @ w).relu(), lambda x, w: (x * 2) @ w, (x, w))
    x, w = torch.rand(3, 3) * (1 if positive else -1), torch.randn(3, 3)
    want = f(x, w)
    a, b = x.to("xla"), w.to("xla")
    got = f(a, b)
    assert "stablehlo.if" in xm.get_stablehlo([got])
    torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)
    g = torch.compile(f, backend="openxla", fullgraph=True)
    torch.testing.assert_close(g(a, b).cpu(), want, rtol=1e-4, atol=1e-5)
    w.requires_grad_()
    b.requires_grad_()
    f(x, w).sum().backward()
    f(a, b).sum().backward()
    torch.testing.assert_close(b.grad.cpu(), w.grad, rtol=1e-4, atol=1e-5)


def test_scan_and_its_gradient():
    def step(carry, x):
        new = torch.tanh(carry + x @ w)
        return new, new * 2
    xs, init, w = torch.randn(6, 4), torch.randn(4), torch.randn(4, 4)
    w.requires_grad_()
    carry, ys = scan(step, init, xs, dim=0)
    (carry.sum() + ys.sum()).backward()
    want = w.grad
    w = w.detach().to("xla").requires_grad_()
    moved_carry, moved_ys = scan(step, init.to("xla"), xs.to("xla"), dim=0)
    assert xm.get_stablehlo([moved_ys]).count("stablehlo.while") == 1
    torch.testing.assert_close(moved_ys.detach().cpu(), ys.detach(), rtol=1e-4, atol=1e-5)
    (moved_carry.sum() + moved_ys.sum()).backward()
    torch.testing.assert_close(w.grad.cpu(), want, rtol=1e-3, atol=1e-4)
    assert met.executed_fallback_ops() == []


def test_map():
    xs, w = torch.randn(5, 3), torch.randn(3)
    got = map_over(lambda x, w: (x * w).cos(), xs.to("xla"), w.to("xla"))
    assert xm.get_stablehlo([got]).count("stablehlo.while") == 1
    torch.testing.assert_close(got.cpu(), (xs * w).cos())


def test_gradient_of_a_while_loop():
    def f(x):
        return while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x * x.cos()), (torch.zeros((), dtype=torch.int64, device=x.device), x))[1]
    x = torch.randn(3, requires_grad=True)
    y = x.detach().to("xla").requires_grad_()
    f(x).sum().backward()
    with pytest.warns(UserWarning, match="runs in Python"):  # PyTorch's gradient reads numbers
        f(y).sum().backward()
    torch.testing.assert_close(y.grad.cpu(), x.grad, rtol=1e-4, atol=1e-5)


def test_a_body_writes_to_a_clone():
    from torch_xla.experimental import _control_flow as flow
    x = torch.arange(3.0).to("xla")
    copy = x.clone()

    def writes(i):
        copy.add_(x)
        return (i + 1,)
    flow.while_loop(lambda i: i < 4, writes, [torch.tensor(0, device="xla")])
    assert copy.tolist() == [0.0, 5.0, 10.0] and x.tolist() == [0.0, 1.0, 2.0]


def test_bad_bodies():
    x = torch.zeros(3).to("xla")
    from torch_xla.experimental import _control_flow as flow
    with pytest.raises(RuntimeError, match="value of a tensor"):
        flow.while_loop(lambda x: x.sum() < 3, lambda x: (x + x.sum().item(),), [x])
    with pytest.raises(RuntimeError, match=r"expects the body of a loop to return f32\[3\]"):
        flow.while_loop(lambda x: x.sum() < 3, lambda x: (x.sum(),), [x])

    copy = torch.empty_like(x).copy_(x)

    def writes(i):
        copy.add_(x)
        return (i + 1,)
    with pytest.raises(RuntimeError, match="writes to a tensor from outside of it .* that is a copy of another one"):
        flow.while_loop(lambda i: i.sum() < 3, writes, [torch.zeros(1).to("xla")])
    assert copy.tolist() == [0, 0, 0]


def test_bodies_write_to_tensors_from_outside():
    from torch_xla.experimental import _control_flow as flow

    def loop(device):
        total, history, step = (t.to(device) for t in (torch.zeros(2), torch.full((4, 2), -1.0), torch.ones(2)))

        def goes_on(i):
            return (total.sum() < 12) & (i.sum() < 10)  # reads what the body writes

        def body(i):
            step.mul_(1.5)
            total.add_(step)
            history[1] = total
            return (i + 1,)
        i = torch.zeros(1).to(device)
        if device == "cpu":
            while goes_on(i):
                (i,) = body(i)
        else:
            (i,) = flow.while_loop(goes_on, body, [i])
        return i, total, history, step
    for got, want in zip(loop("xla"), loop("cpu")):
        torch.testing.assert_close(got.cpu(), want)

    def scan(device):
        torch.manual_seed(0)
        norm = torch.nn.BatchNorm1d(3).to(device)
        xs, carry = torch.randn(4, 5, 3).to(device), torch.zeros(5, 3).to(device)

        def step(carry, x):
            carry = carry + norm(x)
            return carry, carry * 2
        with torch.no_grad():
            if device == "xla":
                carry, ys = flow.scan(step, [carry], [xs], 4)
            else:
                ys = []
                for x in xs:
                    carry, y = step(carry, x)
                    ys.append(y)
                ys = torch.stack(ys)
        return carry, ys, norm.running_mean, norm.running_var, norm.num_batches_tracked
    for got, want in zip(scan("xla"), scan("cpu")):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)

    def branch(device, flag):
        a, b = torch.zeros(3).to(device), torch.ones(3).to(device)

        def yes():
            a.add_(5)
            return a + 1

        def no():
            b.mul_(3)
            a.sub_(1)
            return b
        flag = torch.tensor(flag).to(device)
        out = (yes() if flag else no()) if device == "cpu" else flow._cond_op(flag, yes, no, ())
        return out, a, b
    for flag in (True, False):
        for got, want in zip(branch("xla", flag), branch("cpu", flag)):
            torch.testing.assert_close(got.cpu(), want)


def test_scan_with_gradients():
    from torch_xla.experimental.scan import scan as xla_scan
    w = torch.randn(4, 4)

    def run(device):
        torch.manual_seed(1)
        weight = w.to(device).requires_grad_()
        init, xs = torch.randn(4).to(device).requires_grad_(), torch.randn(6, 4).to(device).requires_grad_()

        def step(carry, x):
            new = torch.tanh(carry["h"] @ weight.t() + x)
            return {"h": new}, (new * 2, None)
        if device == "cpu":
            carry, ys = {"h": init}, []
            for x in xs:
                carry, (y, _) = step(carry, x)
                ys.append(y)
            ys = torch.stack(ys)
        else:
            carry, (ys, nothing) = xla_scan(step, {"h": init}, xs)
            assert nothing is None
            assert xm.get_stablehlo([ys]).count("stablehlo.while") == 1
        (carry["h"].pow(2).sum() + ys.cos().sum()).backward()
        return [t.cpu() for t in (ys.detach(), weight.grad, init.grad, xs.grad)]
    for got, want in zip(run("xla"), run("cpu")):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="6 elements"):
        xla_scan(lambda c, x: (c, None), torch.zeros(2).to("xla"), [torch.zeros(6).to("xla"), torch.zeros(5).to("xla")])


class NormedLayer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = torch.nn.RMSNorm(8), torch.nn.Linear(8, 16, bias=False), torch.nn.Linear(16, 8, bias=False)

    def forward(self, x):
        return x + self.down(torch.nn.functional.silu(self.up(self.norm(x))))


def test_scan_layers_behind_a_norm_and_a_head():
    """The gradient that the backward loop begins with is written over a product of another rank."""
    from torch_xla.experimental.scan_layers import scan_layers
    layers = torch.nn.ModuleList([NormedLayer() for _ in range(2)])
    parts = torch.nn.ModuleList([torch.nn.Embedding(10, 8), torch.nn.RMSNorm(8), torch.nn.Linear(8, 10, bias=False), layers])
    ids = torch.randint(0, 10, (8, 4))

    def gradients(device, run):
        embedding, norm, head, blocks = parts.to(device)
        parts.zero_grad()
        head(norm(run(blocks, embedding(ids.to(device))))).square().mean().backward()
        return [parameter.grad.cpu().clone() for parameter in parts.parameters()]

    def one_by_one(blocks, x):
        for block in blocks:
            x = block(x)
        return x
    for want, got in zip(gradients("cpu", one_by_one), gradients("xla", scan_layers), strict=True):
        torch.testing.assert_close(got, want)


def test_scan_layers_and_dropout():
    from torch_xla.experimental.scan_layers import scan_layers
    layers = [Block() for _ in range(5)]
    x = torch.randn(3, 4)
    want = x
    for layer in layers:
        want = layer(want)
    want.pow(2).sum().backward()
    gradients = [p.grad.clone() for layer in layers for p in layer.parameters()]
    for layer in layers:
        layer.zero_grad()
        layer.to("xla")
    got = scan_layers(layers, x.to("xla"))
    assert xm.get_stablehlo([got]).count("stablehlo.dot_general") == 1
    torch.testing.assert_close(got.detach().cpu(), want.detach(), rtol=1e-4, atol=1e-4)
    got.pow(2).sum().backward()
    for p, g in zip([p for layer in layers for p in layer.parameters()], gradients):
        torch.testing.assert_close(p.grad.cpu(), g, rtol=1e-3, atol=1e-3)
    # The masks of dropout differ between layers, and are those of the forward pass in the backward pass.
    ones = torch.ones(1000).to("xla").requires_grad_()
    out = scan_layers([torch.nn.Sequential(torch.nn.Dropout(0.5), Scale()).to("xla") for _ in range(3)], ones)
    out.sum().backward()
    assert torch.equal(ones.grad.cpu(), out.detach().cpu()) and 50 < (out == 8).sum().item() < 220


class Scale(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = torch.nn.Parameter(torch.ones(()))

    def forward(self, x):
        return x * self.one


def test_fori_loop():
    from torch_xla.experimental.fori_loop import fori_loop
    lower, upper, a, b = fori_loop(torch.tensor([2], dtype=torch.int32).to("xla"), torch.tensor([12], dtype=torch.int32).to("xla"),
                                   lambda a, b: a + b, torch.tensor([3]).to("xla"), torch.tensor([1]).to("xla"))
    assert (lower.item(), upper.item(), a.item(), b.item()) == (12, 12, 3, 31)


def test_assume_pure_and_gru():
    from torch_xla.experimental.assume_pure import PureModule, assume_pure
    from torch_xla.experimental.gru import GRU
    calls = []

    @assume_pure
    def f(x, w, scale=1.0):
        calls.append(x.shape)
        return (x @ w).sin() * scale
    x, w = torch.randn(3, 4).to("xla"), torch.randn(4, 2).to("xla").requires_grad_()
    for _ in range(3):
        w.grad = None
        y = f(x, w, scale=2.0)
        y.sum().backward()
    traced = len(calls)
    weight = w.detach().cpu().requires_grad_()
    expected = (x.cpu() @ weight).sin() * 2
    expected.sum().backward()
    torch.testing.assert_close(y.detach().cpu(), expected.detach(), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(w.grad.cpu(), weight.grad, rtol=1e-4, atol=1e-5)
    f(x, w, scale=2.0)
    assert len(calls) == traced <= 2
    with torch.no_grad():
        torch.testing.assert_close(PureModule(torch.nn.Identity())(x).cpu(), x.cpu())
    plain, ours = torch.nn.GRU(3, 4, 2), GRU(3, 4, 2)
    with torch.no_grad():
        for mine, its in zip(ours.parameters(), plain.parameters()):
            mine.copy_(its)
    ours.to("xla")
    sequence = torch.randn(5, 2, 3)
    for got, want in zip(ours(sequence.to("xla")), plain(sequence)):
        torch.testing.assert_close(got.detach().cpu(), want.detach(), rtol=1e-4, atol=1e-4)


def test_nothing_of_a_body_is_left():
    from torch_xla.experimental import _control_flow as flow
    leaked = []

    def body(x):
        leaked.append(x + 1)
        return (x * 2,)
    got, = flow.while_loop(lambda x: x.sum() < 10, body, [torch.ones(3).to("xla")])
    torch_xla.sync()
    assert got.cpu().tolist() == [4.0] * 3
    with pytest.raises(RuntimeError, match="while a function was traced"):
        leaked[0].cpu()


def test_map_that_changes_its_inputs_is_refused():
    """PyTorch 2.14 passes the positions of the inputs that the function changes."""
    from torch_xla.experimental._control_flow import _map_op
    with pytest.raises(NotImplementedError, match=r"cannot change its inputs in place \(arguments 0,2\): return the new values"):
        _map_op(lambda x: x, [torch.ones(2, device="xla")], (), "0,2")
