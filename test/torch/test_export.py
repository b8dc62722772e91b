# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.stablehlo: exported programs as StableHLO, saved, loaded, run here, by xla-run and by JAX."""
import copy
import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
from benchmarks import tools
from torch.export import Dim, export
from torch_xla import _XLAC, stablehlo


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.BatchNorm2d(4)
        self.linear = torch.nn.Linear(4, 5)
        self.register_buffer("scale", torch.tensor([0.5, 2.0, 1.0, 1.5, 3.0]))

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        return {"logits": self.linear(x) * self.scale + torch.arange(5), "features": x}


@pytest.fixture
def exported():
    torch.manual_seed(0)
    model, x = Model().eval(), torch.randn(2, 3, 6, 6)
    with torch.no_grad():
        return model, x, export(model, (x,))


def test_call_text_and_bytecode(exported):
    model, x, program = exported
    module = stablehlo.exported_program_to_stablehlo(program)
    text = module.get_stablehlo_text("forward")
    assert "stablehlo.convolution" in text and "func.func @main" in text
    assert module.get_stablehlo_bytecode()[:4] == b"ML\xefR"
    got, want = module(x), model(x)
    for name in ("logits", "features"):
        torch.testing.assert_close(got[name].cpu(), want[name].detach(), rtol=1e-4, atol=1e-5)


def test_bundle(exported, tmp_path):
    model, x, program = exported
    stablehlo.save_as_stablehlo(program, tmp_path)
    assert sorted(os.listdir(tmp_path / "functions")) == ["forward.bytecode", "forward.meta", "forward.mlir"]
    meta = json.load(open(tmp_path / "functions" / "forward.meta"))
    names = [location["name"] for location in meta["input_locations"] if location["type_"] == "parameter"]
    assert "conv.weight" in names and set(os.listdir(tmp_path / "data")) == set(names)
    given = [location["type_"] for location in meta["input_locations"]].index("input_arg")
    assert meta["input_signature"][given] == {"shape": [2, 3, 6, 6], "dtype": "float32", "dynamic_dims": []}
    want = model(x)["logits"].detach()
    loaded = stablehlo.StableHLOGraphModule.load(tmp_path)
    torch.testing.assert_close(loaded(x)["logits"].cpu(), want, rtol=1e-4, atol=1e-5)
    # xla-run, with the weights of the bundle as arguments.
    folders = {"parameter": lambda l: tmp_path / "data" / l["name"], "constant": lambda l: tmp_path / "constants" / str(l["position"])}
    arguments = [np.load(folders[l["type_"]](l)) if l["type_"] != "input_arg" else x.numpy() for l in meta["input_locations"]]
    tools.save_arguments(tmp_path / "in.npz", arguments)
    for form in ("mlir", "bytecode"):
        ran = subprocess.run([tools.tool("xla-run"), tmp_path / "functions" / f"forward.{form}", f"--args={tmp_path / 'in.npz'}",
                              f"--out={tmp_path / 'out.npz'}"], capture_output=True, text=True, timeout=120)
        assert ran.returncode == 0, ran.stderr
        with np.load(tmp_path / "out.npz") as archive:
            results = [archive[key] for key in sorted(archive.files)]
        np.testing.assert_allclose(results[0], want.numpy(), rtol=1e-4, atol=1e-5)


def test_bundle_in_jax(exported, tmp_path):
    jax = pytest.importorskip("jax")
    from jax._src.lib import xla_client
    from jaxlib.mlir import ir
    from jax._src.interpreters import mlir
    model, x, program = exported
    module = stablehlo.exported_program_to_stablehlo(program)
    device = jax.devices("cpu")[0]
    with mlir.make_ir_context() as context, ir.Location.unknown(context):
        parsed = ir.Module.parse(module.get_stablehlo_text())
        executable = device.client.compile_and_load(parsed, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    meta = module._bundle.stablehlo_funcs[0].meta
    with jax.enable_x64():
        arguments = [jax.device_put(x.numpy() if location.type_ == stablehlo.VariableType.INPUT_ARG
                                    else module._bundle.state_dict[location.name] if location.type_ == stablehlo.VariableType.PARAMETER
                                    else module._bundle.additional_constants[location.position], device)
                     for location in meta.input_locations]
    result = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()[0][0]
    np.testing.assert_allclose(np.asarray(result), model(x)["logits"].detach().numpy(), rtol=1e-4, atol=1e-5)


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.project = torch.nn.Embedding(20, 8), torch.nn.Linear(8, 24)

    def forward(self, tokens, scale):
        q, k, v = self.project(self.embedding(tokens)).chunk(3, -1)
        scores = torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, -1)
        out = torch.cat([scores @ v, v[:, 1:] * scale], 1)
        return out.mean(1), out.reshape(-1, 8), torch.arange(tokens.shape[1]) + tokens.shape[0]


def test_dynamic_dimensions(tmp_path):
    torch.manual_seed(0)
    model = Attention().eval()
    tokens, scale = torch.randint(0, 20, (3, 5)), torch.tensor(2.0)
    with torch.no_grad():
        sizes = {0: Dim("batch", min=2, max=64), 1: Dim("length", min=3, max=99)}
        program = export(model, (tokens, scale), dynamic_shapes=(sizes, None))
    module = stablehlo.exported_program_to_stablehlo(program)
    text = module.get_stablehlo_text()
    assert "tensor<?x?xi64>" in text and "tensor<?x8xf32>" in text
    signature = module._bundle.stablehlo_funcs[0].meta
    assert signature.input_signature[-2].dynamic_dims == [0, 1] and signature.output_signature[1].dynamic_dims == [0]
    before = _XLAC._compilations()
    for shape in ((3, 5), (7, 4), (2, 30)):
        other = torch.randint(0, 20, shape)
        for got, want in zip(module(other, scale), model(other, scale)):
            torch.testing.assert_close(got.cpu(), want.detach(), rtol=1e-4, atol=1e-5)
    assert _XLAC._compilations() == before + 1, "one program for all sizes"
    module.save(tmp_path)
    assert "?" in stablehlo.StableHLOGraphModule.load(tmp_path).get_stablehlo_text()


class Named(torch.nn.Module):
    def forward(self, x, parts, *, add, by):
        return {"sum": x * by + add, "parts": parts["first"] - parts["second"][0]}


def test_arguments_by_name(tmp_path):
    """Keywords and dicts are in any order; another structure is an error; tensors one after the other are in the program's order."""
    model, (x, add, by, first, second) = Named(), torch.randn(5, 2, 3)
    module = stablehlo.exported_program_to_stablehlo(export(model, (x, {"first": first, "second": (second,)}), dict(add=add, by=by)))
    module.save(tmp_path)
    want = model(x, {"first": first, "second": (second,)}, add=add, by=by)
    for each in (module, stablehlo.StableHLOGraphModule.load(tmp_path)):
        for got in (each(x, {"first": first, "second": (second,)}, add=add, by=by), each(x, {"second": (second,), "first": first}, by=by, add=add),
                    each(x, first, second, add, by)):
            torch.testing.assert_close({name: value.cpu() for name, value in got.items()}, want)
        for args, kwargs in (((x, {"first": first, "second": (second,)}), dict(add=add)), ((x, {"first": first, "third": (second,)}), dict(add=add, by=by)),
                             ((x, {"first": first, "second": (second,)}), dict(add=add, by=by, more=x)), ((x, first, second, add, by, x), {}),
                             ((), dict(by=by, add=add, x=x, parts={"first": first, "second": (second,)}))):
            with pytest.raises(ValueError, match="expects the arguments that the program was exported with"):
                each(*args, **kwargs)


class Sums(torch.nn.Module):
    """The sum and the difference of two tensors, in a structure."""

    def __init__(self, build):
        super().__init__()
        self.build = build

    def forward(self, x, y):
        return self.build(x + 2 * y, x - y)


@pytest.mark.parametrize("build", [lambda a, b: a, lambda a, b: (a,), lambda a, b: (a, b), lambda a, b: [a, b], lambda a, b: {"b": b, "a": a},
                                   lambda a, b: (a, [b])], ids=["tensor", "one", "tuple", "list", "dict", "nested"])
def test_arguments_of_all_kinds_and_structures_of_results(build):
    """Tensors of the device are taken as they are; others are converted."""
    torch.manual_seed(0)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    model, moved = Sums(build), y.to("xla")
    module = stablehlo.exported_program_to_stablehlo(export(model, (x, y)))
    on_device = x.to("xla")
    for given in (x, on_device, x.numpy(), x.double(), on_device.double(), torch.nn.Parameter(x), torch.nn.Parameter(on_device),
                  on_device.clone().requires_grad_(), x.t().contiguous().to("xla").t(), on_device * 1):
        for made in (module(given, moved), module(given, y)):
            torch.testing.assert_close(torch.utils._pytree.tree_map(torch.Tensor.cpu, made), model(x, y))
            assert not any(each.requires_grad for each in torch.utils._pytree.tree_leaves(made))
    for wrong in ((on_device,), (on_device, moved, moved), ((on_device, moved),)):
        with pytest.raises(ValueError):
            module(*wrong)
    with pytest.raises(ValueError, match="expects at least 2 inputs, but got 1"):
        module.evaluate("forward", [on_device])


class Lazy(torch.nn.Module):
    """Results that are lazily conjugated, or negated, views of the argument and of a computed tensor."""

    def forward(self, x):
        y = x * 2
        return x.conj(), x.conj().imag, y.mT.conj(), y.conj().imag


def test_lazily_conjugated_and_negated_tensors():
    """They are what they show, as arguments and as results."""
    torch.manual_seed(0)
    x = torch.randn(3, 3, dtype=torch.complex64)
    module = stablehlo.exported_program_to_stablehlo(export(Lazy(), (x,)))
    for given in (x, x.conj(), x.conj().mT):
        for made, want in zip(module(given.to("xla")), Lazy()(given), strict=True):
            torch.testing.assert_close(made.cpu(), want.resolve_conj().resolve_neg())
    on_device = x.to("xla")
    for given, shown in ((on_device.conj(), x.conj()), (on_device.mT.conj(), x.mT.conj())):
        assert given.is_conj()
        for made, want in zip(module(given), Lazy()(shown), strict=True):
            torch.testing.assert_close(made.cpu(), want.resolve_conj().resolve_neg())
    real = stablehlo.exported_program_to_stablehlo(export(torch.nn.ReLU(), (x.imag.contiguous(),)))
    negated = on_device.conj().imag
    assert negated.is_neg()
    torch.testing.assert_close(real(negated).cpu(), torch.relu(-x.imag))


def test_open_sizes_agree(tmp_path):
    """An open size is read in one place of the program, and what the others say is checked: memory beyond their end would be read else."""
    class Halves(torch.nn.Module):
        def forward(self, x, y, z):
            return x.reshape(2, -1).sum(0) + y, z * 2
    n = Dim("n", min=2)
    given = torch.randn(8), torch.randn(4), torch.randn(3, 4)
    module = stablehlo.exported_program_to_stablehlo(export(Halves(), given, dynamic_shapes=({0: 2 * n}, {0: n}, {0: Dim("m"), 1: n})))
    module.save(tmp_path)
    for each in (module, stablehlo.StableHLOGraphModule.load(tmp_path)):
        for count, rows in ((4, 3), (7, 5), (300, 2)):
            inputs = torch.randn(2 * count), torch.randn(count), torch.randn(rows, count)
            for got, want in zip(each(*inputs), Halves()(*inputs)):
                torch.testing.assert_close(got.cpu(), want)
        for sizes, message in (((8, 5, 4), "expects 4 in dimension 0 of input 1, as dimension 0 of input 0 says, but got 5"),
                               ((10_000_000, 4, 4), "expects 5000000 in dimension 0 of input 1"), ((8, 4, 3), "expects 4 in dimension 1 of input 2"),
                               ((9, 4, 4), "expects a size of 2 [*] n [+] 0 in dimension 0 of input 0, but got 9")):
            with pytest.raises(ValueError, match=message):
                each(torch.randn(sizes[0]), torch.randn(sizes[1]), torch.randn(3, sizes[2]))
    with pytest.raises(RuntimeError, match="expects argument"):
        module(*given[:2], torch.randn(4))


def test_programs_compare_open_sizes():
    """Also without what the bundle knows of its inputs, in programs of StableHLO text, whether or not an argument is bound."""
    text = ("func.func @main(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>, %w: tensor<2xf32>) -> tensor<?x2xf32> {\n"
            "  %0 = stablehlo.add %x, %y : tensor<?x2xf32>\n  return %0 : tensor<?x2xf32>\n}\n")
    w = torch.ones(2, device="xla")
    program, bound = _XLAC._program(text), _XLAC._bind_program(text, [None, None, w])
    for run in (lambda *inputs: _XLAC._run_program(program, [*inputs, w]), lambda *inputs: _XLAC._run_bound(bound, list(inputs))):
        for rows, others in ((3, 5), (5, 3), (3, 0), (1, 1_000_000)):
            with pytest.raises(RuntimeError, match=rf"expects dimension 0 of argument 1 to be {rows} \(dimension 0 of argument 0\), but got {others}"):
                run(torch.ones(rows, 2, device="xla"), torch.ones(others, 2, device="xla"))
        for rows in (0, 1, 7):
            torch.testing.assert_close(run(*[torch.ones(rows, 2, device="xla")] * 2)[0].cpu(), torch.full((rows, 2), 2.0))


def test_a_called_module_is_copied_and_pickled(tmp_path):
    """What it has compiled belongs to the process: a copy compiles again."""
    torch.manual_seed(0)
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    module = stablehlo.exported_program_to_stablehlo(export(model, (x,)))
    want = model(x).detach()
    torch.testing.assert_close(module(x).cpu(), want)
    torch.save(module, tmp_path / "module.pt")
    others = [copy.copy(module), copy.deepcopy(module), pickle.loads(pickle.dumps(module)), torch.load(tmp_path / "module.pt", weights_only=False)]
    for each in (*others, *map(copy.deepcopy, others), module):
        torch.testing.assert_close(each(x).cpu(), want)
    others[1]._bundle.state_dict["weight"][:] = 0  # its own
    torch.testing.assert_close(copy.copy(others[1])(x).cpu(), model.bias.detach().expand(4, 2))
    torch.testing.assert_close(module(x).cpu(), want)


def test_dimensions_without_bounds():
    """Dim("n") is what most programs say."""
    model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    module = stablehlo.exported_program_to_stablehlo(export(model, (x,), dynamic_shapes=({0: Dim("n")},)))
    assert "tensor<?x3xf32>" in module.get_stablehlo_text()
    for count in (2, 9):
        other = torch.randn(count, 3)
        torch.testing.assert_close(module(other).cpu(), model(other).detach(), rtol=1e-4, atol=1e-5)


def test_running_sums_over_dimensions_of_any_size():
    class Running(torch.nn.Module):
        def forward(self, x):
            greatest, places = x.cummax(1)
            return x.cumsum(0), (x > 0).cumsum(1), x[:, :4].cumsum(1), x.cumprod(1), greatest, places
    model, sizes = Running(), {0: Dim("rows"), 1: Dim("columns", min=5)}
    module = stablehlo.exported_program_to_stablehlo(export(model, (torch.randn(3, 6),), dynamic_shapes=(sizes,)))
    before = _XLAC._compilations()
    for shape in ((3, 6), (2, 5), (33, 64), (4, 1000)):
        other = torch.randn(shape)
        for got, want in zip(module(other), model(other), strict=True):
            torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-4)
    assert _XLAC._compilations() == before + 1, "one program for all sizes"


class Strided(torch.nn.Module):
    """Convolutions and pools behind strides, whose sizes are quotients, and a dimension that is cut into parts."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1), torch.nn.Conv2d(4, 4, 3, stride=3)
        self.pool, self.last = torch.nn.MaxPool2d(3, stride=2, padding=1), torch.nn.Linear(4, 5)

    def forward(self, x):
        y = self.pool(self.first(x)).relu()
        z = self.second(y)
        return z, self.last(z.mean((2, 3))), z.flatten(1), torch.nn.functional.avg_pool2d(y, 2).sum((1, 2))


def test_sizes_behind_strides_are_one_program():
    torch.manual_seed(0)
    model, sizes = Strided().eval(), {0: Dim("batch"), 2: Dim("height", min=22, max=400), 3: Dim("width", min=22, max=400)}
    module = stablehlo.exported_program_to_stablehlo(export(model, (torch.randn(2, 3, 45, 61),), dynamic_shapes=(sizes,)))
    assert "stablehlo.divide" in module.get_stablehlo_text() and "tensor<?x3x?x?xf32>" in module.get_stablehlo_text()
    before = _XLAC._compilations()
    for shape in ((2, 45, 61), (1, 22, 23), (3, 33, 34), (2, 47, 40), (1, 70, 22), (2, 35, 36), (1, 38, 37)):
        other = torch.randn(shape[0], 3, *shape[1:])
        for got, want in zip(module(other), model(other), strict=True):
            torch.testing.assert_close(got.cpu(), want.detach(), rtol=1e-3, atol=1e-4)
    assert _XLAC._compilations() == before + 1, "one program for all sizes"


def test_a_dimension_that_is_cut_into_parts_is_one_program():
    class Parts(torch.nn.Module):
        def forward(self, x):
            parts = x.reshape(x.shape[0] // 4, 4, x.shape[1])
            return parts.sum(1), parts.transpose(1, 2) * (x.shape[0] // 4)
    size = 4 * Dim("parts", min=2, max=100)
    module = stablehlo.exported_program_to_stablehlo(export(Parts(), (torch.randn(12, 3),), dynamic_shapes=({0: size},)))
    before = _XLAC._compilations()
    for rows in (12, 8, 100, 44):
        other = torch.randn(rows, 3)
        for got, want in zip(module(other), Parts()(other), strict=True):
            torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-5)
    assert _XLAC._compilations() == before + 1, "one program for all sizes"


def test_operators_that_become_custom_calls():
    library = torch.library.Library("millrace_test_export", "DEF")
    library.define("pair(Tensor x, Tensor y) -> (Tensor, Tensor)")
    library.impl("pair", lambda x, y: (torch.empty_like(x), torch.empty(y.shape[1:], device="meta")), "Meta")

    class Model(torch.nn.Module):
        def forward(self, x, y):
            a, b = torch.ops.millrace_test_export.pair(x.sin(), y)
            return a.cos() + b.sum()
    program = export(Model(), (torch.randn(2, 3), torch.randn(5, 4)))
    options = stablehlo.StableHLOExportOptions(custom_ops_allowed_in_graph={"millrace_test_export"})
    text = stablehlo.exported_program_to_stablehlo(program, options).get_stablehlo_text()
    assert re.search(r"custom_call @millrace_test_export.pair.default\(.*tensor<2x3xf32>, tensor<5x4xf32>.* -> .*tensor<2x3xf32>, tensor<4xf32>", text)
    with pytest.raises(RuntimeError, match="millrace_test_export::pair"):
        stablehlo.exported_program_to_stablehlo(program)


def test_operators_that_are_no_checks_are_kept():
    """Whatever their names are."""
    library = torch.library.Library("millrace_test_asserts", "DEF")
    library.define("root_assert_positive(Tensor x) -> Tensor")
    library.impl("root_assert_positive", lambda x: x.abs().sqrt(), "CompositeExplicitAutograd")

    class Model(torch.nn.Module):
        def forward(self, x):
            torch._assert_async((x > -100).all())
            return torch.ops.millrace_test_asserts.root_assert_positive(x) + 1
    x = torch.randn(2, 3)
    module = stablehlo.exported_program_to_stablehlo(export(Model(), (x,)))
    torch.testing.assert_close(module(x).cpu(), Model()(x))


def test_views_of_results_with_the_strides_of_the_cpu():
    class Attention(torch.nn.Module):
        def forward(self, x):
            heads = [x.view(2, 6, 4, 8).transpose(1, 2)] * 3
            return torch.nn.functional.scaled_dot_product_attention(*heads).transpose(1, 2).reshape(2, 6, 32)
    x = torch.randn(2, 6, 32)
    program = torch.export.export(Attention(), (x,))
    assert any(node.target is torch.ops.aten.view.default for node in program.graph.nodes)  # of the attention's result too
    torch.testing.assert_close(torch.as_tensor(stablehlo.exported_program_to_stablehlo(program)(x)).cpu(), Attention()(x), rtol=1e-4, atol=1e-5)


def test_functions_half_types_and_old_versions(tmp_path):
    def f(x, y):
        return (x @ y).softmax(-1)
    x, y = torch.randn(2, 3, dtype=torch.bfloat16), torch.randn(3, 4, dtype=torch.bfloat16)
    stablehlo.save_torch_model_as_stablehlo(f, (x, y), tmp_path)
    got = stablehlo.StableHLOGraphModule.load(tmp_path)(x, y)
    torch.testing.assert_close(got.cpu(), f(x, y), rtol=2e-2, atol=2e-2)
    layer = torch.nn.Linear(3, 2, dtype=torch.bfloat16)
    options = stablehlo.StableHLOExportOptions(target_version="1.0.0", include_human_readable_text=False)
    with torch.no_grad():
        stablehlo.save_as_stablehlo(export(layer, (x,)), tmp_path / "layer", options)
    assert not os.path.exists(tmp_path / "layer" / "functions" / "forward.mlir")
    got = stablehlo.StableHLOGraphModule.load(tmp_path / "layer")(x)
    torch.testing.assert_close(got.cpu(), layer(x).detach(), rtol=2e-2, atol=2e-2)


def test_pending_tensors():
    x = torch.randn(3).to("xla")
    y = (x * 2).sin()
    assert "stablehlo.sine" in xm.get_stablehlo([y])
    assert xm.get_stablehlo_bytecode([y])[:4] == b"ML\xefR"
    assert "stablehlo.sine" in _XLAC._artifact_text(_XLAC._get_stablehlo_bytecode([y]))
    assert "aten::sin" in _XLAC._get_xla_tensors_text([y]) and "ROOT=0" in _XLAC._get_xla_tensors_text([y])
    dot = _XLAC._get_xla_tensors_dot([y])
    assert dot.startswith("digraph G {") and "aten::sin" in dot and "->" in dot
    with pytest.raises(RuntimeError, match="portable artifact"):
        _XLAC._artifact_text(b"nothing")


def test_composites(tmp_path):
    from torch_xla.experimental.mark_pattern_utils import StableHLOCompositeBuilder

    class Marked(torch.nn.Module):
        def forward(self, x, w):
            for _ in range(2):
                builder = StableHLOCompositeBuilder("my.norm", {"eps": 0.5, "axis": 1, "kind": "rms"})
                a, b = builder.mark_inputs(x, w)
                y = a * torch.rsqrt((a * a).mean(1, keepdim=True) + 0.5) * b
                y, z = builder.mark_outputs(y, y + 1)
                x = y * 2 + z
            return x
    x, w = torch.randn(3, 4), torch.randn(4)
    with torch.no_grad():
        program = export(Marked(), (x, w))
    module = stablehlo.exported_program_to_stablehlo(program)
    text = module.get_stablehlo_text()
    assert text.count('stablehlo.composite "my.norm"') == 2 and "mark_tensor" not in text
    for part in ("kind = \"rms\"", "axis = 1 : i64", "decomposition = @my.norm.impl_0}"):
        assert part in text
    torch.testing.assert_close(module(x, w).cpu(), Marked()(x, w), rtol=1e-4, atol=1e-5)
    module.save(tmp_path)
    torch.testing.assert_close(stablehlo.StableHLOGraphModule.load(tmp_path)(x, w).cpu(), Marked()(x, w), rtol=1e-4, atol=1e-5)


def test_composites_of_pending_tensors():
    from torch_xla.experimental.mark_pattern_utils import StableHLOCompositeBuilder
    from torch_xla.experimental.xla_marker import serialize_composite_attr
    x = torch.tensor([[3.0, 1.0, 2.0]], device="xla", requires_grad=True)
    attributes = {"whole": [1, 2], "real": [1.0, 1.5], "yes": [True, False], "one": 2.5}
    builder = StableHLOCompositeBuilder("my.update", attributes)
    cache, at = builder.mark_inputs(torch.zeros(1, 3, device="xla"), torch.tensor([0, 2], device="xla"))
    y, z = builder.mark_outputs(cache.index_copy(1, at, x[:, :2]), x * 2)  # the first with a region inside
    p = torch.ops.xla.mark_tensor(y, "my.plain", 0, "7", True)
    q = torch.ops.xla.mark_tensor(p + 1, "my.plain", 0, "7", False, serialize_composite_attr({"k": 1}))
    text = xm.get_stablehlo([q, z])
    for part in ("whole = dense<[1, 2]> : tensor<2xi64>", "real = dense<[1.000000e+00, 1.500000e+00]> : tensor<2xf32>",
                 "yes = dense<[true, false]> : tensor<2xi1>", "one = 2.500000e+00 : f32", "decomposition = @my.update.impl}",
                 "{composite_attributes = {k = 1 : i64}, decomposition = @my.plain.impl}"):
        assert part in text
    assert xm.get_stablehlo_bytecode([q, z]).startswith(b"ML")
    (q.sum() + z.sum()).backward()
    assert (q.tolist(), z.tolist(), x.grad.tolist()) == ([[4.0, 1.0, 2.0]], [[6.0, 2.0, 4.0]], [[3.0, 3.0, 2.0]])
    assert "HloModule" in torch_xla._XLAC._get_xla_tensors_hlo([torch.randn(3, device="xla")])  # of operations that HLO has not got


def test_custom_calls_and_dumps(tmp_path):
    from torch_xla.experimental.stablehlo_custom_call import stablehlo_custom_call
    x = torch.ones(2, 3).to("xla")
    y, z = stablehlo_custom_call([x], "my \"target\"", [(3,), (2, 2)], [torch.float32, torch.int32], True, "how", 1, {"key": "value"})
    text = xm.get_stablehlo([y, z])
    assert y.shape == (3,) and z.dtype == torch.int32
    for part in ('stablehlo.custom_call', '"my \\22target\\22"', 'has_side_effect = true', 'key = "value"', '"how"'):
        assert part in text, part
    code = ("import torch, torch_xla\n"
            "y = (torch.ones(3, device='xla') * 2).sin()\n"
            "print(y.cpu().sum().item())\n")
    environment = dict(os.environ, XLA_SAVE_TENSORS_FILE=str(tmp_path / "saved"), XLA_SAVE_TENSORS_FMT="hlo",
                       XLA_FLAGS=f"--xla_other=1 --xla_dump_to={tmp_path / 'dump'} --xla_more=2")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, env=environment)
    assert ran.returncode == 0, ran.stderr
    saved = open(tmp_path / "saved.0").read()
    assert saved.count("## BEGIN_GRAPH") == 1 and "sine(" in saved
    files = sorted(os.listdir(tmp_path / "dump"))
    assert files == [f"module_0001.SyncTensorsGraph.{s}" for s in ("after_optimizations.mlir", "after_optimizations.txt", "before_optimizations.mlir",
                                                                   "before_optimizations.txt", "ir-with-opt.ll", "s")]
    assert "XLA_FLAGS: --xla_other=1 has no effect here" in ran.stderr and "--xla_more=2" in ran.stderr
    assert "millrace.kernel" in open(tmp_path / "dump" / files[0]).read()
