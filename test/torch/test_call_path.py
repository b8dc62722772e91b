# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of compiled graphs whose arguments are those of the call before, but for what a program changes between two calls."""
import copy
import sys
import threading
import time

import pytest
import torch
import torch_xla
import torch_xla.core.dynamo_bridge as bridge
import torch_xla.debug.metrics as met
from torch_xla import _XLAC


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    torch_xla.sync(wait=True)
    met.clear_all()


def extracted(function, *args):
    """What the backend makes of a function, without Dynamo."""
    return bridge.extract_compiled_graph(torch.fx.symbolic_trace(function), args)


def network():
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3)).eval()


class Pair:
    """A network of the CPU and its compiled copy on the device."""

    def __init__(self, backend="openxla"):
        self.cpu = network()
        self.xla = copy.deepcopy(self.cpu).to("xla")
        self.call = torch.compile(self.xla, backend=backend)

    def both(self, change):
        change(self.cpu)
        change(self.xla)

    def check(self, rows=5):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(self.call(x.to("xla")).detach().cpu(), self.cpu(x).detach())


CHANGES = {
    "in place": lambda model: model[0].weight.mul_(1.5),
    "through a view": lambda model: model[2].weight[1].fill_(0.25),
    "transposed in place and back": lambda model: model[0].weight.t().add_(0.125),
    "data": lambda model: setattr(model[0].bias, "data", torch.full((8,), 2.0, device=model[0].bias.device)),
    "data of another layout": lambda model: setattr(model[0].weight, "data", model[0].weight.detach().t().contiguous().t()),
    "copy_": lambda model: model[2].bias.copy_(torch.arange(3.0)),
    "load_state_dict": lambda model: model.load_state_dict({name: torch.full_like(value, 0.5) for name, value in model.state_dict().items()}),
    "load_state_dict, assign": lambda model: model.load_state_dict(
        {name: torch.full_like(value, -0.5) for name, value in model.state_dict().items()}, assign=True),
    "another parameter": lambda model: setattr(model[2], "bias", torch.nn.Parameter(torch.full((3,), 7.0, device=model[2].bias.device))),
    "a layer of another size": lambda model: [setattr(model[i], "weight", torch.nn.Parameter(torch.full(size, 0.1, device=model[i].weight.device)))
                                              for i, size in ((0, (8, 4)), (2, (3, 8)))],
}


@pytest.mark.parametrize("change", list(CHANGES))
def test_changed_parameters_are_seen(change):
    pair = Pair()
    with torch.no_grad():
        for _ in range(3):
            pair.check()
        for _ in range(3):
            pair.both(CHANGES[change])
            pair.check()
            pair.check()


def test_parameters_that_an_optimizer_changes_are_seen():
    pair = Pair()
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.5) for model in (pair.cpu, pair.xla)]
    for _ in range(4):
        x = torch.randn(5, 4)
        for optimizer, run, rows in zip(optimizers, (pair.cpu, pair.call), (x, x.to("xla"))):
            optimizer.zero_grad()
            run(rows).square().mean().backward()
            optimizer.step()
        with torch.no_grad():
            pair.check()


def test_a_module_that_moves_away_and_back():
    pair = Pair()
    with torch.no_grad():
        pair.check()
        pair.xla.to("cpu")
        x = torch.randn(2, 4)
        torch.testing.assert_close(pair.xla(x), pair.cpu(x))
        pair.both(lambda model: model[0].weight.add_(1.0))
        pair.xla.to("xla")
        pair.check()


def test_gradients_are_wanted_or_not():
    pair = Pair()
    for _ in range(2):
        with torch.inference_mode():
            pair.check()
        with torch.no_grad():
            pair.check()
        for wanted in (True, False):
            pair.both(lambda model, wanted=wanted: model.requires_grad_(wanted))
            x = torch.randn(5, 4)
            got, want = pair.call(x.to("xla")), pair.cpu(x)
            assert got.requires_grad == want.requires_grad == wanted
            torch.testing.assert_close(got.detach().cpu(), want.detach())
            if wanted:
                got.sum().backward()
                want.sum().backward()
                torch.testing.assert_close(pair.xla[0].weight.grad.cpu(), pair.cpu[0].weight.grad)
                pair.both(lambda model: model.zero_grad())


def test_sizes_alternate():
    pair = Pair()
    with torch.no_grad():
        for rows in (5, 3, 5, 7, 3, 5):
            pair.check(rows)


def test_a_storage_of_another_size_behind_the_same_view():
    """Views that look alike: their types, sizes and strides say nothing of the storages'."""
    f = extracted(lambda x: (x * 2 + 1,), torch.zeros(4).to("xla"))
    small, large = torch.arange(8.0).to("xla"), torch.arange(16.0).to("xla") * 3
    torch_xla.sync()
    met.clear_all()
    for _ in range(2):
        for base in (small, large):
            got, = f(base.as_strided((4,), (1,), 2))
            torch.testing.assert_close(got.cpu(), base.cpu()[2:6] * 2 + 1)
    assert met.counter_value("DynamoExtractCompiledGraph") == 2


def test_pending_parameters_are_computed():
    pair = Pair()
    with torch.no_grad():
        pair.check()
        met.clear_all()
        pair.both(lambda model: model[0].weight.add_(model[0].bias[:, None]))
        pair.check()
        assert met.counter_value("DynamoSyncInputExecuteTime") == 1


def test_memory_that_was_given_up_is_missed():
    f = torch.compile(lambda x, y: x * y, backend="openxla")
    x, y = torch.ones(5).to("xla"), torch.full((5,), 3.0).to("xla")
    torch_xla.sync()
    for _ in range(3):
        assert f(x, y).cpu().tolist() == [3.0] * 5
    assert _XLAC._set_buffer_donation(y, True)
    assert f(x, y).cpu().tolist() == [3.0] * 5  # the last one that reads it
    with pytest.raises(RuntimeError, match="given up"):
        f(x, y)
    y.fill_(4.0)
    assert f(x, y).cpu().tolist() == [4.0] * 5


def test_threads_call_one_graph():
    """Each with its own argument, while another thread changes what they all read."""
    model = torch.nn.Linear(6, 6).to("xla")
    with torch.no_grad():
        model.weight.copy_(torch.eye(6))
        model.bias.fill_(1.0)
    torch_xla.sync()
    f = torch.compile(model, backend="openxla")
    with torch.no_grad():
        f(torch.zeros(2, 6).to("xla"))
    errors, ended = [], threading.Event()

    def call(number):
        try:
            x = torch.full((2, 6), float(number)).to("xla")
            with torch.no_grad():
                for _ in range(50):
                    got = f(x).cpu()
                    # The bias is 1 or 2 at any moment, and the same in all elements of one result.
                    assert got.unique().numel() == 1 and got[0, 0].item() - number in (1.0, 2.0), got
        except BaseException as error:
            errors.append(error)

    def change():
        value = 1.0
        while not ended.is_set():
            value = 3.0 - value
            with torch.no_grad():
                model.bias.fill_(value)
            time.sleep(0.001)
    threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    changing = threading.Thread(target=change)
    for thread in (*threads, changing):
        thread.start()
    for thread in threads:
        thread.join()
    ended.set()
    changing.join()
    assert not errors, errors[0]


def test_the_line_of_a_call_is_known(tmp_path, monkeypatch):
    x = torch.ones(4).to("xla")
    f = extracted(lambda x: (x + 1,), x)
    f(x)
    torch_xla.sync(wait=True)
    report = tmp_path / "debug.txt"
    monkeypatch.setenv("PT_XLA_DEBUG_FILE", str(report))
    monkeypatch.setenv("PT_XLA_DEBUG", "1")
    f(x)
    line = sys._getframe().f_lineno - 1
    text = report.read_text()
    assert "dynamo is executing a compiled program" in text
    assert f"test_the_line_of_a_call_is_known ({__file__}:{line})" in text


def test_an_error_leaves_the_graph_usable():
    """An argument that the program cannot have is refused before anything is given away."""
    f = torch.compile(lambda x, y: (x.add_(y), x.sum())[1], backend="openxla")
    x, y, lost = torch.zeros(3).to("xla"), torch.ones(3).to("xla"), torch.ones(3).to("xla")
    torch_xla.sync()
    assert f(x, y).item() == 3
    assert _XLAC._set_buffer_donation(lost, True)
    assert f(x, lost).item() == 6
    for _ in range(2):
        with pytest.raises(RuntimeError, match="given up"):
            f(x, lost)
    assert x.cpu().tolist() == [2.0] * 3
    assert f(x, y).item() == 9
