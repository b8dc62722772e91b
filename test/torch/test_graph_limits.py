# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.compile(f, max_different_graphs=n): where a call records another graph than all before, it is an error at that operation."""
import gc
import re

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met
from torch_xla import _XLAC

LIMIT = "Maximum number of different graphs allowed per function exceeded: "


def on_device(*sizes):
    return torch.rand(*sizes).to("xla")


def limited(most, f):
    return torch_xla.compile(f, max_different_graphs=most)


def test_equal_calls_are_one_graph():
    f = limited(1, lambda x, y: (x + y).exp())
    for number in range(3):
        x, y = on_device(3), on_device(3) * number
        torch.testing.assert_close(f(x, y).cpu(), (x + y).exp().cpu())


def test_another_size_is_another_graph_and_nothing_is_compiled_for_it():
    f = limited(1, lambda x: x.cos().sin())
    f(on_device(10))
    x = on_device(5)
    torch_xla.sync()
    met.clear_all()
    with pytest.raises(RuntimeError, match=re.escape(f"<lambda>: {LIMIT}1\nGot: aten::cos, f32[5]{{0}}\nExpected: aten::cos, f32[10]{{0}}")):
        f(x)
    torch_xla.sync()
    assert met.metric_data("CompileTime") is None


def test_the_line_that_parts_raises():
    def f(x, step):
        y = x + x
        return y * 2 if step == 0 else y.neg() if step == 1 else y.tanh()
    compiled, x = limited(2, f), on_device(10)
    compiled(x, 0), compiled(x, 1)
    with pytest.raises(RuntimeError) as caught:
        compiled(x, 2)
    expected = f"f: {LIMIT}2\nGot: aten::tanh, f32[10]{{0}}\nExpected either of:\n  - aten::mul, f32[10]{{0}}\n  - aten::neg, f32[10]{{0}}"
    assert str(caught.value).startswith(expected)
    assert any(entry.name == "f" and "tanh" in str(entry.statement) for entry in caught.traceback)
    for step in (0, 1, 0):
        torch.testing.assert_close(compiled(x, step).cpu(), f(x.cpu(), step))


@pytest.mark.parametrize("most, before, now, words", [
    (1, ["mul"], "", "Reached the end of the function at: aten::add, f32[4]{0}\nExpected: aten::mul, f32[4]{0}"),
    (2, ["mul", "neg"], "", "Reached the end of the function at: aten::add, f32[4]{0}\nExpected either of:\n  - aten::mul, f32[4]{0}\n  - aten::neg"),
    (1, [""], "neg", "Got: aten::neg, f32[4]{0}\nExpected: the end of the function")])
def test_calls_that_end_elsewhere(most, before, now, words):
    def f(x, last):
        y = x + x
        return {"mul": lambda: y * 3, "neg": lambda: y.neg(), "": lambda: y}[last]()
    compiled, x = limited(most, f), on_device(4)
    for last in before:
        compiled(x, last)
    with pytest.raises(RuntimeError, match=re.escape(f"{LIMIT}{most}\n{words}")):
        compiled(x, now)


def test_a_training_step_is_one_graph_with_its_gradients():
    model = torch.nn.Linear(4, 2).to("xla")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, keep):
        optimizer.zero_grad()
        y = model(x)
        (y if keep else y.detach() + model.bias).sum().backward()  # the same operations before the backward pass, other gradients
        optimizer.step()
    compiled = limited(2, step)
    for _ in range(3):
        compiled(on_device(3, 4), True)
    compiled = limited(1, step)
    compiled(on_device(3, 4), True)
    with pytest.raises(RuntimeError, match=LIMIT):
        compiled(on_device(3, 4), False)


def test_failed_calls_and_other_functions_count_for_themselves():
    def f(x, fails):
        y = x * 2
        if fails:
            raise KeyError("the user's")
        return y + 1
    inner = limited(1, lambda x: x.exp())
    outer = limited(1, lambda x: inner(x) + 1)
    compiled, x = limited(1, f), on_device(3)
    with pytest.raises(KeyError):
        compiled(x, True)
    compiled(x, False)
    for _ in range(2):
        outer(x)
    with pytest.raises(RuntimeError, match=LIMIT):
        outer(on_device(2))
    outer(x)


def test_the_original_names():
    _XLAC._dynamic_shape_detector_set_max_num_different_graphs_allowed(7)
    assert _XLAC._dynamic_shape_detector_get_max_different_graphs() == _XLAC._dynamic_shape_detector_get_max_allowed_traces() == 7
    _XLAC._dynamic_shape_detector_set_max_allowed_traces(1)
    with pytest.raises(RuntimeError, match="expects a number of graphs from 1 on, but got 0"):
        _XLAC._dynamic_shape_detector_set_max_different_graphs(0)
    x = on_device(3)
    for sizes in ([3], [3], [4]):
        x = on_device(*sizes)
        _XLAC._dynamic_shape_detector_start_session("mine")
        if sizes == [4]:
            with pytest.raises(RuntimeError, match=f"mine: {LIMIT}1"):
                x + x
        else:
            x + x
        _XLAC._dynamic_shape_detector_end_session()
    _XLAC._dynamic_shape_detector_start_session("mine")
    with pytest.raises(RuntimeError, match="mine calls itself"):
        _XLAC._dynamic_shape_detector_start_session("mine")
    _XLAC._dynamic_shape_detector_remove_session("mine")
    _XLAC._dynamic_shape_detector_end_session()
    _XLAC._dynamic_shape_detector_start_session("mine")  # it has no graphs any more
    x * 2
    _XLAC._dynamic_shape_detector_end_session()
    _XLAC._dynamic_shape_detector_remove_session("mine")


def test_graphs_are_forgotten_with_their_region(monkeypatch):
    forgotten = []
    monkeypatch.setattr(_XLAC, "_dynamic_shape_detector_remove_session", forgotten.append)
    x = on_device(3)
    with torch_xla.compile(name="block", max_different_graphs=1):
        x = x * 2
    f = limited(1, lambda x: x + 1)
    f(x)
    del f
    gc.collect()
    assert [re.sub(r"_\d+$", "", session) for session in forgotten] == ["block", "<lambda>"]
