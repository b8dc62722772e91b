# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the device holds: tensors; programs that have run cost their code and constants."""
import json
import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
import torch_xla  # noqa: E402
import torch_xla.core.xla_model as xm  # noqa: E402

MIB = 1 << 20


def test_texts_that_grow_leave_nothing_behind():
    """A program for each length, as generate() has them: afterwards the device holds its tensors."""
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))
    want = layers(torch.ones(32, 12, 256)).detach()
    layers.to("xla")
    torch_xla.sync(wait=True)
    used = []
    for length in range(12, 0, -1):
        x = torch.ones(32, length, 256, device="xla")
        before = xm.get_memory_info()["bytes_used"]
        with torch.no_grad():
            y = layers(x)
        torch_xla.sync(wait=True)
        used.append(xm.get_memory_info()["bytes_used"] - before)
        torch.testing.assert_close(y.cpu(), want[:, :length], rtol=1e-4, atol=1e-4)
        del x, y
    assert max(used) < 2 * 32 * 12 * 256 * 4 + MIB, used  # x and y; the layer between has four times as much


ALTERNATE = """
import json, torch, torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met
weights = [torch.full((512, 512), 0.01).to("xla") for _ in range(2)]
xs = [torch.ones(rows, 512).to("xla") for rows in (3000, 4000)]
torch_xla.sync(wait=True)
arrays = xm.get_memory_info()["bytes_used"]
def step(x):
    return ((x @ weights[0]).tanh() @ weights[1]).sum().item()
first = [step(x) for x in xs]
made = torch_xla._XLAC._compilations()
right = all(first == [step(x) for x in xs] for _ in range(4))
info = xm.get_memory_info()
print(json.dumps(dict(right=right, again=torch_xla._XLAC._compilations() - made, evicted=met.counter_value("EvictedPrograms") or 0,
                      arrays=arrays, used=info["bytes_used"], peak=info["peak_bytes_used"])))
"""


def alternate(**settings):
    ran = subprocess.run([sys.executable, "-c", ALTERNATE], env=dict(os.environ, MILLRACE_CACHE="off", **settings), capture_output=True,
                         text=True, timeout=120)
    return (json.loads(ran.stdout) if ran.returncode == 0 else None), ran.stderr


def test_large_programs_alternate():
    """Two that need some 8 MB each besides their arguments: under a limit for one of both, and in a program cache of one megabyte, which counts
    code and constants."""
    free, errors = alternate()
    assert free, errors
    temporaries = free["peak"] - free["arrays"]
    assert temporaries > 6 * MIB and free["used"] < free["arrays"] + MIB
    tight, errors = alternate(MILLRACE_MEMORY_LIMIT=str(free["peak"] + MIB), MILLRACE_PROGRAM_CACHE_BYTES=str(MIB))
    assert tight, errors
    assert tight["right"] and tight["again"] == 0 and tight["evicted"] == 0, tight
    none, errors = alternate(MILLRACE_MEMORY_LIMIT=str(free["peak"] - 2 * MIB))
    assert not none and "cannot allocate" in errors and "the limit is" in errors, errors


def test_meter(capsys):
    from torch_xla.debug.meter import Meter, bytes_by_purpose, count_flops
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.BatchNorm1d(128), torch.nn.ReLU(), torch.nn.Linear(128, 64)).to("xla")
    model[3].bias = model[3].bias  # shares nothing
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(32, 64, device="xla")

    def step():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        torch_xla.sync()
    flops = count_flops(step)
    assert flops == (6 - 1 + 3 - 3) * 2 * 32 * 64 * 128  # three products per layer, but for the gradient of x
    seen = bytes_by_purpose(model, optimizer)
    parameters = 4 * (64 * 128 + 128 + 128 + 128 + 128 * 64 + 64)
    assert seen["parameters"] == seen["gradients"] == parameters and 2 * parameters <= seen["optimizer"] <= 2 * parameters + 200
    assert seen["buffers"] == 4 * 128 * 2 + 8 and seen["activations"] > 0 and seen["gathers"] == 0
    meter = Meter(model, optimizer, every=2, unit="rows", flops_per_step=flops)
    lines = []
    for _ in range(4):
        step()
        lines.append(meter.step(32))
    assert [line is None for line in lines] == [True, False, True, False]
    assert capsys.readouterr().out == f"{lines[1]}\n{lines[3]}\n"
    import re
    assert re.fullmatch(r"step 4: [\d.]+ ms, \d+ rows/s, 0\.0 GFLOP per step, \d+ % of \d+ GFLOP/s; MB: parameters 0, buffers 0, gradients 0, "
                        r"optimizer 0, activations \d+", lines[3]), lines[3]
    with pytest.raises(ValueError, match="every=0"):
        Meter(model, every=0)


def test_a_peak_begins_anew():
    """What a step needed besides its parameters, gradients and state counts until the peak is reset."""
    from torch_xla.debug import meter
    net = torch.nn.Sequential(torch.nn.Linear(64, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).to("xla")
    optimizer = torch.optim.Adam(net.parameters())

    def step(rows: int) -> None:
        optimizer.zero_grad()
        net(torch.ones(rows, 64, device="xla")).square().mean().backward()
        optimizer.step()
        torch_xla.sync(wait=True)

    step(8192)
    large = meter.bytes_by_purpose(net, optimizer)
    assert large["activations"] >= 8192 * 512 * 4 and large["gathers"] == 0, large
    weights = sum(parameter.numel() * 4 for parameter in net.parameters())
    assert large["parameters"] == large["gradients"] == weights and large["optimizer"] >= 2 * weights, large
    xm.reset_peak_memory()
    step(8)
    assert meter.bytes_by_purpose(net, optimizer)["activations"] < large["activations"] / 4
