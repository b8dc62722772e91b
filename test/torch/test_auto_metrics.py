# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PT_XLA_DEBUG: what is said of the metrics after every step, and of operators on the CPU at the end."""
import os
import subprocess
import sys

import pytest
from torch_xla.debug import _auto_metrics

SECOND = 1e9
PROGRAM = """
import torch
import torch_xla
import torch_xla.core.xla_model as xm

for step in range(12):
    x = torch.ones(4 + step, device="xla")
    y = (x * 2).sum()
    y.item()
    del x, y
    xm.mark_step()
"""


def findings(steps, samples, counters=(), places=()):
    return _auto_metrics.findings({"MarkStep": steps, **dict(counters)}, samples, dict(places))


def times(count, seconds=0.001):
    return count, count * seconds * SECOND, [(0.0, seconds * SECOND)] * count


def test_frequent_things_are_said():
    assert findings(10, {"CompileTime": times(20)}) == []
    assert findings(11, {"CompileTime": times(5)}) == []
    assert findings(11, {"CompileTime": times(21)}, places={("compile", "train.py:7"): 20, ("compile", ""): 1}.items()) == [
        "CompileTime too frequent: 21 counts during 11 steps", "  most often at train.py:7 (20 of 21 times)"]
    assert findings(2, {"TransferFromDeviceTime": times(2)}) == ["TransferFromDeviceTime too frequent: 2 counts during 2 steps"]
    assert findings(0, {"TransferFromDeviceTime": times(2)}) == []


def test_slow_things_are_said():
    assert findings(1, {"CompileTime": times(1, 299), "ExecuteTime": times(1, 29)}) == []
    tail = ". Please open a GitHub issue with the graph dump for our team to optimize."
    assert findings(1, {"CompileTime": times(1, 301), "ExecuteTime": times(2, 31)}) == [
        "CompileTime too slow: longest instance took 05m01s000ms000.000us" + tail,
        "ExecuteTime too slow: longest instance took 31s000ms000.000us" + tail]


def test_operators_on_the_cpu_are_said():
    counters = {"aten::_ctc_loss": 2, "aten::_ctc_loss_backward": 1, "aten::_local_scalar_dense": 9, "xla::add": 4}
    places = {("aten::_ctc_loss", "model.py:3"): 2, ("aten::_ctc_loss_backward", "train.py:9"): 1, ("read", "train.py:9"): 7}
    assert findings(1, {}, counters.items(), places.items()) == [
        "Op(s) not lowered: aten::_ctc_loss, aten::_ctc_loss_backward,  Please open a GitHub issue with the above op lowering requests.",
        "  most often at model.py:3 (2 of 3 times)"]
    summary = _auto_metrics.unlowered_summary(places)
    assert "Unlowered Op usage summary (more of these ops, lower performance)" in summary
    assert summary.index("FRAME (count=2):\n  aten::_ctc_loss (model.py:3)") < summary.index("FRAME (count=1):")
    assert _auto_metrics.unlowered_summary({("read", "train.py:9"): 7}) == ""


@pytest.mark.parametrize("variables", [{"PT_XLA_DEBUG": "1"}, {"PT_XLA_DEBUG_LEVEL": "2"}, {"PT_XLA_DEBUG_LEVEL": "1"}])
def test_a_program_that_compiles_and_reads_in_every_step(tmp_path, variables):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PT_XLA_DEBUG")}
    result = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env={**environment, **variables}, capture_output=True, text=True,
                            timeout=300)
    assert result.returncode == 0, result.stderr
    lines = [line for line in result.stdout.splitlines() if line.startswith("pt-xla-profiler: ")]
    if variables == {"PT_XLA_DEBUG_LEVEL": "1"}:
        assert lines == []
        return
    frequent = [line for line in lines if "CompileTime too frequent" in line]
    assert len(frequent) == 2 and frequent[0].endswith("counts during 11 steps") and frequent[1].endswith("counts during 12 steps")
    assert lines[0] == "pt-xla-profiler: TransferFromDeviceTime too frequent: 1 counts during 1 steps"
    assert "program.py:9" in lines[1]
    place = lines[lines.index(frequent[0]) + 1]
    assert "most often at" in place and "program.py:9" in place, place
