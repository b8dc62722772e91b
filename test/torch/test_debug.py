# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PT_XLA_DEBUG: why a graph was compiled and run (acceptance 000-2, 003-28, 003-29), and what the metrics say (003-30, 003-31)."""
import re

import pytest
import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.debug.metrics as met


@pytest.fixture
def report(tmp_path, monkeypatch):
    """What was written since the last call, by kind of analysis."""
    torch_xla.sync()
    path = tmp_path / "debug.txt"
    monkeypatch.setenv("PT_XLA_DEBUG_FILE", str(path))
    monkeypatch.setenv("PT_XLA_DEBUG", "1")

    def read():
        text = path.read_text() if path.exists() else ""
        path.write_text("")
        blocks = [block.split("\n") for block in text.strip().split("\n\n") if block]
        # Not what the metrics say: they are those of all tests that ran in this process.
        return [(lines[0].split(": ")[0], [line.split(": ", 1)[1] if ": " in line else line for line in lines]) for lines in blocks
                if not lines[0].startswith("pt-xla-profiler")]
    return read


def after(lines, title):
    return lines[lines.index(title) + 1].strip()


def test_formats(report):
    x = torch.rand(7, 11, device="xla")
    xm.mark_step()
    blocks = report()
    assert [kind for kind, _ in blocks] == ["Compilation Analysis", "Post Compilation Analysis", "Execution Analysis"]
    compilation, sizes, execution = (lines for _, lines in blocks)
    for lines, word in ((compilation, "Compilation"), (execution, "Execution")):
        assert lines[0] == lines[-1] == "=" * 80 and lines[-2] == "-" * 80
        assert lines[1] == f"{word} Cause" and lines[2] == "  user mark_step"
        assert lines[3].rstrip() == "Graph Info:"
        assert re.fullmatch(r"  Graph Hash: [0-9a-f]{32}", lines[4])
        assert lines[5] == "  Number of Graph Inputs: 1" and lines[6] == "  Number of Graph Outputs: 1"
        frames = lines[lines.index("Python Frame Triggered Execution:") + 1:-2]
        assert re.fullmatch(r"  mark_step \(.*/torch_xla/core/xla_model.py:\d+\)", frames[0])
        assert re.fullmatch(r"  test_formats \(.*/test_debug.py:\d+\)", frames[1])
        assert len(frames) == 9 and frames[-1] == "  .........."
    assert compilation[4] == execution[4]
    for line, what in zip(sizes[1:], ("Graph input size", "Graph output size", "Aliased Input size", "Intermediate tensor size",
                                      "Compiled program size")):
        assert re.fullmatch(what + r": \d+\.\d{6} GB", line)
    del x


def test_causes(report):
    torch.rand(3, 13, device="xla").sum().item()
    assert {after(lines, f"{kind.split()[0]} Cause") for kind, lines in report() if "Post" not in kind} == {
        "most likely user code trying to access tensor value before torch_xla.sync"}
    x = torch.rand(3, 14, device="xla")
    torch_xla.sync()
    assert after(report()[0][1], "Compilation Cause") == "user torch_xla.sync"
    import torch_xla.distributed.parallel_loader as pl
    for batch in pl.MpDeviceLoader([torch.zeros(2, 15)], torch.device("xla")):
        x = batch + 100
    causes = [after(lines, "Execution Cause") for kind, lines in report() if kind == "Execution Analysis"]
    assert causes and all(cause.endswith("in parallel loader at step end") for cause in causes)
    del x


def test_causes_of_compiled_functions_and_eager_mode(report):
    x = torch.rand(3, 29, device="xla")
    torch_xla.compile(lambda value: value + 3)(x)
    assert [after(lines, "Compilation Cause") for kind, lines in report() if kind == "Compilation Analysis"] == [
        "torch_xla.compile clear the pending graph prior calling the target function", "torch_xla.compile"]
    with torch_xla.experimental.eager_mode_context(True):
        torch.rand(3, 30, device="xla")
        torch_xla.sync()
    assert report() == []


def test_levels(report, monkeypatch):
    monkeypatch.setenv("PT_XLA_DEBUG_LEVEL", "1")
    for _ in range(2):
        x = torch.rand(3, 16, device="xla")
        torch_xla.sync()
    assert [kind for kind, _ in report()] == ["Compilation Analysis", "Post Compilation Analysis"]
    monkeypatch.setenv("PT_XLA_DEBUG_LEVEL", "2")
    monkeypatch.setenv("PT_XLA_DEBUG_MAX_FRAME", "1")
    x = torch.rand(3, 16, device="xla")
    torch_xla.sync()
    (kind, lines), = report()
    assert kind == "Execution Analysis" and lines[-3] == "  .........."
    monkeypatch.delenv("PT_XLA_DEBUG")
    monkeypatch.delenv("PT_XLA_DEBUG_LEVEL")
    x = torch.rand(3, 17, device="xla")
    torch_xla.sync()
    assert report() == []
    del x


def test_a_recompilation_names_the_first_difference(report):
    def step(rows, twice):
        x = torch.rand(rows, 18, device="xla")
        y = x.exp().sum(1)
        y = y * y if twice else y + y  # this line
        torch_xla.sync()
        return [lines for kind, lines in report() if kind == "Compilation Analysis"]

    step(4, False)
    (lines,) = step(5, False)
    title = "First Difference to the Nearest Compiled Graph: "
    assert "[5,18]" in after(lines, title) and "[4,18]" in lines[lines.index(title) + 2]
    (lines,) = step(4, True)
    number = next(i for i, line in enumerate(open(__file__), 1) if line.endswith("# this line\n"))
    assert after(lines, title).startswith("now:    aten::mul") and after(lines, title).endswith(f"({__file__}:{number})")
    assert lines[lines.index(title) + 2].startswith("  before: aten::add")
    assert step(4, True) == []


def test_a_recompilation_names_the_constant_that_differs(report):
    def compiled(function, line):
        """The lines that say what differs, of the second to last of four graphs."""
        said = []
        for n in range(3, 7):
            y = function(torch.ones(4, 18, device="xla"), n)
            torch_xla.sync()
            said.append([text for kind, lines in report() if kind == "Compilation Analysis" for text in lines if text.strip().startswith("constant ")])
            del y
        place = f"{__file__}:{line}"
        assert all(each and each[0].endswith(f" at {place}") for each in said[1:]), said
        return [each[0].strip().removesuffix(f" at {place}") for each in said[1:]]

    line = test_a_recompilation_names_the_constant_that_differs.__code__.co_firstlineno
    number = next(i for i, text in enumerate(open(__file__), 1) if i > line and text.endswith("# the power\n"))
    assert compiled(lambda x, n: x.exp() ** (n / 2), number) == [  # the power
        "constant exponent of aten::pow: 1.5 became 2.0", "constant exponent of aten::pow: 2.0 became 2.5", "constant exponent of aten::pow: 2.5 became 3.0"]
    number = next(i for i, text in enumerate(open(__file__), 1) if i > line and text.endswith("# the row\n"))
    assert compiled(lambda x, n: x.exp()[n % 4] + 1, number)[0] == "constant storage_offset of a view: 54 became 0"  # the row
    # A number that operators take as an input makes no graph; 1 is a constant unless XLA_NO_SPECIAL_SCALARS is on.
    x = torch.ones(4, 18, device="xla").exp()
    torch_xla.sync()
    report()
    said = []
    for number in (2.5, 3.5, 1.0):
        y = x * number
        torch_xla.sync()
        said.append([text.strip() for kind, lines in report() if kind == "Compilation Analysis" for text in lines if text.strip().startswith("constant ")])
    assert said[:2] == [[], []] and said[2][0].startswith("constant other of aten::mul: an input became 1.0 at "), said
    del y


def test_metrics_report():
    met.clear_all()
    assert met.metrics_report() == ""
    x = torch.rand(3, 19, device="xla")
    torch_xla.sync(wait=True)
    library = torch.library.Library("aten_like", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    assert torch.ops.aten_like.twice(x).shape == (3, 19)
    x.cpu()
    text = met.metrics_report()
    for name in ("CompileTime", "ExecuteTime", "TransferToDeviceTime", "TransferFromDeviceTime"):
        assert re.search(rf"Metric: {name}\n  TotalSamples: \d+\n  Accumulator: (\d+[dhms]+)*\d+\.\d{{3}}us\n(.*\n)*?"
                         r"  Percentiles: 1%=\S+; 5%=.*; 99%=\S+\n", text), name
    for name in ("CreateXlaTensor", "UncachedCompile", "aten_like::twice"):
        assert re.search(rf"Counter: {name}\n  Value: \d+\n", text), name
    assert "Counter: CreateXlaTensor" not in met.short_metrics_report(counter_names=["UncachedCompile"], metric_names=[])
