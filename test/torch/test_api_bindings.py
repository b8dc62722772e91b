# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of torch_xla._XLAC."""
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
from torch_xla import _XLAC


def pending():
    x = torch.arange(3.0, device="xla")
    torch_xla.sync()
    return x, x * 2 + 3


def test_texts_do_not_execute():
    x, y = pending()
    met.clear_all()
    assert "aten::mul" in _XLAC._get_xla_tensors_text([y]) and "xla::device_data" in _XLAC._get_xla_tensors_text([y])
    dot = _XLAC._get_xla_tensors_dot([y])
    assert dot.startswith("digraph") and dot.count("->") >= 3 and "aten::add" in dot
    assert "HloModule" in _XLAC._get_xla_tensors_hlo([y])
    assert "stablehlo.multiply" in _XLAC._get_xla_tensors_stablehlo([y])
    assert _XLAC._get_stablehlo([y], "", [], _XLAC.EmitMode.STABLEHLO_READABLE) == xm.get_stablehlo([y])
    assert _XLAC._check_tensor_need_materialization([x, y]) == [False, True]
    assert "IR: [] aten::add" in _XLAC._get_xla_tensor_debug_info(y) and "f32[3]" in _XLAC._get_xla_tensor_debug_info(y)
    assert met.metric_data("ExecuteTime") is None


def test_hash_is_of_the_structure():
    x, y = pending()
    z = x * 5 + 7  # other numbers: parameters
    assert _XLAC._get_graph_hash([y]) == _XLAC._get_graph_hash([z]) != _XLAC._get_graph_hash([x * 5 - 7])


def test_barriers():
    x, y = pending()
    met.clear_all()
    _XLAC._xla_sync_multi([y], devices=[], wait=True, sync_xla_data=False)
    assert _XLAC._check_tensor_need_materialization([y]) == [False] and _XLAC._xla_metric_data("ExecuteTime")[0] == 1
    z = y + 1
    _XLAC._xla_step_marker("xla:0", [], wait=True)
    assert not _XLAC._check_tensor_need_materialization([z])[0]
    _XLAC._xla_wait_device_ops([])
    assert [t.tolist() for t in _XLAC._xla_get_cpu_tensors([z, x])] == [[4.0, 6.0, 8.0], [0.0, 1.0, 2.0]]
    assert [str(t.device) for t in _XLAC._xla_tensors_from_aten([torch.ones(1)], ["xla:0"])] == ["xla:0"]


def test_identities():
    x, y = pending()
    assert _XLAC._xla_get_tensor_id(x) != _XLAC._xla_get_tensor_id(x[1:])
    assert _XLAC._xla_get_tensor_view_alias_id(x) == _XLAC._xla_get_tensor_view_alias_id(x[1:])
    assert _XLAC._xla_get_tensor_view_alias_id(x) != _XLAC._xla_get_tensor_view_alias_id(y)


def test_devices_and_metrics():
    assert _XLAC._xla_get_default_device() == "xla:0" and _XLAC._xla_get_devices() == ["CPU:0"] and _XLAC._xla_num_devices() == 1
    assert _XLAC._xla_memory_info("xla:0")["bytes_used"] >= 0
    met.clear_all()
    torch.ops.aten._test_optional_intlist(torch.ones(2, dtype=torch.int32, device="xla"), [3, 4])  # PyTorch has it for tests
    name = _XLAC._get_executed_fallback_ops()[0]
    assert _XLAC._xla_counter_value(name) == 1 and name in _XLAC._xla_counter_names() and name in _XLAC._xla_metrics_report()
    _XLAC._clear_xla_counters()
    assert _XLAC._xla_counter_value(name) is None
    _XLAC._xla_set_rng_seed(11)
    assert _XLAC._xla_get_rng_seed() == 11


def test_donation_marks():
    x, y = pending()
    assert _XLAC._set_buffer_donation(x, True) and _XLAC._get_buffer_donation(x) and not _XLAC._get_buffer_donation(y)
    assert not _XLAC._set_buffer_donation(y, True), "it has no data yet"
    from torch_xla.utils.buffer_donor_context import alias_with_buffer_donor_config
    with alias_with_buffer_donor_config():
        assert _XLAC._xla_get_enable_alias_with_buffer_donor_config()
    assert not _XLAC._xla_get_enable_alias_with_buffer_donor_config()
