# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts of recorded graphs in PyTorch/XLA's form, regions with names, and torch_xla._XLAC.lowering."""
import json

import pytest
import torch
import torch_xla
import torch_xla.core.xla_builder as xb
import torch_xla.debug.profiler as xp
from torch_xla import _XLAC


def text_of(*tensors):
    return _XLAC._get_xla_tensors_text(list(tensors))


def test_numbers_and_layouts():
    x = torch.ones(2, 3).to("xla")
    lines = text_of((x.t() ** 5).sum(1) * 2.5).split("\n")
    assert lines[0] == "IR {" and lines[-3].endswith("ROOT=0")
    assert "f32[] xla::device_data(), xla_shape=f32[], device=CPU:0, value=2.5" in lines[1]  # a parameter of the program
    assert "prim::Constant(), xla_shape=f32[], value=5" in lines[2]  # decides about code
    assert "f32[2,3]{1,0} xla::device_data(), xla_shape=f32[2,3]{1,0}, device=CPU:0" in lines[3]
    assert "f32[3,2]{1,0} aten::permute(%2), xla_shape=f32[3,2]{1,0}, size=(3, 2), stride=(1, 3), storage_offset=0" in lines[4]
    assert "aten::sum(" in lines[6] and "dim=(1), keepdim=0" in lines[6]


def test_several_results_and_views():
    x = torch.ones(2, 3).to("xla")
    largest, where = x.max(1)
    text = text_of(where, torch.view_as_real(torch.ones(4, dtype=torch.cfloat, device="xla")))
    assert "(f32[2]{0}, s64[2]{0}) aten::max(%0), num_outputs=2" in text and "ROOT=0" in text
    assert "f32[4,2]{1,0}" in text.split("\n")[-3]
    assert "aten::expand" in text_of(x[:, :1].expand(2, 5)) and "xla::generic_slice" in text_of(x[:, 1:])


def test_regions_are_in_texts_and_programs(monkeypatch):
    monkeypatch.setenv("XLA_HLO_DEBUG", "1")
    x = torch.ones(3).to("xla")
    torch_xla.sync()
    with xp.Trace("encoder"):
        with xp.Trace("layer"):
            y = x.sin()
        with xp.Trace("layer"):
            z = y.cos()
    assert "aten::sin(%0), scope=encoder.1/layer.1," in text_of(z) and "scope=encoder.1/layer.2," in text_of(z)
    assert 'op_type="aten__cos" op_name="encoder.1/layer.2/aten__cos"' in _XLAC._get_xla_tensors_hlo([z])
    leaf = torch.ones(3).to("xla").requires_grad_()
    with xp.Trace("forward"):
        loss = leaf.exp().sum()
    loss.backward()
    assert "aten::mul" in text_of(leaf.grad) and "scope=forward" in text_of(leaf.grad).split("\n")[-3]


def test_a_step_barrier_in_a_region_is_an_error():
    torch_xla.sync()
    with pytest.raises(RuntimeError, match="Expecting scope to be empty but it is outer.1/inner.1"):
        with xp.Trace("outer"), xp.Trace("inner"):
            torch_xla.sync()
    with xp.StepTrace("step"):  # its barrier stands behind it
        torch.ones(2, device="xla") + 1
    with xp.Trace("again"):
        torch_xla.sync(reset_scope=False)


def test_lowering_context():
    a, b = torch.ones(3).to("xla"), torch.full((3,), 2.0).to("xla")
    result = a * 3.5 - b
    context = _XLAC.lowering.LoweringContext("MyName")
    with pytest.raises(RuntimeError, match="build"):
        context.hlo_text()
    context.build([result])
    assert context.GetNameString() == "MyName" and 'name: "MyName"' in context.hlo_text()
    assert 'opcode: "parameter"' in context.hlo_text() and 'opcode: "subtract"' in context.hlo_text()
    mapping = context.parameter_id_tensor_mapping()
    values = {name: context.tensor_parameter_id(tensor) for name, tensor in (("a", a), ("b", b), ("result", result))}
    assert mapping[values["a"]].tolist() == [1, 1, 1] and mapping[values["b"]].tolist() == [2, 2, 2] and values["result"] == -1
    assert sorted(mapping) == [0, 1, 2] and all(t.device.type == "xla" for t in context.device_parameter_id_tensor_mapping().values())
    module = json.loads(context.hlo_json())
    entry = next(c for c in module["computations"] if c["name"] == module["entryComputationName"])
    parameters = [i["parameterNumber"] for i in entry["instructions"] if i["opcode"] == "parameter"]
    assert sorted(parameters) == ["0", "1", "2"] and entry["instructions"][-1]["id"] == entry["rootId"]


def test_serialized_modules_are_xlas():
    client = pytest.importorskip("jax._src.lib").xla_client
    x = torch.ones(4, 3).to("xla")
    context = _XLAC.lowering.LoweringContext("written")
    context.build([torch.softmax(x @ torch.ones(3, 5).to("xla"), 1)[1:, ::2], (x > 0).t()])
    read = client.XlaComputation(context.hlo()).as_hlo_text()
    for part in ("HloModule written", "reduce(", "to_apply=", "slice={[1:4:1], [0:5:2]}", "direction=GT", "lhs_contracting_dims={1}"):
        assert part in read, read


def test_places_in_libraries_and_given_names():
    _XLAC._set_ir_debug(True)
    try:
        made = torch.nn.functional.relu(torch.ones(3, device="xla"))
        assert _XLAC._set_xla_custom_op_name_prefix(made, "Sequential[model]/ReLU[1]", 4)
        context = _XLAC.lowering.LoweringContext()
        context.build([made])
        said = [i["metadata"] for c in json.loads(context.hlo_json())["computations"] for i in c["instructions"] if "metadata" in i]
        assert any(m["opName"] == "Sequential[model]/ReLU[1]/aten__relu" and "torch/nn/functional.py" in m["sourceFile"] for m in said)
        assert not _XLAC._set_xla_custom_op_name_prefix(torch.ones(2).to("xla"), "data", 0)
    finally:
        _XLAC._set_ir_debug(False)


def test_placeholders_are_parameters_without_a_value():
    p, q = xb.create_placeholder_tensor((4, 8), torch.bfloat16), xb.create_placeholder_tensor((8, 2), torch.bfloat16)
    assert p.shape == (4, 8) and p.dtype == torch.bfloat16 and _XLAC._is_placeholder(p) and str(p.device) == "xla:0"
    assert len(set(_XLAC._get_tensors_handle([p, q]))) == 2
    text, hlo = text_of((p @ q) @ q.t()), _XLAC._get_xla_tensors_hlo([(p @ q) @ q.t()])
    assert text.count("xla::device_data()") == 2 and text.count("bf16[8,2]{1,0} xla::device_data()") == 1
    assert ": bf16[8,2], " in hlo.split("ENTRY")[1].split("->")[0]  # of an operation's operands the last one first
    with pytest.raises(RuntimeError, match="no value"):
        p.cpu()


def test_all_numbers_as_constants():
    x = torch.ones(3).to("xla")
    torch_xla.sync()
    before = _XLAC._get_graph_hash([x * 5]) == _XLAC._get_graph_hash([x * 6])
    _XLAC._set_xla_all_numbers_special_scalars(True)
    try:
        assert before and _XLAC._get_graph_hash([x * 5]) != _XLAC._get_graph_hash([x * 6])
        assert "prim::Constant(), xla_shape=f32[], value=5" in text_of(x * 5)
    finally:
        _XLAC._set_xla_all_numbers_special_scalars(False)
    assert _XLAC._get_xla_handle_special_scalars()


def test_graphs_are_run_with_their_inputs_in_that_order():
    layer = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 1), torch.nn.ReLU(), torch.nn.Conv2d(3, 2, 1)).to("xla")
    x = torch.randn(1, 2, 4, 4).to("xla")
    y = layer(x)
    key = _XLAC._get_graph_hash([y])
    _XLAC._xla_sync_multi([y])
    inputs = [*reversed(list(layer.parameters())), x]
    assert torch.equal(_XLAC._run_cached_graph(key, inputs)[0].cpu(), y.cpu())
    assert torch.equal(_XLAC._run_cached_graph(key, [t.detach().cpu() for t in inputs])[0].cpu(), y.cpu())


def test_another_size_takes_the_place_of_a_tensor():
    a, b = torch.zeros(50).to("xla"), torch.ones(10).to("xla")
    _XLAC._replace_xla_tensor(a, b + 1)
    assert a.shape == (10,) and a.tolist() == [2.0] * 10


@pytest.mark.parametrize("call", ["torch.max(x)", "torch.min(x)", "torch.max(x, dim=1)", "torch.amin(x, 1)",
                                  "torch.arange(-5, float('nan'), device=x.device)"])
def test_nothing_to_choose_from(call):
    messages = []
    for device in ("cpu", "xla"):
        with pytest.raises((RuntimeError, IndexError)) as caught:
            eval(call, {"torch": torch, "x": torch.rand(2, 0, 4).to(device)})
        messages.append((caught.type, str(caught.value).split("\n")[0]))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("bias", [False, True])
def test_patched_linear_layers_merge_no_dims(bias):
    from torch_xla.distributed.fsdp.utils import apply_xla_patch_to_nn_linear
    layer, x = torch.nn.Linear(2, 4, bias=bias), torch.randn(3, 5, 2, requires_grad=True)
    (layer(x) ** 2).sum().backward()
    patched = torch.nn.Linear(2, 4, bias=bias)
    patched.load_state_dict(layer.state_dict())
    apply_xla_patch_to_nn_linear(patched.to("xla"))
    z = x.detach().to("xla").requires_grad_()
    torch_xla.sync()
    y = patched(z)
    assert "reshape" not in _XLAC._get_xla_tensors_hlo([y])
    (y ** 2).sum().backward()
    assert "[15," not in _XLAC._get_xla_tensors_hlo([patched.weight.grad, z.grad])
    torch.testing.assert_close(y.cpu(), layer(x))
    torch.testing.assert_close(patched.weight.grad.cpu(), layer.weight.grad)
    torch.testing.assert_close(z.grad.cpu(), x.grad)
