# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every recorded operation keeps the user's line: in messages, analyses and emitted programs."""
import inspect
import os
import subprocess
import sys
import threading
import warnings

import pytest
import torch
import torch.nn.functional as F
import torch_xla
from millrace import tool_path

place = torch_xla._XLAC._place


def here(offset=0):
    frame = inspect.currentframe().f_back
    return f"{__file__}:{frame.f_lineno + offset}"


def test_an_operation_stands_where_it_was_called():
    x = torch.ones(3, device="xla")
    y, line = x + 1, here()
    assert place(y) == line
    z = (x *
         y)
    assert place(z) == here(-2)
    y.mul_(2)
    assert place(y) == here(-1)
    torch.randn(3, device="xla")
    w = torch.full((2,), 7., device="xla") if False else torch.empty(3, device="xla").normal_()
    assert place(w) == here(-1)


def test_lines_inside_of_torch_are_not_the_users():
    model = torch.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0).to("xla")
    x = torch.rand(2, 3, 4, device="xla")
    out, line = model(x), here()
    assert place(out) == line
    total = F.smooth_l1_loss(out, x)  # a decomposition
    assert place(total) == here(-1)


class Twice(torch.nn.Module):
    def forward(self, x):
        self.line = here(1)
        return torch.tanh(x @ x)

    def squared(self, x):
        y = torch.tanh(x @ self.weight)
        return y * y


def test_backward_inherits_the_line_of_forward():
    model = Twice()
    x = torch.rand(3, 3, device="xla", requires_grad=True)
    model(x).sum().backward()
    assert place(x.grad) == model.line
    lines = set()
    weight = torch.rand(3, 3, device="xla", requires_grad=True)
    first = weight.exp()
    lines.add(here(-1))
    first.backward(torch.ones_like(first))
    assert place(weight.grad) in lines


def test_threads_have_lines_of_their_own():
    found = {}

    def work(name):
        x = torch.ones(2, device="xla")
        for _ in range(50):
            x = x + 1 if name == "add" else x * 2
        found[name] = (place(x), here(-1))
    threads = [threading.Thread(target=work, args=(name,)) for name in ("add", "mul")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(a == b for a, b in found.values()) and len(found) == 2


def test_the_message_about_the_cpu_names_the_line(capfd):
    library = torch.library.Library("test_frames", "DEF")
    library.define("triple(Tensor x) -> Tensor")
    library.impl("triple", lambda x: x * 3, "CPU")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(2):
            y = torch.ops.test_frames.triple(torch.eye(2, device="xla"))
        line = here(-1)
    assert torch.equal(y.cpu(), torch.eye(2) * 3)
    # PyTorch hands warnings to Python only from functions that it generates.
    texts = [text for text in [*(str(w.message) for w in seen), *capfd.readouterr().err.split("\n")] if "on the CPU" in text]
    assert len(texts) == 1 and f"({line})" in texts[0] and "test_frames::triple" in texts[0]


PROGRAM = """
import torch, torch_xla
x = torch.ones(4, device="xla")
y = x.exp()
y = y.sum()
torch_xla.sync()
"""


@pytest.mark.parametrize("lines", [0, 3])
def test_lines_do_not_matter_to_the_persistent_cache(tmp_path, lines):
    script = tmp_path / "program.py"
    report = "\nimport torch_xla.debug.metrics as met\nprint(met.counter_value('PersistentCacheMiss'), met.counter_value('PersistentCacheHit'))\n"
    setup = f"import torch_xla.runtime as xr\nxr.initialize_cache({str(tmp_path / 'cache')!r})\n"
    outputs = []
    for shift in (0, lines):
        script.write_text(setup + "\n" * shift + PROGRAM + report)
        outputs.append(subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout.split())
    assert outputs == [["1", "None"], ["None", "1"]]


@pytest.fixture
def compiled_places(monkeypatch):
    """The places of the results of each graph that torch.compile makes a program of."""
    extension, found = torch_xla._XLAC, []
    compile_graph = extension._graph_compile

    def compile_and_note(scope, results, *rest):
        found.append([place(result) for result in results if isinstance(result, torch.Tensor) and result.device.type == "xla"])
        return compile_graph(scope, results, *rest)
    monkeypatch.setattr(extension, "_graph_compile", compile_and_note)
    return found


def exponential_and_sum(x):
    first = x.exp()
    return first, F.gelu(first).sum()


def test_compiled_graphs_have_the_lines_of_their_operations(compiled_places):
    torch.compile(exponential_and_sum, backend="openxla")(torch.rand(3, 3, device="xla"))
    start = inspect.getsourcelines(exponential_and_sum)[1]
    assert compiled_places == [[f"{__file__}:{start + 1}", f"{__file__}:{start + 2}"]]


def test_compiled_gradients_have_the_lines_of_the_forward_pass(compiled_places):
    model = Twice().to("xla")
    model.weight = torch.nn.Parameter(torch.rand(3, 3, device="xla"))
    torch.compile(model.squared, backend="openxla")(torch.rand(3, 3, device="xla")).sum().backward()
    start = inspect.getsourcelines(Twice.squared)[1]
    assert len(compiled_places) == 2 and set(compiled_places[1]) <= {f"{__file__}:{start + 1}", f"{__file__}:{start + 2}"}


COMPILED = """
import torch, torch_xla
def step(x):
    first = x @ x
    return first.cumsum(0)
step = torch.compile(step, backend="openxla")
x = torch.ones(256, 256, device="xla")
torch_xla.sync()
for _ in range(5):
    step(x)[0, 0].item()
"""


def test_recordings_name_the_lines_of_compiled_graphs(tmp_path):
    script, recorded = tmp_path / "program.py", tmp_path / "recorded"
    script.write_text(COMPILED)
    subprocess.run([sys.executable, str(script)], check=True, timeout=120, env=dict(os.environ, MILLRACE_PROFILE=str(recorded)))
    tables = subprocess.run([tool_path("xla-prof"), str(recorded)], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "program.py:4" in tables and "program.py:5" in tables, tables
