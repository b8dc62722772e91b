# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often things happen: decompositions, compilations, executions, transfers. No times."""
import copy
import os
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.debug.metrics as met


def count(name):
    return met.counter_value(name) or 0


def executions():
    return (met.metric_data("ExecuteTime") or (0,))[0]


def compilations():
    return torch_xla._XLAC._compilations()


def classifier():
    return torch.nn.Sequential(torch.nn.Embedding(20, 8), torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
                               torch.nn.Linear(8, 5)).to("xla")


def test_a_decomposition_runs_once_per_signature():
    def use(rows):
        return torch.renorm(torch.rand(rows, 6, device="xla"), 2, 0, 0.5).cpu()
    use(3)
    before = count("DecomposedInPython")
    assert before
    for _ in range(3):
        use(3)
    assert count("DecomposedInPython") == before
    use(4)
    assert count("DecomposedInPython") > before


def test_random_numbers_of_a_decomposition_are_new_in_every_call():
    x = torch.ones(1000, device="xla")
    draws = [F.rrelu(-x, 0.1, 0.9, training=True) if i % 2 else F.dropout(x, 0.5) for i in range(6)]
    values = [draw.cpu() for draw in draws]
    assert all(not torch.equal(a, b) for i, a in enumerate(values) for b in values[i + 1:])


def test_a_training_step_is_one_program_without_python_decompositions():
    torch.manual_seed(0)
    model = classifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 3) / 7)
    x, y = torch.randint(0, 20, (2, 3), device="xla"), torch.randint(0, 5, (6,), device="xla")
    for step in range(6):
        if step == 2:
            torch_xla.sync(wait=True)
            before = count("DecomposedInPython"), compilations(), executions(), len(met.executed_fallback_ops())
        optimizer.zero_grad()
        F.cross_entropy(model(x).flatten(0, 1), y).backward()
        optimizer.step()
        schedule.step()
        torch_xla.sync()
    assert (count("DecomposedInPython"), compilations(), executions() - 4, len(met.executed_fallback_ops())) == before


def test_reading_a_value_computes_what_it_needs():
    x = torch.rand(4, device="xla")
    torch_xla.sync()
    y, z = x + 1, x * 3
    before = executions()
    y.cpu()
    assert executions() == before + 1
    text = torch_xla._XLAC._get_xla_tensors_text([z])
    assert "aten::mul" in text and "aten::mul" not in torch_xla._XLAC._get_xla_tensors_text([y])
    torch_xla.sync()
    assert executions() == before + 2
    torch_xla.sync()
    assert executions() == before + 2
    torch.testing.assert_close(z.cpu(), x.cpu() * 3)


def pending_operations(*tensors):
    text = torch_xla._XLAC._get_xla_tensors_text(list(tensors))
    return [name for name in ("aten::mm", "aten::tanh", "aten::sum", "aten::gelu_backward", "aten::gelu", "aten::addmm") if name + "(" in text]


def test_what_a_read_graph_computes_for_others_is_kept():
    x = torch.rand(8, 8, device="xla")
    torch_xla.sync()
    h = (x @ x).tanh()
    a, b = h.sum(), h.t() * 2
    assert pending_operations(b) == ["aten::mm", "aten::tanh"]
    a.item()
    assert pending_operations(b) == [] and pending_operations(h) == []
    before = executions()
    h.tolist()
    assert executions() == before, "it was computed with the sum"
    torch.testing.assert_close(b.cpu(), (x.cpu() @ x.cpu()).tanh().t() * 2)
    # What nobody holds any more is no result.
    c = (x @ x).tanh().sum()
    c.item()
    assert met.metric_data("WrapXlaData")[0] and torch_xla._XLAC._get_xla_tensors_text([c]).count("device_data") == 1


def test_reading_the_loss_before_its_gradients_computes_the_forward_pass_once():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU(), torch.nn.Linear(8, 1)).to("xla")
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.rand(4, 8, device="xla")
    twin = copy.deepcopy(model).cpu()
    other = torch.optim.Adam(twin.parameters())
    for step in range(4):
        before = compilations()
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.item()
        loss.backward()
        assert pending_operations(model[0].weight.grad) == ["aten::mm", "aten::gelu_backward"]
        optimizer.step()
        torch_xla.sync()
        assert step < 2 or compilations() == before
        other.zero_grad()
        twin(x.cpu()).square().mean().backward()
        other.step()
    torch.testing.assert_close(model[0].weight.cpu(), twin[0].weight)


def test_transfers_of_numbers_are_counted_once():
    x, y = torch.rand(3).to("xla"), torch.rand(3).to("xla")
    torch_xla.sync()
    met.clear_all()
    for expected in (1, 1):
        x.addcdiv_(y, y, value=0.1234567)
        torch_xla.sync()
        assert met.metric_data("TransferToDeviceTime")[0] == expected


def test_a_large_graph_is_cut(tmp_path):
    program = """
import torch, torch_xla, torch_xla.debug.metrics as met
x = torch.zeros(4, device="xla")
torch_xla.sync()
for _ in range(1000):
    x = x + 1
print(met.counter_value("TrimIrGraph"), met.metric_data("ExecuteTime")[0], met.counter_value("UncachedCompile"), x.tolist())
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200, env=dict(
        os.environ, XLA_TRIM_GRAPH_SIZE="100", XLA_TRIM_GRAPH_CHECK_FREQUENCY="50", PT_XLA_DEBUG_LEVEL="1"))
    assert ran.returncode == 0, ran.stderr
    # Every 100 additions; one more execution before them, for the zeros. The programs are all the same.
    assert ran.stdout.split(" ", 3) == ["10", "11", "2", "[1000.0, 1000.0, 1000.0, 1000.0]\n"]
    assert "the pending graph has 100 operations (XLA_TRIM_GRAPH_SIZE)" in ran.stderr


def test_other_results_of_an_operation_survive_the_reading_of_one():
    x = torch.rand(4, 3, device="xla")
    values, indices = x.max(1)
    sums = indices + 1
    values.cpu()
    torch.testing.assert_close(sums.cpu(), x.cpu().max(1)[1] + 1)
    torch.testing.assert_close(indices.cpu(), x.cpu().max(1)[1])


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad"])
@pytest.mark.parametrize("foreach", [None, False, True])
def test_optimizers_equal_the_cpus(name, foreach):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))
    moved = copy.deepcopy(model).to("xla")
    x = torch.randn(6, 4)
    options = dict(lr=0.03, weight_decay=0.01, foreach=foreach)
    for m, device in ((model, "cpu"), (moved, "xla")):
        optimizer = getattr(torch.optim, name)(m.parameters(), **options)
        for _ in range(4):
            optimizer.zero_grad()
            m(x.to(device)).square().mean().backward()
            optimizer.step()
            torch_xla.sync()
    for p, q in zip(model.parameters(), moved.parameters()):
        torch.testing.assert_close(q.cpu(), p, rtol=1e-5, atol=1e-6)


def test_a_copy_costs_no_memory_until_the_original_is_written():
    x = torch.rand(4, device="xla")
    torch_xla.sync()
    kept, before = x.cpu(), x.clone()
    assert torch_xla._XLAC._unsafe_buffer_pointer(before) == torch_xla._XLAC._unsafe_buffer_pointer(x)
    for step in range(3):
        met.clear_all()
        x.mul_(2.0)
        torch_xla.sync()
        # The program may write over its input; it does not while the copy shows it.
        assert (met.counter_value("DonatedBuffers") or 0) == (step > 0)
    assert torch.equal(before.cpu(), kept) and torch.equal(x.cpu(), kept * 8)
    before.add_(1)
    torch_xla.sync()
    assert torch.equal(before.cpu(), kept + 1) and torch.equal(x.cpu(), kept * 8)


def test_foreach_repeats_what_is_alike():
    def lists(device):
        return [[torch.arange(4.0, device=device).reshape(shape).to(dtype) for shape, dtype in
                 (((4,), torch.float32), ((4,), torch.float32), ((2, 2), torch.float32), ((2, 2), torch.float64), ((2, 2), torch.float64))]
                for _ in range(2)]
    for function in (lambda x, y: torch._foreach_add_(x, y, alpha=3), lambda x, y: torch._foreach_mul_(x, [2.0, 1.0, 0.5, 0.0, 2.0]),
                     lambda x, y: torch._foreach_add_(x, [2, 1.0, 5, 3, 4.5]), lambda x, y: torch._foreach_addcmul_(x, y, y, [2.0, 2.0, 1.0, 4.0, 5.0]),
                     lambda x, y: torch._foreach_add_(x, [x[0][1].clone()] * 5)):
        (x, y), (a, b) = lists("xla"), lists("cpu")
        x[1], a[1] = x[1].flip(0), a[1].flip(0)
        before = torch_xla._XLAC._recorded()
        function(x, y), function(a, b)
        assert torch_xla._XLAC._recorded() - before <= 10
        for p, q in zip(x, a):
            torch.testing.assert_close(p.cpu(), q)


def test_foreach_on_lists():
    a, b = [torch.rand(3), torch.rand(2, 2)], [torch.rand(3), torch.rand(2, 2)]
    x, y = [t.to("xla") for t in a], [t.to("xla") for t in b]
    before = len(met.executed_fallback_ops())
    for result, wanted in ((torch._foreach_add(x, y, alpha=2), torch._foreach_add(a, b, alpha=2)),
                           (torch._foreach_mul(x, [2., 3.]), torch._foreach_mul(a, [2., 3.])),
                           (torch._foreach_sqrt(x), torch._foreach_sqrt(a)),
                           (torch._foreach_addcdiv(x, y, y, [0.5, 2.]), torch._foreach_addcdiv(a, b, b, [0.5, 2.]))):
        for p, q in zip(result, wanted):
            torch.testing.assert_close(p.cpu(), q)
    view = x[1][0]
    torch._foreach_lerp_(x, y, 0.25)
    torch._foreach_lerp_(a, b, 0.25)
    same = [x[0], x[0]]
    torch._foreach_add_(same, 1)
    a[0].add_(1).add_(1)
    for p, q in zip([*x, view], [*a, a[1][0]]):
        torch.testing.assert_close(p.cpu(), q)
    with pytest.raises(RuntimeError):
        torch._foreach_add_(x, [y[0]])
    assert len(met.executed_fallback_ops()) == before


def test_views_of_another_element_size():
    x = torch.arange(8, dtype=torch.int32)
    for tensor in (x, x.view(2, 4), x.view(2, 4).t().t()):
        for dtype in (torch.uint8, torch.int16, torch.int64, torch.float64):
            torch.testing.assert_close(tensor.to("xla").view(dtype).cpu(), tensor.view(dtype))
    y = x.to("xla")
    y.view(torch.int16)[1] = 7  # writes through
    x.view(torch.int16)[1] = 7
    torch.testing.assert_close(y.cpu(), x)
    for bad in (lambda t: t[1:4].view(torch.int64), lambda t: t.view(2, 4).t().view(torch.int64), lambda t: t[0].view(torch.int16)):
        with pytest.raises(RuntimeError) as ours:
            bad(y)
        with pytest.raises(RuntimeError) as theirs:
            bad(x)
        assert str(ours.value) == str(theirs.value)


SELECTIONS = {
    "nonzero": lambda x, mask: mask.nonzero(),
    "nonzero of a matrix": lambda x, mask: mask.reshape(8, -1).nonzero(),
    "masked_select": lambda x, mask: x.masked_select(mask),
    "x[mask]": lambda x, mask: x[mask],
    "rows": lambda x, mask: torch.stack((x, -x), 1)[mask],
    "unique": lambda x, mask: torch.where(mask, x, torch.zeros_like(x)).unique(return_inverse=True, return_counts=True),
    "unique rows": lambda x, mask: torch.stack((torch.where(mask, x, torch.zeros_like(x)), x * 0), 1).unique(dim=0),
    "unique_consecutive": lambda x, mask: (mask * 1).unique_consecutive(),
}


@pytest.mark.parametrize("name", SELECTIONS)
def test_no_program_depends_on_how_many_elements_a_value_selects(name):
    x = torch.arange(1., 121)
    select = SELECTIONS[name]
    masks = [torch.rand(120) * 100 < count for count in range(100)]
    wants = [select(x, mask) for mask in masks]
    if name != "unique_consecutive":
        assert len({len(want[0]) if isinstance(want, tuple) else len(want) for want in wants}) > 30  # so many counts there are
    before = compilations()
    on_device = x.to("xla")
    for mask, want in zip(masks, wants):
        got = select(on_device, mask.to("xla"))
        for a, b in zip(got, want) if isinstance(want, tuple) else ((got, want),):
            assert a.device.type == "xla" and torch.equal(a.cpu(), b)
    assert compilations() - before <= 2
