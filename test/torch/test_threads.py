# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several threads record, compile, run and read at once; the sanitizers' runs (scripts/check --long) repeat these."""
import concurrent.futures
import threading

import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
from torch_xla.experimental.eager import eager_mode_context, is_eager_mode


def side_by_side(function, count=4):
    """The results of function(0), function(1), ...; all begin together."""
    together = threading.Barrier(count)

    def begin(index):
        together.wait()
        return function(index)
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def test_threads_record_and_cut():
    def work(index):
        x = torch.full((3, index + 2), float(index)).to("xla")
        for step in range(15):
            x = x + 1 if step % 3 else x * 2
            view = x[1:, 1:]
            view += 1
            if step % 4 == index % 4:
                torch_xla.sync()
        return x.cpu()

    def expected(index):
        x = torch.full((3, index + 2), float(index))
        for step in range(15):
            x = x + 1 if step % 3 else x * 2
            x[1:, 1:] += 1
        return x
    for index, made in enumerate(side_by_side(work)):
        torch.testing.assert_close(made, expected(index))


def test_threads_train_recurrent_modules():
    """A loop's body that one thread records neither hinders the steps of others nor takes their tensors for its own."""
    def work(index, kind, device="xla"):
        generator = torch.Generator().manual_seed(index)
        model = kind(6, 5 + index)  # each records bodies of its own
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)
        x = torch.randn(5, 2, 6, generator=generator).to(device)
        model = model.to(device)
        optimizer = torch.optim.SGD(model.parameters(), 0.2, momentum=0.9)
        for _ in range(8):
            optimizer.zero_grad(set_to_none=False)
            model(x)[0].square().mean().backward()
            optimizer.step()
            if device == "xla":
                torch_xla.sync()
        return [parameter.detach().cpu() for parameter in model.parameters()]
    for kind in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
        for index, made in enumerate(side_by_side(lambda i: work(i, kind), count=6)):
            torch.testing.assert_close(made, work(index, kind, "cpu"))


def test_threads_train():
    def work(index):
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 3).to("xla")
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.fill_(0.1 * (index + 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        x = torch.ones(2, 4).to("xla")
        for _ in range(4):
            optimizer.zero_grad()
            (model(x) ** 2).mean().backward()
            optimizer.step()
            torch_xla.sync()
        return model.weight.detach().cpu()
    alone, together = [work(index) for index in range(4)], side_by_side(work)
    for one, other in zip(alone, together):
        torch.testing.assert_close(one, other)


def test_threads_call_one_compiled_function():
    compiled = torch.compile(lambda x: x.sin() @ x, backend="openxla")
    x = torch.rand(5, 5)
    expected = x.sin() @ x
    compiled(x.to("xla"))
    for made in side_by_side(lambda _: [compiled(x.to("xla")).cpu() for _ in range(5)]):
        for value in made:
            torch.testing.assert_close(value, expected)


@pytest.mark.parametrize("are_full", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("are_one", [False, True])
def test_regions_of_threads_overlap(are_full, are_one):
    """Eager mode and the permission to run programs belong to the process: after both regions they are as before the first one."""
    regions = [torch_xla.compile(full_graph=is_full) for is_full in are_full]
    if are_one:
        regions = [regions[0]] * 2
    begun, may_end = [threading.Event() for _ in regions], [threading.Event() for _ in regions]

    def hold(index):
        with regions[index]:
            begun[index].set()
            assert may_end[index].wait(60)

    def state():
        return is_eager_mode(), torch_xla._XLAC._get_allow_execution()
    with eager_mode_context(True), concurrent.futures.ThreadPoolExecutor(2) as pool:
        held = []
        for index in range(2):
            held.append(pool.submit(hold, index))
            assert begun[index].wait(60)
        inside = state()
        may_end[0].set()
        held[0].result()
        then = state()
        may_end[1].set()
        held[1].result()
        assert state() == (True, True)
    assert inside == (False, not any(region.full_graph for region in regions))
    assert then == (False, not regions[1].full_graph)


def test_threads_call_functions_in_regions():
    """Eager mode is on, so that a region that ended in another one's place would be seen."""
    f, g = torch_xla.compile(lambda x: (x * 2).sin()), torch_xla.compile(lambda x: x.cos() + 1)

    def work(index):
        x = torch.full((3,), float(index)).to("xla")
        for _ in range(20):
            x = g(f(x))
        return x.cpu()
    with eager_mode_context(True):
        made = side_by_side(work)
        assert is_eager_mode()
    for index, value in enumerate(made):
        x = torch.full((3,), float(index))
        for _ in range(20):
            x = (x * 2).sin().cos() + 1
        torch.testing.assert_close(value, x)


def test_every_step_closure_runs_once():
    """Threads add closures and run barriers at once."""
    ran = []

    def work(index):
        for number in range(200):
            xm.add_step_closure(ran.append, args=((index, number),))
            torch_xla.sync()
    side_by_side(work)
    torch_xla.sync()
    assert sorted(ran) == [(index, number) for index in range(4) for number in range(200)]


def test_loader_and_closures():
    seen = []
    batches = [torch.full((2, 3), float(k)) for k in range(6)]
    total = torch.zeros(()).to("xla")
    for batch in pl.MpDeviceLoader(batches, torch.device("xla")):
        total = total + batch.sum()
        xm.add_step_closure(lambda value: seen.append(value.item()), args=(total,), run_async=True)
    xm.wait_device_ops()
    assert total.item() == sum(batch.sum().item() for batch in batches)
    for _ in range(200):
        if len(seen) >= 5:
            break
        threading.Event().wait(0.05)
    assert seen[:5] == [sum(6.0 * j for j in range(k + 1)) for k in range(len(seen[:5]))]


def test_a_callback_outlives_the_memory_of_its_tensor(monkeypatch):
    """A later program takes over the memory of a tensor that is gone, maybe before the callback's thread begins."""
    begun, start = [], threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: begun.append(thread))
    event, x = threading.Event(), torch.rand(64, 64).to("xla") + 1
    torch_xla._XLAC._on_ready_callback(x, event.set)
    x = x + 1
    torch_xla.sync(wait=True)
    monkeypatch.undo()
    for thread in begun:
        start(thread)
    assert event.wait(30)


def test_callbacks_from_the_device():
    done = [threading.Event() for _ in range(8)]
    x = torch.rand(64, 64).to("xla")
    for event in done:
        x = x @ x / 64
        torch_xla._XLAC._on_ready_callback(x, event.set)
    assert all(event.wait(30) for event in done)
