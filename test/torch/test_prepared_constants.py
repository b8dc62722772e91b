# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="openxla") prepares the parameters that a graph only reads once, and again when they are written."""
import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met
from torch_xla._dynamo import config


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(32)
        self.linear = torch.nn.Linear(32, 40)

    def forward(self, x):
        return self.linear(self.norm(self.convolution(x)).relu().flatten(2).transpose(1, 2))


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)
    torch_xla.sync(wait=True)
    met.clear_all()


def prepared():
    return met.counter_value("PreparedConstants") or 0


def network():
    """A model in the state for inference on the device, the same compiled, the same on the CPU, and an input on both."""
    host = Network().eval()
    model = Network().eval()
    model.load_state_dict(host.state_dict())
    model = model.to("xla")
    x = torch.randn(2, 16, 12, 12)
    return model, torch.compile(model, backend="openxla"), host, x, x.to("xla")


def check(compiled, host, x, on_device):
    with torch.no_grad():
        torch.testing.assert_close(compiled(on_device).cpu(), host(x), rtol=1e-4, atol=1e-4)


def test_parameters_are_prepared_once():
    model, compiled, host, x, on_device = network()
    for _ in range(4):
        check(compiled, host, x, on_device)
    assert prepared() == 1


def test_no_bit_depends_on_it(monkeypatch):
    model, compiled, host, x, on_device = network()
    with torch.no_grad():
        got = compiled(on_device).cpu()
        assert prepared() == 1
        monkeypatch.setattr(config, "prepare_constants", False)
        torch._dynamo.reset()
        want = torch.compile(model, backend="openxla")(on_device).cpu()
    assert prepared() == 1 and torch.equal(got, want)


def load(model, host):
    other = Network().state_dict()
    model.load_state_dict(other)
    host.load_state_dict(other)


def step(model, host):
    for each in (model, host):
        optimizer = torch.optim.SGD(each.parameters(), lr=0.5)
        for parameter in each.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
    torch_xla.sync()


def write(model, host):
    with torch.no_grad():
        for each in (model, host):
            each.linear.weight[3] *= 2
            each.convolution.weight.mul_(0.5)


def assign(model, host):
    with torch.no_grad():
        weight = torch.randn(40, 32)
        model.linear.weight.data = weight.to("xla")
        host.linear.weight.data = weight


@pytest.mark.parametrize("change", [load, step, write, assign])
def test_a_write_prepares_again(change):
    model, compiled, host, x, on_device = network()
    check(compiled, host, x, on_device)
    for times in (2, 3):
        change(model, host)
        for _ in range(3):
            check(compiled, host, x, on_device)
        assert prepared() == times


def test_parameters_that_change_in_every_call_are_no_constants():
    model, compiled, host, x, on_device = network()
    for _ in range(8):
        check(compiled, host, x, on_device)
        write(model, host)
    assert met.counter_value("ConstantsChanged") == 1
    assert prepared() < 7
    before = prepared()
    for _ in range(3):
        check(compiled, host, x, on_device)
    assert prepared() == before


def test_models_of_one_program_take_turns():
    """Two models are one program: each keeps what was prepared of it."""
    made = [network() for _ in range(2)]
    for _ in range(3):
        for _, compiled, host, x, on_device in made:
            check(compiled, host, x, on_device)
    assert prepared() == 2


def test_training_prepares_nothing():
    model, _, host, x, on_device = network()
    model.train()
    compiled = torch.compile(model, backend="openxla")
    for _ in range(3):
        compiled(on_device).square().mean().backward()
        torch_xla.sync()
    assert prepared() == 0


def test_beyond_the_limit_the_plain_program_runs(monkeypatch):
    monkeypatch.setenv("MILLRACE_PREPARED_BYTES", "1000")
    model, compiled, host, x, on_device = network()
    for _ in range(3):
        check(compiled, host, x, on_device)
    assert met.counter_value("ConstantsBeyondLimit") == 1 and prepared() == 1
    write(model, host)
    check(compiled, host, x, on_device)
    assert prepared() == 1


def test_a_program_for_a_number_of_rows_has_constants():
    """Batches of every size share one program and what was prepared for it."""
    host = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.GELU(), torch.nn.Linear(96, 40)).eval()
    model = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.GELU(), torch.nn.Linear(96, 40)).eval()
    model.load_state_dict(host.state_dict())
    model.to("xla").requires_grad_(False)
    compiled = torch.compile(model, backend="openxla", dynamic=True)
    before = torch_xla._XLAC._compilations()
    for rows in (3, 20, 7, 100):
        x = torch.randn(rows, 64)
        check(compiled, host, x, x.to("xla"))
    assert torch_xla._XLAC._compilations() - before == 1 and prepared() == 1
    for each in (model, host):
        with torch.no_grad():
            each[0].weight.mul_(0.5)
    x = torch.randn(50, 64)
    check(compiled, host, x, x.to("xla"))
    assert prepared() == 2


def exported(host, x):
    from torch_xla import stablehlo
    with torch.no_grad():
        return stablehlo.exported_program_to_stablehlo(torch.export.export(host, (x,)))


def test_weights_of_an_exported_program_are_prepared_once():
    model, compiled, host, x, on_device = network()
    program = exported(host, x)
    with torch.no_grad():
        for given in (x, on_device, -on_device, 2 * x):
            torch.testing.assert_close(program(given).cpu(), host(given.cpu()), rtol=1e-4, atol=1e-4)
    assert prepared() == 1


@pytest.mark.parametrize("normalized", [torch.nn.utils.parametrizations.weight_norm, torch.nn.utils.weight_norm])
def test_normalized_weights_are_prepared_once(normalized):
    """The norm of a weight is no part of a call, whether the weight is a parametrization's or written by a hook before each call."""
    host = normalized(torch.nn.Conv1d(32, 48, 5, padding=2)).eval()
    x = torch.randn(2, 32, 40)
    program = exported(host, x)
    model = normalized(torch.nn.Conv1d(32, 48, 5, padding=2)).eval()
    model.load_state_dict(host.state_dict())
    compiled = torch.compile(model.to("xla"), backend="openxla")
    for run, before in ((program, 0), (compiled, 1)):
        for given in (x, -x, 2 * x):
            check(run, host, given, given.to("xla"))
        assert prepared() == before + 1


def test_two_exported_models_of_one_program_are_prepared_each():
    *_, host, x, on_device = network()
    other = Network().eval()
    with torch.no_grad():
        programs = [(model, exported(model, x)) for model in (host, other)]
        for _ in range(4):
            for model, program in programs:
                torch.testing.assert_close(program(on_device).cpu(), model(x), rtol=1e-4, atol=1e-4)
    assert prepared() == 2


def test_no_bit_of_an_exported_program_depends_on_it():
    from torch_xla import _XLAC
    *_, host, x, on_device = network()
    got = exported(host, x)(on_device).cpu()
    plain = exported(host, x)
    function = plain._name_to_stablehlo["forward"]
    arguments = [on_device if location.type_.value == "input_arg" else plain._fixed_argument(location, signature)
                 for location, signature in zip(function.meta.input_locations, function.meta.input_signature)]
    want, = _XLAC._run_program(_XLAC._program(function.text), arguments)
    assert prepared() == 1 and torch.equal(got, want.cpu())


def test_what_is_no_program_or_no_input_is_refused():
    from torch_xla import _XLAC
    with pytest.raises(Exception, match="expects a module with a function @main"):
        _XLAC._bind_program("func.func @other() { return }", [])
    bound = _XLAC._bind_program("func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> { %0 = stablehlo.add %x, %y : tensor<2xf32>\n"
                                "return %0 : tensor<2xf32> }", [torch.ones(2, device="xla"), None])
    assert _XLAC._run_bound(bound, [torch.ones(2, device="xla")])[0].tolist() == [2, 2]
    with pytest.raises(Exception, match="expects 1 inputs, but got 2"):
        _XLAC._run_bound(bound, [torch.ones(2, device="xla")] * 2)
    with pytest.raises(Exception, match="expects what _bind_program returned"):
        _XLAC._run_bound(None, [])
