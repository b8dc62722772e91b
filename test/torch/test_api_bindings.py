# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of torch_xla._XLAC."""
import ctypes

import pytest
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
    del y
    with alias_with_buffer_donor_config():
        z = x + 1  # the step that reads it is the last one
        torch_xla.sync(wait=True)
    assert _XLAC._is_placeholder(x) and z.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="donated and is deleted"):
        _XLAC._get_tensors_handle([x])


def test_functions_of_xla_operations():
    shape = _XLAC._xla_op_tensor_shape(torch.ones(2, 3), "")
    assert shape == {"type": "f32", "sizes": (2, 3)}
    builder = _XLAC._xla_op_create_builder("twice")
    parameter = _XLAC._xla_op_param(builder, 0, shape)
    total = _XLAC._xla_op_create(builder, "Add", (parameter, parameter), {})
    assert _XLAC._xla_op_shape(total) == shape and _XLAC._xla_op_builder(total) is builder
    assert isinstance(builder, _XLAC.XlaBuilder) and isinstance(total, _XLAC.XlaOp)
    computation = _XLAC._xla_op_build("twice", total)
    assert isinstance(computation, _XLAC.XlaComputation) and "add" in _XLAC._xla_computation_text(computation)
    assert _XLAC._xla_user_computation("xla::twice", [torch.ones(2, 3, device="xla")], computation)[0].tolist() == [[2.0] * 3] * 2
    with pytest.raises(RuntimeError, match="no operation 'Nothing'"):
        _XLAC._xla_op_create(builder, "Nothing", (parameter,), {})


def test_steps_of_optimizers():
    for found in (0.0, 1.0):
        inf, step = torch.tensor(found, device="xla"), torch.tensor(0.0, device="xla")
        p, g, buffer = (torch.tensor([1.0, 2.0], device="xla") for _ in range(3))
        _XLAC._xla_sgd_optimizer_step_(inf, step, p, buffer, g, 0.0, 0.9, 0.5, 0.0, False, False)
        assert (p.tolist(), step.item()) == (([1.0, 2.0], 0.0) if found else ([0.5, 1.0], 1.0))
        step = torch.tensor(0.0, device="xla")
        p, g, m, v, top = (torch.tensor([x, 2 * x], device="xla") for x in (1.0, 1.0, 0.0, 0.0, 0.0))
        _XLAC._xla_adam_optimizer_step_(inf, step, p, g, m, v, top, 0.9, 0.999, 0.1, 0.0, 1e-8, False, False, False)
        torch.testing.assert_close(p.cpu(), torch.tensor([1.0, 2.0] if found else [0.9, 1.9]))  # the first step is the rate
        assert step.item() == (0.0 if found else 1.0) and (m.cpu() == 0).all() == bool(found)


def test_collectives_of_lists():
    token, tensors = _XLAC._get_all_reduce_token("xla:0"), [torch.ones(2, device="xla"), torch.arange(3.0, device="xla")]
    *made, last = _XLAC._xla_all_gather_coalesced(tensors, token, 0, 1, [], True)
    assert last is token and [t.tolist() for t in made] == [[1.0, 1.0], [0.0, 1.0, 2.0]]
    *made, last = _XLAC._xla_reduce_scatter_coalesced("sum", tensors, token, 2.0, 0, 1, [], True)
    assert last is token and [t.tolist() for t in made] == [[2.0, 2.0], [0.0, 2.0, 4.0]]
    outputs = [torch.zeros_like(t) for t in tensors]
    assert _XLAC._xla_reduce_scatter_coalesced_out("sum", outputs, tensors, token, 3.0, 0, 1, [], True) is token
    assert outputs[1].tolist() == [0.0, 3.0, 6.0]
    assert _XLAC._xla_all_gather_coalesced_out(outputs, tensors, token, 0, 1, [], True) is token and outputs[0].tolist() == [1.0, 1.0]


def test_sizes_of_other_tensors_and_what_lives():
    source, ones = torch.ones(3, 2, device="xla"), torch.ones(1, 1, device="xla")
    assert _XLAC._xla_dynamic_expand(ones, [1, 4], source, 0, 0).shape == (3, 4)
    assert _XLAC._xla_dynamic_view(source, [1, 1], source, 0, 0, 2.0).shape == (6, 1)
    torch_xla.sync()
    assert not any(_XLAC._check_device_tensor_need_materialization("xla:0"))
    x = source + 1
    assert any(_XLAC._check_device_tensor_need_materialization("xla:0"))
    assert "(3, 2) torch.float32" in _XLAC._xla_tensors_report(0) and _XLAC._xla_tensors_report(1000) == ""
    x.cpu()
    with pytest.raises(AttributeError, match="no_such_name"):
        _XLAC._no_such_name


def test_functions_of_the_user_as_targets_of_custom_calls():
    @ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.POINTER(ctypes.c_float)))
    def twice(result, operands):
        for i in range(3):
            result[i] = 2 * operands[0][i]

    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new(ctypes.cast(twice, ctypes.c_void_p).value, b"xla._CUSTOM_CALL_TARGET", None)
    with pytest.raises(RuntimeError, match="expects the platform cpu, but got TPU"):
        _XLAC._xla_register_custom_call_target("test.twice", capsule, "TPU")
    _XLAC._xla_register_custom_call_target("test.twice", capsule, "cpu")
    x = torch.tensor([1.0, 2.0, 3.0], device="xla")
    assert _XLAC._xla_custom_call([x], "test.twice", [[3]], [torch.float32], api_version=1)[0].tolist() == [2.0, 4.0, 6.0]


def test_channels_and_numbers_of_few_bits():
    x, token = torch.ones(2, 3, device="xla"), _XLAC._get_all_reduce_token("xla:0")
    sent, last = _XLAC._xla_send(x, token, 7)
    received, _ = _XLAC._xla_recv(x, token, 9)
    text = _XLAC._get_xla_tensors_hlo([sent, received])
    assert last is token and " send(" in text and "channel_id=7" in text and " recv-done(" in text and "channel_id=9" in text
    del sent, received
    weight = torch.zeros(2, 2, dtype=torch.int8, device="xla")
    assert _XLAC._xla_cast_int4(weight, [-8, 7, 0, 1]).tolist() == [[-8, 7], [0, 1]]
    with pytest.raises(RuntimeError, match="4 numbers from -8 to 7"):
        _XLAC._xla_cast_int4(weight, [8, 0, 0, 0])
    for scales, zeros, axis in (([0.5], [1], -1), ([0.5, 2.0], [1, -1], 0)):
        small = _XLAC._xla_quantize_tensor(x, scales, zeros, -128, 127, "int8", axis)
        assert small.dtype == torch.int8 and small[0].tolist() == [3, 3, 3]
        back = _XLAC._xla_dequantize_tensor(small, scales, zeros, -128, 127, "int8", axis)
        torch.testing.assert_close(back[0].cpu(), torch.ones(3))
    marked = _XLAC._xla_mark_tensor(x + 1, '{"name": "test.p", "pos": 0, "id": "0", "is_input": true, "attr": null}')
    assert marked[0].tolist() == [2.0, 2.0, 2.0]
