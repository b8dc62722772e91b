# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.experimental: scan with partition functions, layers as a loop, functions that are recorded once, gradients over batches."""
import re

import pytest
import torch
from functorch.compile import default_partition, min_cut_rematerialization_partition

import torch_xla
import torch_xla.core.xla_builder as xb
from torch_xla.experimental.assume_pure import assume_pure
from torch_xla.experimental.fori_loop import _xla_while_loop_wrapper
from torch_xla.experimental.gradient_accumulation import gradient_accumulation
from torch_xla.experimental.scan import _SCAN_COMPUTATION_CACHE, scan, tree_flatten_none, value_and_grad_partitioned
from torch_xla.experimental.scan_layers import _ONE_LAYER_CACHE, scan_layers

HLO = torch_xla._XLAC._get_xla_tensors_hlo


def _leaf(*sizes):
    return torch.rand(*sizes).to("xla").requires_grad_()


def _step(carry, x):
    carry = {"a": (carry["a"] * x["w"]).sin(), "n": carry["n"] + 1}
    return carry, (x["w"] * 2 + carry["a"], None)


@pytest.mark.parametrize("partition", [default_partition, min_cut_rematerialization_partition])
def test_partition_functions_give_the_same_gradients(partition):
    results = []
    for loop in (True, False):
        torch.manual_seed(3)
        a, w = _leaf(3), _leaf(4, 3)
        carry, ys = {"a": a, "n": torch.zeros((), dtype=torch.int64, device="xla")}, []
        if loop:
            carry, (y, nothing) = scan(_step, carry, {"w": w}, partition_fn=partition)
            assert nothing is None
        else:
            for i in range(4):
                carry, (y, _) = _step(carry, {"w": w[i]})
                ys.append(y)
            y = torch.stack(ys)
        (carry["a"].sum() + y.square().sum()).backward()
        results.append([t.detach().cpu() for t in (carry["a"], carry["n"], y, a.grad, w.grad)])
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("partition", [default_partition, min_cut_rematerialization_partition])
@pytest.mark.parametrize("carriedNeeds, slicesNeed", [(False, True), (True, False)])
def test_gradients_flow_through_what_is_carried(partition, carriedNeeds, slicesNeed):
    """A carried value that needs no gradient at first depends on slices that do after the first iteration."""
    results = []
    for loop in (True, False):
        c, x = torch.ones(2).to("xla").requires_grad_(carriedNeeds), torch.arange(6.0).reshape(3, 2).to("xla").requires_grad_(slicesNeed)
        carry, constant, ys = c, torch.full((2,), 3.0).to("xla"), []
        if loop:
            (carry, constant), y = scan(lambda c, x: ((c[0] * x, c[1]), c[0] * x + x * c[1]), (carry, constant), x, partition_fn=partition)
        else:
            for row in x:
                carry, y = carry * row, carry * row + row * constant
                ys.append(y)
            y = torch.stack(ys)
        (carry.sum() + y.sum()).backward()
        results.append([t.detach().cpu() for t in (carry, y, c.grad if carriedNeeds else x.grad)])
        assert partition is not default_partition or not constant.requires_grad
    torch.testing.assert_close(*results)


def test_layers_with_an_input_that_needs_no_gradient():
    layers, x = [torch.nn.Linear(3, 3).to("xla") for _ in range(3)], torch.rand(2, 3).to("xla")
    gradients = []
    for loop in (True, False):
        y = scan_layers(layers, x) if loop else layers[2](layers[1](layers[0](x)))
        gradients.append([g.cpu() for g in torch.autograd.grad(y.square().sum(), [p for layer in layers for p in layer.parameters()])])
    torch.testing.assert_close(*gradients)


def test_rematerialization_computes_again():
    def sines(partition):
        carry, xs = _leaf(4), _leaf(6, 4)
        out, _ = scan(lambda c, x: (c.sin().sin().sin() * x, None), carry, xs, partition_fn=partition)
        torch_xla.sync()
        out.sum().backward()
        return HLO([carry.grad, xs.grad]).count(" sine(")
    assert sines(default_partition) == 0 and sines(min_cut_rematerialization_partition) > 1


def test_parts_of_an_iteration():
    carry, xs = _leaf(2, 2), _leaf(3, 2, 2)
    forward, backward = value_and_grad_partitioned(lambda c, x: (c @ x, c @ x), carry, xs)
    new, (y, saved) = forward(carry, xs[0])
    torch.testing.assert_close(new, carry @ xs[0])
    assert [torch.equal(a.cpu(), b.cpu()) for a, b in zip(saved, (carry, xs[0]))] == [True, True]
    ones = torch.ones(2, 2, device="xla")
    for made, want in zip(backward(ones, (ones, saved)), (2 * ones @ xs[0].T, carry.T @ (2 * ones))):
        torch.testing.assert_close(made.detach(), want.detach())
    flat, unflatten = tree_flatten_none(((1, 2), (None, 3), None))
    assert flat == [1, 2, 3] and unflatten([4, 5, 6]) == ((4, 5), (None, 6), None)


def test_what_scan_refuses():
    with pytest.raises(ValueError, match="expects a function, but got int"):
        scan(7, _leaf(2), _leaf(3, 2))

    def changes(carry, x):
        x.add_(1)
        return carry + x, x
    with pytest.raises(RuntimeError, match="in-place operation"):
        scan(changes, _leaf(2), torch.ones(3, 2, device="xla"))


class Pair(torch.nn.Module):
    """Takes two tensors and returns two."""

    def __init__(self):
        super().__init__()
        self.linear, self.weight = torch.nn.Linear(4, 4), torch.nn.Parameter(torch.rand(4, 4))

    def forward(self, x, y):
        return self.linear(x).sin(), y @ self.weight


def test_layers_with_several_arguments():
    layers, given = [Pair().to("xla") for _ in range(3)], (_leaf(4), _leaf(4))
    torch_xla.sync()
    made = scan_layers(layers, given)
    text = HLO([made[0]])
    assert "while(" in text and "condition=" in text and "body=" in text
    want = given
    for layer in layers:
        want = layer(*want)
    torch.testing.assert_close(made, want)


def test_layers_that_differ():
    given = torch.zeros(4, device="xla")
    with pytest.raises(ValueError, match="mismatched keys"):
        scan_layers([torch.nn.Linear(4, 4), torch.nn.Sequential(torch.nn.Linear(4, 4))], given)
    with pytest.raises(ValueError, match=r"Shape mismatch of 'weight': \(4, 4\) .* \(5, 4\)"):
        scan_layers([torch.nn.Linear(4, 4), torch.nn.Linear(4, 5)], given)


def test_a_pure_function_is_recorded_once():
    traces = []

    @assume_pure
    def function(a, b):
        traces.append(1)
        return torch.sin(a @ b)
    before = xb._jax_to_xla_computation_cache_elements()
    for _ in range(3):
        a = _leaf(3, 3)
        function(a, a).sum().backward()
        torch.testing.assert_close(a.grad, torch.func.grad(lambda v: torch.sin(v @ v).sum())(a.detach()))
    assert len(traces) == 1 and xb._jax_to_xla_computation_cache_elements() - before == 2  # forward and backward
    inner = assume_pure(torch.matmul)
    torch.testing.assert_close(assume_pure(lambda a: inner(a, a) + 1)(a).cpu(), (a @ a + 1).cpu())


def test_gradients_over_batches_are_one_loop():
    model = torch.nn.Linear(5, 2).to("xla")
    x, y = torch.rand(6, 3, 5, device="xla"), torch.rand(6, 3, 2, device="xla")

    def step(x, y, count, noise):
        return torch.nn.functional.mse_loss(model(x), y), count + 5, torch.rand_like(noise) - noise
    loss, count, noise = gradient_accumulation(step, (x, y), model, torch.tensor([1, 2], device="xla"), torch.zeros(3, device="xla"))
    made = [p.grad for p in model.parameters()]
    assert len(re.findall(r" while\(", HLO([loss, *made]))) == 1
    assert count.tolist() == [31, 32] and noise.abs().max() > 0
    model.zero_grad()
    whole = torch.nn.functional.mse_loss(model(x), y)
    whole.backward()
    torch.testing.assert_close([loss.detach(), *made], [whole.detach(), *(p.grad for p in model.parameters())])
    gradient_accumulation(step, (x, y), model, count, noise)
    torch.testing.assert_close([p.grad for p in model.parameters()], [2 * g for g in made])


def test_arguments_of_a_step_are_not_changed():
    model = torch.nn.Linear(5, 2).to("xla")

    def step(x, count):
        count += 1
        return model(x).sum(), count
    with pytest.raises(AssertionError, match="in place"):
        gradient_accumulation(step, (torch.rand(6, 5, device="xla"),), model, torch.zeros((), device="xla"))
    with pytest.raises(ValueError):
        gradient_accumulation(step, [], model)


def test_while_loop_without_checks():
    made = _xla_while_loop_wrapper(lambda n, x: n >= 0, lambda n, x: (n - 1, x * 2),
                                   (torch.tensor(2, device="xla"), torch.ones(2, device="xla")), (), fake_tensor=False)
    assert [m.tolist() for m in made] == [-1, [8.0, 8.0]]


def test_pure_functions_are_recorded_once():
    calls = []

    def pure(carry, x):
        calls.append(x.shape)
        return (carry * x).sin(), torch.rand_like(x) + carry * 0
    results, random = [], []
    for is_pure in (False, True, True, True):
        torch.manual_seed(5)
        init, xs = _leaf(3), _leaf(4, 3)
        carry, ys = scan(pure, init, xs, is_fn_pure=is_pure)
        carry.sum().backward()
        results.append([t.detach().cpu() for t in (carry, init.grad, xs.grad)])
        random.append(ys.detach().cpu())
    for other in results[1:]:
        torch.testing.assert_close(other, results[0])
    assert len(calls) == 2, "once for the first, once for all others"
    assert not torch.equal(random[1][0], random[1][1]), "every iteration draws its own numbers"
    assert len(_SCAN_COMPUTATION_CACHE[pure]) == 1
    with torch.no_grad():
        for length in (4, 7):
            scan(pure, _leaf(3), _leaf(length, 3), is_fn_pure=True)
    scan(pure, _leaf(2), _leaf(4, 2), is_fn_pure=True)
    assert len(calls) == 4 and len(_SCAN_COMPUTATION_CACHE[pure]) == 3, "without gradients, and with other sizes, once more each"
    torch.manual_seed(6)
    first = scan(pure, torch.ones(2).to("xla"), torch.ones(4, 2).to("xla"), is_fn_pure=True)[1].cpu()
    assert not torch.equal(first, scan(pure, torch.ones(2).to("xla"), torch.ones(4, 2).to("xla"), is_fn_pure=True)[1].cpu())
    known = len(_SCAN_COMPUTATION_CACHE)
    del pure
    import gc
    gc.collect()
    assert len(_SCAN_COMPUTATION_CACHE) < known


def test_variables_from_outside_are_not_remembered():
    weight = _leaf(3)

    def impure(carry, x):
        return carry * weight, x
    for factor in (1.0, 2.0):
        with torch.no_grad():
            weight.fill_(factor)
        carry, _ = scan(impure, torch.ones(3).to("xla").requires_grad_(), torch.ones(3, 3).to("xla"), is_fn_pure=True)
        assert carry.tolist() == [factor ** 3] * 3


def test_pure_layers_are_called_once():
    calls = []

    class Layer(torch.nn.Linear):
        def forward(self, x):
            calls.append(self.training)
            return super().forward(x).tanh()
    layers = torch.nn.ModuleList(Layer(4, 4) for _ in range(3)).to("xla")
    x = torch.rand(2, 4, device="xla")
    want = torch.nn.Sequential(*layers)(x).cpu().detach()
    calls.clear()
    for _ in range(3):
        made = scan_layers(layers, x, is_layer_pure=True)
        made.sum().backward()
        torch.testing.assert_close(made.cpu().detach(), want)
    assert calls == [True] and layers[0] in _ONE_LAYER_CACHE
    layers.eval()
    scan_layers(layers, x, is_layer_pure=True)
    scan_layers(layers, x)
    assert calls == [True, False, False], "of another mode, and where nobody calls them pure, anew"
    with torch.no_grad():
        layers[0].weight.mul_(2)
        torch.testing.assert_close(scan_layers(layers, x, is_layer_pure=True).cpu(), torch.nn.Sequential(*layers)(x).cpu())


def test_seeds_of_functions_that_are_assumed_to_be_pure():
    traced = []

    def noisy(x, factor=1.0):
        traced.append(factor)
        return torch.nn.functional.dropout(x * factor, 0.5) + torch.rand(x.shape, device="xla")
    x = torch.ones(64, device="xla")
    anew, seeded = assume_pure(noisy), assume_pure(noisy, add_rng_seed_argument=True)
    assert not torch.equal(anew(x).cpu(), anew(x).cpu())
    state = torch_xla._XLAC._rng_state()
    first = seeded(x, rng_seed=7).cpu()
    assert torch.equal(first, seeded(x, rng_seed=7).cpu()) and torch.equal(first, seeded(x, rng_seed=torch.tensor(7, device="xla")).cpu())
    assert not torch.equal(first, seeded(x, rng_seed=8).cpu()) and torch_xla._XLAC._rng_state() == state
    with pytest.raises(TypeError, match="noisy: add_rng_seed_argument expects the keyword argument rng_seed"):
        seeded(x)
    with pytest.raises(TypeError):
        anew(x, rng_seed=7)
    # The gradient is that of the numbers that were drawn, and neither function is traced twice.
    w = torch.ones(64, device="xla", requires_grad=True)
    for seed in (3, 4, 3):
        made = seeded(w, rng_seed=seed)
        made.sum().backward()
        kept = (made.detach() >= 2).float()
        torch.testing.assert_close(w.grad.cpu(), 2 * kept.cpu())
        w.grad = None
    assert len(traced) == 3


def test_scan_of_lazily_conjugated_tensors():
    """The body takes them, carries them and returns them."""
    init, xs = torch.randn(3, dtype=torch.complex64), torch.randn(4, 3, dtype=torch.complex64)
    carry, made = scan(lambda carry, x: ((carry * x).conj(), (carry + x).conj()), init.to("xla").conj(), xs.to("xla").conj())
    want, rows = init.conj(), []
    for x in xs.conj():
        rows.append((want + x).conj().resolve_conj())
        want = (want * x).conj()
    torch.testing.assert_close(carry.cpu(), want.resolve_conj())
    torch.testing.assert_close(made.cpu(), torch.stack(rows))
