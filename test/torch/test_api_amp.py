# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp against PyTorch's optimizers and scaler."""
import copy

import pytest
import torch
import torch_xla
import torch_xla.amp as amp
import torch_xla.debug.metrics as met
from torch_xla.amp import syncfree

OPTIMIZERS = [
    (syncfree.SGD, torch.optim.SGD, dict(lr=0.1)),
    (syncfree.SGD, torch.optim.SGD, dict(lr=0.1, momentum=0.9, dampening=0.1, weight_decay=0.01)),
    (syncfree.SGD, torch.optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, maximize=True)),
    (syncfree.Adam, torch.optim.Adam, dict(lr=0.01, weight_decay=0.1)),
    (syncfree.Adam, torch.optim.Adam, dict(lr=0.01, amsgrad=True, maximize=True)),
    (syncfree.AdamW, torch.optim.AdamW, dict(lr=0.01, weight_decay=0.1, amsgrad=True)),
]


@pytest.mark.parametrize("ours, theirs, options", OPTIMIZERS, ids=lambda value: getattr(value, "__name__", None))
def test_steps_are_pytorchs_and_can_be_skipped(no_fallback, ours, theirs, options):
    torch.manual_seed(0)
    weights = [torch.randn(3, 2), torch.randn(4)]
    a, b = [w.clone().requires_grad_() for w in weights], [w.to("xla").requires_grad_() for w in weights]
    one, other = theirs(a, **options), ours(b, **options)
    for step in range(5):
        skips = step == 2
        grads = [torch.randn_like(w) for w in weights]
        for p, q, g in zip(a, b, grads):
            p.grad, q.grad = g.clone(), g.to("xla")
        if skips:
            b[0].grad[0] = float("inf")
            met.clear_metrics()
        else:
            one.step()
        other.step(found_inf=torch.tensor([float(skips)], device="xla"))
        assert met.metric_data("TransferFromDeviceTime") is None
        torch_xla.sync()
    for p, q in zip(a, b):
        torch.testing.assert_close(q.detach().cpu(), p.detach(), rtol=1e-5, atol=1e-6)
    assert isinstance(other, theirs)


def train(device, scaler_class, optimizer_class, poison):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    model = copy.deepcopy(model).to(device)
    optimizer = optimizer_class(model.parameters(), lr=0.1)
    scaler = scaler_class(init_scale=8.0, growth_interval=2)
    scales = []
    for step in range(6):
        optimizer.zero_grad()
        x = torch.full((2, 3), 1.0 + step, device=device)
        loss = model(x).pow(2).mean()
        if step == poison:
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        torch_xla.sync()
        scales.append(scaler.get_scale())
    return scales, [p.detach().cpu() for p in model.parameters()]


@pytest.mark.parametrize("optimizer", [syncfree.SGD, torch.optim.SGD])
def test_scaler_skips_infinite_steps(no_fallback, optimizer):
    want_scales, want = train("cpu", lambda **k: torch.amp.GradScaler("cpu", **k), torch.optim.SGD, poison=3)
    scales, got = train("xla", amp.GradScaler, optimizer, poison=3)
    assert scales == want_scales == [8.0, 16.0, 16.0, 8.0, 8.0, 16.0]
    for a, b in zip(got, want):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_syncfree_step_does_not_ask_the_host(no_fallback):
    model = torch.nn.Linear(3, 2).to("xla")
    optimizer, scaler = syncfree.Adam(model.parameters(), lr=0.1), amp.GradScaler()
    for step in range(3):
        met.clear_all()
        scaler.scale(model(torch.ones(2, 3, device="xla")).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        torch_xla.sync()
        assert met.metric_data("ExecuteTime")[0] == 1 and met.metric_data("TransferFromDeviceTime") is None
    assert met.counter_value("UncachedCompile") is None, "the third step is the second one's program"


def test_zero_grad_scaler():
    model = torch.nn.Linear(2, 1, bias=False).to("xla")
    before = model.weight.detach().cpu().clone()
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), amp.GradScaler(use_zero_grad=True)
    scaler.scale(model(torch.ones(1, 2, device="xla")).sum() * float("inf")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.equal(model.weight.detach().cpu(), before) and scaler.get_scale() == 2.0 ** 15


def test_autocast():
    layer = torch.nn.Linear(3, 3).to("xla")
    x = torch.randn(2, 3, device="xla")
    with amp.autocast(torch_xla.device()):
        assert layer(x).dtype == torch.bfloat16 and torch.softmax(layer(x), -1).dtype == torch.float32
        with amp.autocast("xla", enabled=False):
            assert layer(x).dtype == torch.float32
    with amp.autocast("xla", dtype=torch.float16):
        assert layer(x).dtype == torch.float16
    with pytest.raises(ValueError, match="type xla"):
        amp.autocast("cuda")


def test_gradient_clipping_does_not_ask_the_host(no_fallback):
    torch.manual_seed(0)
    grads = [torch.randn(3, 4) * 5, torch.randn(7)]
    ours, theirs = [torch.zeros_like(g).to("xla") for g in grads], [torch.zeros_like(g) for g in grads]
    for tensors in (ours, theirs):
        for tensor, grad in zip(tensors, grads):
            tensor.grad = grad.to(tensor.device).clone()
    met.clear_all()
    total = torch.nn.utils.clip_grad_norm_(ours, 1.0)
    assert met.metric_data("TransferFromDeviceTime") is None and met.metric_data("ExecuteTime") is None
    torch.testing.assert_close(total.cpu(), torch.nn.utils.clip_grad_norm_(theirs, 1.0))
    for a, b in zip(ours, theirs):
        torch.testing.assert_close(a.grad.cpu(), b.grad)


def test_types_of_operators_under_autocast(no_fallback):
    """What PyTorch/XLA lists: products in autocast's type, losses and normalizations in float32, the rest as it comes."""
    F = torch.nn.functional
    x, image, weight = (torch.rand(sizes, dtype=torch.bfloat16).to("xla") for sizes in ((3, 3), (1, 2, 4, 4), (2, 2, 3, 3)))
    single, norm, target = x.float(), torch.ones(2, device="xla"), torch.tensor([0, 2, 1], device="xla")
    low = [lambda: torch.addbmm(single, single[None], single[None]), lambda: torch.einsum("ij,kj->ik", single, single),
           lambda: F.conv_transpose2d(image.float(), weight.float()), lambda: F.conv2d(image.float(), weight.float(), padding="same"),
           lambda: F.max_pool2d(image.float(), 2), lambda: F.relu(single), lambda: F.prelu(single, single[0])]
    full = [lambda: F.batch_norm(image, norm.float() * 0, norm, training=True), lambda: F.cross_entropy(x, target), lambda: F.l1_loss(x, x),
            lambda: F.smooth_l1_loss(x, x), lambda: F.kl_div(x, x), lambda: F.binary_cross_entropy_with_logits(x, x), lambda: x.prod(),
            lambda: x.softmax(0), lambda: torch.cdist(x, x), lambda: x.trace(), lambda: torch.linalg.inv_ex(x)[0]]
    kept = [lambda: x.exp(), lambda: x + 1, lambda: torch.cat([x, x]), lambda: x.half().sum(), lambda: torch.stack([x.half(), x.half()])]
    with amp.autocast("xla"):
        assert [f().dtype for f in low] == [torch.bfloat16] * len(low)
        assert [f().dtype for f in full] == [torch.float32] * len(full)
        assert [f().dtype for f in kept] == [torch.bfloat16] * 3 + [torch.float16] * 2
        assert torch.cat([x, single]).dtype == torch.float32
        torch.testing.assert_close(F.cross_entropy(x, target).cpu(), F.cross_entropy(single, target).cpu())
    with amp.autocast("xla", dtype=torch.float16):
        assert torch.einsum("ij,kj->ik", single, single).dtype == torch.float16
