# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that are run by their hash, and what else PyTorch/XLA's bridge for torch.compile asks of torch_xla._XLAC."""
import threading

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met
from torch_xla.core.dynamo_bridge import GraphInputMatcher, alias_with_buffer_donor_config

X = torch_xla._XLAC


def executions():
    return (met.metric_data("ExecuteTime") or (0,))[0]


def warm(function, *args):
    """(hash, matcher) of a function of tensors, compiled and not run."""
    torch_xla.sync()
    ids = {X._xla_get_tensor_id(arg): index for index, arg in enumerate(args)}
    results = list(function(*args))
    graph_hash = X._get_graph_hash(results)
    numbers, values = X._get_tensors_xla_device_data_node(results)
    matcher = GraphInputMatcher(ids, numbers, values, set(ids))
    before = executions()
    X._xla_warm_up_cache(results, [])
    assert executions() == before
    X._clear_pending_irs("xla:0")
    assert all(X._is_placeholder(result) for result in results)
    return graph_hash, matcher


def test_a_graph_runs_with_other_inputs():
    weight = torch.rand(3, 5)
    held = weight.to("xla")
    graph_hash, matcher = warm(lambda x: (x @ held + 2, (x * 1.5).sum()), torch.rand(4, 3).to("xla"))
    before = X._compilations(), X._recorded()
    for _ in range(3):
        x = torch.rand(4, 3)
        y, total = X._run_cached_graph(graph_hash, matcher([x.to("xla")]))
        torch.testing.assert_close(y.cpu(), x @ weight + 2)
        torch.testing.assert_close(total.cpu(), (x * 1.5).sum())
    assert (X._compilations(), X._recorded()) == before
    assert matcher.graph_input_xla_values.count(None) == 1


def test_what_is_written_is_a_result():
    def function(a, b):
        a.sub_(b)
        return b - 1, a
    graph_hash, matcher = warm(function, torch.rand(6).to("xla"), torch.rand(6).to("xla"))
    a, b = torch.rand(6), torch.rand(6)
    first, second = X._run_cached_graph(graph_hash, matcher([a.to("xla"), b.to("xla")]))
    torch.testing.assert_close(first.cpu(), b - 1)
    torch.testing.assert_close(second.cpu(), a - b)


def test_random_numbers_are_new():
    graph_hash, matcher = warm(lambda x: (x + torch.rand(100, device="xla"),), torch.zeros(100).to("xla"))
    x = torch.zeros(100).to("xla")
    (one,), (two,) = (X._run_cached_graph(graph_hash, matcher([x])) for _ in range(2))
    assert not torch.equal(one.cpu(), two.cpu()) and 0 <= one.min().item() and one.max().item() < 1


def test_errors():
    with pytest.raises(RuntimeError, match="no program of the graph"):
        X._run_cached_graph(b"0" * 16, [])
    graph_hash, matcher = warm(lambda x: (x + 3,), torch.rand(2).to("xla"))
    with pytest.raises(RuntimeError, match="expects 2 inputs"):
        X._run_cached_graph(graph_hash, [])
    with pytest.raises(RuntimeError, match="to be a number"):
        X._run_cached_graph(graph_hash, [torch.rand(2).to("xla")] * 2)
    with pytest.raises(NotImplementedError, match="dynamic_shapes"):
        X._xla_mark_dynamic(torch.rand(2).to("xla"), 0)


def test_forgotten_tensors_have_no_value():
    x = torch.rand(3).to("xla")
    torch_xla.sync()
    y = x + 1
    assert not X._is_placeholder(y)
    X._clear_pending_irs("xla:0")
    assert X._is_placeholder(y) and not X._is_placeholder(x)
    with pytest.raises(RuntimeError):
        y.cpu()
    assert x.cpu().shape == (3,)


def test_ids():
    x = torch.rand(3).to("xla")
    y = x.detach()
    assert X._unique_id_for_ir_and_data(x) == X._unique_id_for_ir_and_data(y) != X._unique_id_for_ir_and_data(x + 1)
    assert X._get_tensor_ids([x, y]) == [X._xla_get_tensor_id(x), X._xla_get_tensor_id(y)]
    # What shows the same of one storage has one id: two parameters of a state_dict that are tied. Nothing else has.
    for value in (x, x + 1):  # with a value, and still to be computed
        alike = [value, value.detach(), value.detach().view(3), torch.nn.Parameter(value)]
        assert len({X._xla_get_tensor_id(t) for t in alike}) == 1
        others = [value[1:], value[:2], value[:2].view(torch.int32), value.unsqueeze(0), value.expand(2, 3), value.clone(), value + 0]
        assert len({X._xla_get_tensor_id(t) for t in alike + others}) == 1 + len(others)
        assert X._xla_get_tensor_id(value[1:]) == X._xla_get_tensor_id(value.detach()[1:])
    with torch.no_grad():
        first = X._xla_get_tensor_id(y.copy_(x))
        assert first == X._xla_get_tensor_id(x)
    assert X._xla_get_tensor_dimension_size(x, 0).item() == 3
    assert X._get_all_reduce_token("xla:0") is X._get_all_reduce_token("xla:0")
    before = X._get_ir_debug()
    X._set_ir_debug(not before)
    assert X._get_ir_debug() is not before
    X._set_ir_debug(before)


def test_callback_when_ready():
    called = threading.Event()
    x = torch.rand(300, 300).to("xla")
    X._on_ready_callback(x @ x, called.set)
    assert called.wait(30)


def test_inputs_of_a_graph_may_be_the_tensors_that_are_given():
    x = torch.rand(5).to("xla")
    y = x + torch.rand(5).to("xla")
    ids, leaves = X._get_tensors_xla_device_data_node([y], [x])
    assert len(ids) == len(leaves) == 2 and sum(leaf is x for leaf in leaves) == 1
    assert ids[[leaf is x for leaf in leaves].index(True)] == X._xla_get_tensor_id(x)
    assert not any(leaf is x for leaf in X._get_tensors_xla_device_data_node([y])[1])
    x += 1  # its value now is computed, and no input of y
    ids, leaves = X._get_tensors_xla_device_data_node([y], [x])
    assert len(ids) == 2 and not any(leaf is x for leaf in leaves)


def test_donation():
    x = torch.rand(5).to("xla")
    y = x.cos()
    plain = X._get_graph_hash([y])
    met.clear_counters()
    assert X._set_buffer_donation(x, True) and X._get_buffer_donation(x)
    assert met.counter_value("XlaSetBufferDonation") == 1
    assert not X._set_buffer_donation(y, True) and not X._get_buffer_donation(y)
    assert X._get_graph_hash([y]) == plain
    with alias_with_buffer_donor_config():
        assert X._get_graph_hash([y]) != plain
    del y  # a step that computed it would have the memory of x
    expected = x.cpu() + 1
    compiled = torch.compile(lambda value: value + 1, backend="openxla")
    torch.testing.assert_close(compiled(x).cpu(), expected)
    assert "Data Handle: Deleted" in X._get_xla_tensor_debug_info(x)
    with pytest.raises(RuntimeError):
        x.cpu()
    z = torch.rand(5, 2).to("xla")
    assert "Data Shape: f32[5,2]" in X._get_xla_tensor_debug_info(z)

    def write(value):
        value += 0.5
    X._set_buffer_donation(z, True)
    expected = z.cpu() + 0.5
    torch.compile(write, backend="openxla")(z)
    torch.testing.assert_close(z.cpu(), expected)
    assert not X._get_buffer_donation(z)


def test_settings_of_the_bridge(monkeypatch):
    from torch_xla._dynamo import config
    compiled = torch.compile(lambda value: value.cos().sin(), backend="openxla")
    compiled(torch.rand(3, 4, device="xla"))
    monkeypatch.setattr(config, "skip_input_data_check", True)
    with pytest.raises(RuntimeError, match="can not be a pending ir"):
        compiled(torch.rand(3, 4, device="xla") + 5)
