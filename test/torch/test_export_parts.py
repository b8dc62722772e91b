# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of exported programs: quantized types, locations, the order of parameters, passes over graphs with open sizes."""
import re

import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
from torch.ao.quantization.fx import _decomposed  # noqa: F401  (defines the operators)
from torch.export import Dim, export
from torch_xla.experimental import unbounded_dynamism_export as passes
from torch_xla.experimental import xla_mlir_debuginfo  # noqa: F401  (defines its operator)
from torch_xla.stablehlo import StableHLOExportOptions, exported_program_to_stablehlo
from torch_xla.utils.stablehlo_test_utils import wrap_func_as_nn_module

Q = torch.ops.quantized_decomposed
aten = torch.ops.aten


def _through(x):
    q = Q.quantize_per_tensor(x, 0.3, 5, -128, 127, torch.int8)
    return Q.dequantize_per_tensor(q, 0.3, 5, -128, 127, torch.int8)


def _through_channels(x, scale, zero_point):
    q = Q.quantize_per_channel(x, scale, zero_point, 1, -127, 127, torch.int8)
    return Q.dequantize_per_channel(q, scale, zero_point, 1, -127, 127, torch.int8), q


def test_pending_quantizations():
    x, scale, zero_point = torch.randn(4, 3), torch.tensor([0.5, 0.25, 2.0]), torch.tensor([0, -3, 7])
    made = _through(x.to("xla"))
    text = xm.get_stablehlo([made])
    assert len(re.findall(r"stablehlo\.uniform_(?:de)?quantize", text)) == 2
    assert text.count("tensor<4x3x!quant.uniform<i8:f32, 3.000000e-01:5>>") == 2 and "round" not in text
    assert torch.equal(made.cpu(), _through(x))  # what runs is PyTorch's arithmetic
    made, q = _through_channels(x.to("xla"), scale.to("xla"), zero_point.to("xla"))
    text = xm.get_stablehlo([made, q])
    assert "!quant.uniform<i8<-127:127>:f32:1, {5.000000e-01,2.500000e-01:-3,2.000000e+00:7}>" in text
    assert "stablehlo.bitcast_convert" in text  # q is returned as integers
    want = _through_channels(x, scale, zero_point)
    assert torch.equal(made.cpu(), want[0]) and torch.equal(q.cpu(), want[1])


def test_scales_that_the_graph_computes_stay_arithmetic():
    x = torch.randn(4, 3).to("xla")
    scale = x.abs().amax(0) / 100
    made, _ = _through_channels(x, scale, torch.zeros(3, dtype=torch.int64, device="xla"))
    assert "uniform" not in xm.get_stablehlo([made])
    torch.testing.assert_close(made.cpu(), _through_channels(x.cpu(), scale.cpu(), torch.zeros(3, dtype=torch.int64))[0])


def test_one_quantized_value_is_dequantized_once():
    q = Q.quantize_per_tensor(torch.ones(2, 3, device="xla"), 0.3, 5, -128, 127, torch.int8)
    twice = [Q.dequantize_per_tensor(q, 0.3, 5, -128, 127, torch.int8) for _ in range(2)]
    text = xm.get_stablehlo([twice[0] * 2 + twice[1]])
    assert text.count("stablehlo.uniform_quantize") == text.count("stablehlo.uniform_dequantize") == 1
    assert text.count("stablehlo.multiply") == 1 and text.count("stablehlo.add") == 1


@pytest.mark.parametrize("is_open", (False, True))
def test_exported_quantizations(is_open):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("scale", torch.tensor([0.5, 0.25, 2.0]))
            self.register_buffer("zero_point", torch.tensor([0, -3, 7]))
            self.register_buffer("weight", torch.randint(-127, 127, (3, 2), dtype=torch.int8))

        def forward(self, x):
            weight = Q.dequantize_per_tensor(self.weight, 0.02, 0, -127, 127, torch.int8)
            return _through_channels(_through(x), self.scale, self.zero_point)[0] @ weight
    model, x = Model(), torch.randn(4, 3)
    module = exported_program_to_stablehlo(export(model, (x,), dynamic_shapes=({0: Dim("n")},) if is_open else None))
    text = module.get_stablehlo_text()
    assert text.count("stablehlo.uniform_quantize") == 2 and text.count("stablehlo.uniform_dequantize") == 3
    assert ("tensor<?x3x!quant" in text) == is_open
    torch.testing.assert_close(module(x).cpu(), model(x))


def test_notes_and_metadata():
    class Model(torch.nn.Module):
        def forward(self, x, y):
            x = torch.ops.xla.write_mlir_debuginfo(x + y, "the sum")
            return torch.ops.xla.write_mlir_debuginfo(x * y, "the product")
    x = torch.randn(5)
    program = export(Model(), (x, x))
    module = exported_program_to_stablehlo(program)
    text = module.get_stablehlo_text()
    assert re.search(r'stablehlo\.add .*loc\("the sum"\)', text) and re.search(r'stablehlo\.multiply .*loc\("the product"\)', text)
    assert "custom_call" not in text
    torch.testing.assert_close(module(x, x).cpu(), 2 * x * x)
    lazy = torch.ops.xla.write_mlir_debuginfo(x.to("xla") + 1, "one more")
    assert 'loc("one more")' in xm.get_stablehlo([lazy]) and torch.equal(lazy.cpu(), x + 1)
    options = StableHLOExportOptions(export_node_metadata=True)
    text = exported_program_to_stablehlo(export(torch.nn.Linear(5, 2), (x,)), options).get_stablehlo_text()
    assert all(f"{key}\\22" in text for key in ("stack_trace", "nn_module_stack", "source_fn_stack"))


def test_parameters_stand_in_the_order_of_the_graphs_text():
    module = exported_program_to_stablehlo(export(wrap_func_as_nn_module(lambda x, y, z: x @ y), (torch.ones(2, 3), torch.ones(3, 4), torch.ones(7))))
    assert "@main(%arg0: tensor<3x4xf32>, %arg1: tensor<2x3xf32>, %arg2: tensor<7xf32>)" in module.get_stablehlo_text()
    assert module(torch.ones(2, 3), torch.ones(3, 4), torch.ones(7)).cpu().tolist() == [[3] * 4] * 2


def _view(x):
    return (x * 2).view(x.shape[0] * x.shape[1], -1)


CASES = {  # name: (function, arguments, open sizes, passes, in the code afterwards, not in it)
    "select": (aten.select.int, (torch.rand(3, 4, 5), 1, -1), (({0: Dim("n")}, None, None),),
               [passes.decompose_dynamic_shape_select], ["aten.slice", "aten.view"], ["aten.select"]),
    "split": (lambda x: tuple(aten.split_with_sizes.default(x, [1, 2], -1)), (torch.rand(4, 3),), (({0: Dim("n")},),),
              [passes.decompose_split_with_sizes], ["split_with_sizes", "aten.slice"], ["aten.split_with_sizes"]),
    "embedding": (aten.embedding.default, (torch.rand(9, 4), torch.randint(9, (3, 5))), ((None, {0: Dim("n")}),),
                  [passes.flatten_embedding_indices_tensor, passes.replace_dynamic_view_with_xla_op], ["xla.dynamic_view"], ["aten.reshape"]),
    "slice": (lambda x: aten.slice(x * 2, 1, 0, 2 ** 63 - 1), (torch.rand(4, 3),), (({0: Dim("n")},),),
              [passes.remove_no_op_slice], ["return (mul,)"], ["aten.slice"]),
    "view": (_view, (torch.rand(3, 4, 5),), (({0: Dim("n")},),), [passes.replace_dynamic_view_with_xla_op], ["xla.dynamic_view"], ["aten.view"]),
    "expand": (lambda x, y: x.expand(y.shape[0], -1), (torch.rand(1, 4), torch.rand(3, 2)), ((None, {0: Dim("n")}),),
               [passes.replace_dynamic_expand_with_xla_op], ["xla.dynamic_expand"], ["aten.expand"]),
    "unsqueeze": (lambda x: aten.unsqueeze.default(x, -1), (torch.rand(3, 4),), (({0: Dim("n")},),),
                  [passes.dynamic_unsqueeze_to_view], ["aten.view"], ["aten.unsqueeze"]),
    "layer norm": (lambda x, w, b: aten.native_layer_norm.default(x, [4], w, b, 1e-5)[0], (torch.rand(3, 4), torch.rand(4), torch.rand(4)),
                   (({0: Dim("n")}, None, None),), [passes.decompose_dynamic_native_layer_norm], ["aten.rsqrt"], ["aten.native_layer_norm"]),
    "group norm": (lambda x, w, b: aten.native_group_norm.default(x, w, b, x.shape[0], 4, 5, 2, 1e-5)[0],
                   (torch.rand(3, 4, 5), torch.rand(4), torch.rand(4)), (({0: Dim("n")}, None, None),),
                   [passes.decompose_dynamic_native_group_norm], ["aten.rsqrt"], ["aten.native_group_norm"]),
}


@pytest.mark.parametrize("name", CASES)
def test_passes_over_open_sizes(name):
    function, arguments, shapes, changes, there, gone = CASES[name]
    program = export(wrap_func_as_nn_module(function), arguments, dynamic_shapes=shapes)
    want = program.module()(*arguments)
    assert passes.exported_program_has_symbolic_input_shape(program) and not all(text in program.graph_module.code for text in there)
    for change in changes:
        change(program.graph_module)
    program.graph_module.recompile()
    assert all(text in program.graph_module.code for text in there) and not any(text in program.graph_module.code for text in gone)
    torch.testing.assert_close(program.module()(*arguments), want)
    got = exported_program_to_stablehlo(program)(*arguments)
    torch.testing.assert_close(torch.utils._pytree.tree_map(lambda t: t.cpu(), got), want)


def test_numbers_are_constants_of_the_type_they_are_used_in():
    text = exported_program_to_stablehlo(export(wrap_func_as_nn_module(lambda x: 1.0 - x * 2), (torch.ones(2, 3),))).get_stablehlo_text()
    assert re.search(r"stablehlo\.constant .* : tensor<2x3xf32>", text) and "f64" not in text and "convert" not in text


def test_patched_linear_in_autocast_and_names_in_hlo():
    from torch_xla.distributed.spmd.xla_sharding import xla_patched_nn_linear_forward
    layer, x = torch.nn.Linear(4, 3).to("xla"), torch.randn(2, 4, device="xla")
    with torch.autocast("xla"):
        y = xla_patched_nn_linear_forward(layer, x)
    (y * y).sum().backward()
    hlo = torch_xla._XLAC._get_xla_tensors_hlo([layer.weight.grad])
    assert re.findall(r"= (\w+)\[[\d,]*\]\{[\d,]*\} dot\((\w+)\[", hlo) == [("bf16", "bf16")] * 2
    assert re.search(r"ENTRY .*\(p0\.1: \S+, p1\.2: ", hlo)
    torch.testing.assert_close(layer.weight.grad.cpu(), 2 * (y.detach().cpu().T @ x.cpu()), rtol=0.05, atol=0.05)


def test_patched_linear_of_a_vector():
    from torch_xla.distributed.spmd.xla_sharding import xla_patched_nn_linear_forward
    layer, x = torch.nn.Linear(2, 4).to("xla"), torch.randn(2).to("xla")
    xla_patched_nn_linear_forward(layer, x).square().sum().backward()
    wanted = 2 * (layer.weight @ x + layer.bias).detach().cpu()
    torch.testing.assert_close(layer.bias.grad.cpu(), wanted)
    torch.testing.assert_close(layer.weight.grad.cpu(), torch.outer(wanted, x.cpu()))


def test_the_norm_of_no_gradients_is_on_the_device():
    norm = torch.nn.utils.clip_grad_norm_(torch.nn.Linear(2, 2).to("xla").parameters(), 1.0)
    assert norm.device.type == "xla" and norm.item() == 0


def test_factorizations_that_fail_give_no_numbers_in_exported_programs():
    x = torch.eye(3) * 2 + 0.5
    for function in (torch.linalg.inv, torch.linalg.cholesky, lambda a: torch.linalg.solve(a, a + 1)):
        module = exported_program_to_stablehlo(export(wrap_func_as_nn_module(function), (x,)))
        torch.testing.assert_close(module(x).cpu(), function(x))
        assert module(torch.zeros(3, 3)).cpu().isnan().all()
    module = exported_program_to_stablehlo(export(wrap_func_as_nn_module(torch.linalg.inv), (torch.stack([x, x]),)))
    assert module(torch.stack([x, x * 0])).cpu().isnan().any((1, 2)).tolist() == [False, True]
    with pytest.raises(torch.linalg.LinAlgError, match="singular"):
        torch.linalg.inv(torch.zeros(2, 2, device="xla"))


def test_what_a_traced_function_leaves_behind_stops_no_later_step():
    scope, (argument,) = torch_xla._XLAC._graph_begin((torch.empty(2, device="xla"),))
    kept = argument * 2
    torch_xla._XLAC._graph_end(scope)
    del scope
    other = torch.ones(2, device="xla") + 1
    torch_xla.sync()
    assert other.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="made while a function was traced"):
        kept.cpu()


def test_places_in_text_of_marked_programs(monkeypatch):
    monkeypatch.setenv("XLA_HLO_DEBUG", "1")
    text = xm.get_stablehlo([torch.ops.xla.write_mlir_debuginfo(_through(torch.ones(2, 3, device="xla").sin()), "last")])
    assert re.search(r"stablehlo\.sine .* loc\(#loc\d+\)", text) and re.search(r'#loc\d+ = loc\("aten::sin"\(#loc\d+\)\)', text)
    assert "test_export_parts.py" in text and re.search(r'uniform_dequantize .* loc\("last"\)', text)
    assert torch_xla._XLAC._artifact(text, "current")


def test_places_of_buffers():
    from torch_xla.experimental.stablehlo_custom_call import place_to_device, place_to_host
    x = torch.ones(3, device="xla", requires_grad=True)
    y = place_to_device(place_to_host(x * 2))
    text = xm.get_stablehlo([y])
    assert text.count("@annotate_device_placement") == 2 and text.count("has_side_effect = true") == 2
    assert '_xla_buffer_placement = "pinned_host"' in text and '_xla_buffer_placement = "device"' in text
    y.sum().backward()
    assert y.detach().cpu().tolist() == [2] * 3 and x.grad.cpu().tolist() == [2] * 3


class Checked(torch.nn.Module):
    """A module that compares a value of its input, as language models compare lengths."""

    def forward(self, x, lengths):
        torch._check(lengths.max().item() <= x.shape[1])
        torch._assert_async((lengths > 0).all())
        return x * 2


def test_checks_of_values_are_left_out():
    x, lengths = torch.randn(2, 5), torch.tensor([3, 5])
    made = exported_program_to_stablehlo(export(Checked(), (x, lengths)))
    text = made.get_stablehlo_text()
    assert "compare" not in text and "reduce" not in text  # nor what only the checks read
    assert torch.equal(made(x, lengths).cpu(), x * 2)
