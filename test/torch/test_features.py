# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Features of PyTorch that reach deep into a device's implementation."""
import copy
import threading

import pytest
import torch
import torch.nn.functional as F
import torch_xla


def same_gradients(make, *inputs, rtol=1e-4, atol=1e-5):
    torch.manual_seed(0)
    model = make()
    moved = copy.deepcopy(model).to("xla")
    for m, device in ((model, "cpu"), (moved, "xla")):
        out = m(*[t.to(device) for t in inputs])
        out = out[0] if isinstance(out, tuple) else out
        out.pow(2).mean().backward()
    for (name, p), q in zip(model.named_parameters(), moved.parameters()):
        torch.testing.assert_close(q.grad.cpu(), p.grad, rtol=rtol, atol=atol, msg=lambda text: f"{name}: {text}")


@pytest.mark.parametrize("make, shape", [
    (lambda: torch.nn.LSTM(4, 5, batch_first=True), (2, 3, 4)),
    (lambda: torch.nn.GRU(4, 5, batch_first=True), (2, 3, 4)),
    (lambda: torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.GroupNorm(2, 4), torch.nn.SiLU()), (2, 3, 6, 6)),
    (lambda: torch.nn.Sequential(torch.nn.Conv1d(3, 4, 3, padding=1), torch.nn.InstanceNorm1d(4, affine=True), torch.nn.Softplus()), (2, 3, 8)),
    (lambda: torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.PReLU(), torch.nn.LayerNorm(4), torch.nn.ELU()), (3, 4)),
    (lambda: torch.nn.Bilinear(4, 4, 2), None),
])
def test_gradients(make, shape):
    torch.manual_seed(3)
    inputs = [torch.randn(shape)] if shape else [torch.randn(3, 4), torch.randn(3, 4)]
    same_gradients(make, *inputs)


@pytest.mark.parametrize("optimizer", ["RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "Rprop", "ASGD"])
def test_optimizers(optimizer):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3)
    moved = copy.deepcopy(model).to("xla")
    x = torch.randn(5, 4)
    for m, device in ((model, "cpu"), (moved, "xla")):
        o = getattr(torch.optim, optimizer)(m.parameters(), lr=0.01)
        for _ in range(3):
            o.zero_grad()
            m(x.to(device)).pow(2).mean().backward()
            o.step()
            torch_xla.sync()
    torch.testing.assert_close(moved.weight.cpu(), model.weight, rtol=1e-4, atol=1e-5)


def test_custom_function_hooks_checkpoint_and_transforms():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            context.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(context, grad):
            return 2 * grad * context.saved_tensors[0]
    x = torch.ones(2, device="xla", requires_grad=True)
    x.register_hook(lambda grad: grad * 3)
    Square.apply(x).sum().backward()
    assert x.grad.cpu().tolist() == [6.0, 6.0]
    from torch.utils.checkpoint import checkpoint
    y = torch.full((2,), 0.5, device="xla", requires_grad=True)
    checkpoint(lambda t: (t * t).sin(), y, use_reentrant=False).sum().backward()
    torch.testing.assert_close(y.grad.cpu(), torch.full((2,), 0.25).cos())
    assert torch.func.grad(lambda t: (t ** 2).sum())(y.detach()).cpu().tolist() == [1.0, 1.0]
    assert torch.vmap(lambda t: t * 2)(y.detach()).cpu().tolist() == [1.0, 1.0]


def test_in_place_on_a_view_with_autograd():
    x = torch.ones(4, device="xla", requires_grad=True)
    y = x * 2
    y[1:3].mul_(3)
    y.sum().backward()
    assert x.grad.cpu().tolist() == [2.0, 6.0, 6.0, 2.0]


def test_clip_grad_norm_reads_nothing():
    model = torch.nn.Linear(2, 2).to("xla")
    model(torch.ones(1, 2, device="xla")).sum().backward()
    torch_xla.debug.metrics.clear_all()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    assert torch_xla.debug.metrics.metric_data("TransferFromDeviceTime") is None
    torch.testing.assert_close(norm.cpu(), torch.tensor(6.0).sqrt())


def test_moved_modules_keep_parameters_and_ties():
    a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    b.weight = a.weight
    weight = a.weight
    model = torch.nn.Sequential(a, b).to("xla")
    assert model[0].weight is model[1].weight is weight and weight.device.type == "xla"


def test_load_state_dict_while_a_loss_holds_the_graph():
    model = torch.nn.Linear(2, 2).to("xla")
    weight, loss = model.weight, model(torch.ones(1, 2, device="xla")).sum()
    model.load_state_dict({"weight": torch.eye(2), "bias": torch.zeros(2)})
    assert model.weight is weight and weight.cpu().tolist() == [[1.0, 0.0], [0.0, 1.0]] and loss.dim() == 0


def test_default_device_and_meta():
    with torch.device("xla"):
        layer = torch.nn.Linear(2, 2)
    assert layer.weight.device.type == "xla"
    assert torch.nn.Linear(2, 2, device="meta").to_empty(device="xla").weight.device.type == "xla"


def test_threads():
    results = []

    def work():
        x = torch.ones(10, 10, device="xla", requires_grad=True)
        y = x
        for _ in range(50):
            y = y * 1.01
        y.sum().backward()
        results.append(x.grad.cpu()[0, 0].item())
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == pytest.approx([1.01 ** 50] * 4, rel=1e-4)


def test_overwritten_tensors_are_donated():
    # The memory of what a step overwrites becomes that of its results: no second set of weights.
    met = torch_xla.debug.metrics
    x, kept = torch.ones(1000, device="xla"), torch.ones(1000, device="xla") * 1.5
    torch_xla.sync(wait=True)
    for step in range(3):
        met.clear_all()
        x += kept
        torch_xla.sync()
        assert met.counter_value("DonatedBuffers") == 1
    assert x[0].item() == 5.5 and kept[0].item() == 1.5
    before = x.clone()
    torch_xla.sync()
    met.clear_all()
    x += kept
    torch_xla.sync()
    assert x[0].item() == 7 and before[0].item() == 5.5


def test_one_compilation_whatever_the_rate():
    w = torch.ones(3, device="xla", requires_grad=True)
    o = torch.optim.SGD([w], lr=0.1)
    counts = []
    for step in range(12):
        o.param_groups[0]["lr"] = 0.3 / (step + 2)
        o.zero_grad()
        F.mse_loss(w, torch.zeros(3, device="xla")).backward()
        o.step()
        torch_xla.sync()
        counts.append(torch_xla._XLAC._compilations())
    assert counts[-1] == counts[1]


def test_forward_mode_gradients(no_fallback):
    """PyTorch makes zeros without memory for what has no tangent."""
    x, w = torch.randn(4, 3), torch.randn(3, 2)
    f = lambda x, w: (x @ w).sin().sum()  # noqa: E731
    for transform in (torch.func.jacfwd, torch.func.hessian):
        want, got = transform(f, 1)(x, w), transform(f, 1)(x.to("xla"), w.to("xla"))
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)


def test_weight_norm(no_fallback):
    torch.manual_seed(0)
    module = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 4))
    x, grads = torch.randn(2, 3), []
    for device in ("cpu", "xla"):
        module.to(device).zero_grad()
        module(x.to(device)).sin().sum().backward()
        grads.append([p.grad.cpu().clone() for p in module.parameters()])
    torch.testing.assert_close(grads[1], grads[0])


def test_integers_are_counted_in_bins_with_fractional_bounds(no_fallback):
    x = torch.tensor([3, 1, 0, 2, 2, 1, 1, 3, 0, 0], dtype=torch.int32)
    assert torch.histc(x.to("xla"), bins=4, min=0, max=3).tolist() == torch.histc(x.float(), bins=4, min=0, max=3).tolist()


def test_numpy_looks_at_the_memory():
    import numpy
    x = torch.arange(4.0, device="xla") + 1
    seen = numpy.from_dlpack(x)
    assert seen.tolist() == [1, 2, 3, 4] and x.__dlpack_device__() == (torch.utils.dlpack.DLDeviceType.kDLCPU, 0)
    assert torch.from_dlpack(x).device.type == "cpu"
    with pytest.raises(BufferError, match="require gradient"):
        numpy.from_dlpack(x.requires_grad_())


def test_gradients_that_are_zero_everywhere():
    for function in (torch.sgn, torch.sign):
        x = torch.tensor([-2.0, 0.0, 3.0], device="xla", requires_grad=True)
        (function(x) * 2 + x).sum().backward()
        assert x.grad.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"])
def test_floats_of_eight_bits(name):
    dtype, x = getattr(torch, name), torch.randn(16, 32, generator=torch.Generator().manual_seed(0))
    small = x.to(dtype)
    there = x.to("xla").to(dtype)
    assert there.dtype is dtype and torch.equal(there.cpu().float(), small.float()) and torch.equal(there.float().cpu(), small.float())
    assert torch.equal(small.to("xla").cpu().float(), small.float())
    if name == "float8_e4m3fn":
        one, other = torch.tensor(1.0), small.t()
        want = torch._scaled_mm(small, other, scale_a=one, scale_b=one, out_dtype=torch.float32)
        got = torch._scaled_mm(there, other.to("xla"), scale_a=one.to("xla"), scale_b=one.to("xla"), out_dtype=torch.float32)
        torch.testing.assert_close(got.cpu(), want, rtol=1e-3, atol=1e-3)


def test_tensors_kept_for_the_backward_pass_elsewhere():
    x = torch.randn(3, device="xla", requires_grad=True)
    packed = []

    def pack(tensor):
        packed.append(tensor.device.type)
        return tensor.cpu()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor.to("xla")):
        y = (x * x.exp()).sum()
    y.backward()
    assert packed and set(packed) == {"xla"}
    value = x.detach().cpu()
    torch.testing.assert_close(x.grad.cpu(), value.exp() * (1 + value))
    with torch.autograd.detect_anomaly(), pytest.raises(RuntimeError, match="returned nan values"):
        zero = torch.zeros(1, device="xla", requires_grad=True)
        (zero.sqrt() * 0).sum().backward()
