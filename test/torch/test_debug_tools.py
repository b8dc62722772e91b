# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command lines of torch_xla.debug: capture_profile and grab_metrics."""
import io
import os
import runpy
import sys
import threading
import time
import xml.etree.ElementTree

import pytest
import torch
import torch_xla
from torch_xla.debug import capture_profile, grab_metrics, metrics_saver
from torch_xla.debug import metrics as met
from torch_xla.debug import profiler as xp

LOG = """epoch 0
[MetricsData; step=0]
Metric: CompileTime
  TotalSamples: 2
  Accumulator: 003ms
Counter: CreateDataHandles
  Value: 10
Counter: DestroyDataHandles
  Value: 4

loss 0.5
[MetricsData; step=1]
Metric: CompileTime
  TotalSamples: 3
  Accumulator: 004ms
Counter: aten::nonzero
  Value: 1
[MetricsData; step=2]
Counter: CreateDataHandles
  Value: 30
Counter: DestroyDataHandles
  Value: 29
Counter: aten::nonzero
  Value: 2
"""


@pytest.fixture
def captures(monkeypatch):
    """What xp.trace is asked for, without a server; and the pauses."""
    asked = []
    monkeypatch.setattr(xp, "trace", lambda address, folder, duration_ms: asked.append((address, folder, duration_ms)))
    monkeypatch.setattr(time, "sleep", lambda seconds: seconds and asked.append(seconds))
    return asked


def test_a_server_is_recorded(tmp_path, capsys):
    server = xp.start_server(0)
    assert capture_profile.main([f"--service_addr=localhost:{server.port}", f"--logdir={tmp_path}", "--duration_ms=0"]) == 1
    assert capsys.readouterr().err == "capture_profile: xp.trace expects duration_ms of at least 1, but got 0\n"
    assert capture_profile.main(["--service_addr=localhost", f"--logdir={tmp_path}"]) == 1
    assert "expects an address host:port, but got 'localhost'" in capsys.readouterr().err
    stop = False

    def work():
        x = torch.ones(64, 64, device="xla")
        while not stop:
            (x @ x).sum().item()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        assert capture_profile.main([f"--service_addr=localhost:{server.port}", f"--logdir={tmp_path}", "--duration_ms=300"]) == 0
    finally:
        stop = True
        worker.join()
    assert capsys.readouterr().out.endswith(f"Recorded into {tmp_path}\n")
    file, = tmp_path.rglob(f"localhost_{server.port}.xplane.pb")
    assert file.stat().st_size > 0


def test_recordings_come_one_by_one_at_intervals_and_on_request(captures, monkeypatch, capsys):
    both = ["--service_addr", "a:1,b:2", "--logdir", "logs"]
    one = ("a:1,b:2", "logs", 10000)
    assert capture_profile.main([*both, "--start_time", "0.5"]) == 0
    assert captures == [0.5, one]
    captures.clear()
    assert capture_profile.main([*both, "--automatic", "3", "60", "--duration_ms=5"]) == 0
    assert captures == [("a:1,b:2", "logs", 5), 60, ("a:1,b:2", "logs", 5), 60, ("a:1,b:2", "logs", 5)]
    for kind, typed, count in (("loop", "\n\nwhat\n\nq\n\n", 3), ("loop", "\n", 1), ("once", "\n\n\n", 1), ("once", "q\n", 0)):
        captures.clear()
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        assert capture_profile.main([*both, "--interactive", kind]) == 0
        assert captures == [one] * count, (kind, typed)
    capsys.readouterr()
    for wrong, message in ((["--automatic", "2"], "expected 2 arguments"), (["--automatic", "0", "1"], "a COUNT of at least 1"),
                           (["--interactive", "once", "--automatic", "1", "1"], "not allowed with"), (["--start_time=-1"], "at least 0 seconds, but got -1")):
        with pytest.raises(SystemExit, match="2"):
            capture_profile.main([*both, *wrong])
        assert message in capsys.readouterr().err


def test_metrics_go_on_from_report_to_report(tmp_path, capsys):
    log = tmp_path / "log"
    log.write_text(LOG)
    assert grab_metrics.main([str(log), "--synth", "Live:CreateDataHandles - DestroyDataHandles", "--metrics=aten::", "--metrics=Compile",
                              "--image_path", str(tmp_path / "pictures")]) == 0
    assert capsys.readouterr().out == "[CompileTime]\n0\t2.0\n1\t3.0\n\n[aten::nonzero]\n1\t1.0\n2\t2.0\n\n[Live]\n0\t6.0\n2\t1.0\n\n"
    assert sorted(os.listdir(tmp_path / "pictures")) == ["CompileTime.svg", "Live.svg", "aten__nonzero.svg"]
    line = xml.etree.ElementTree.parse(tmp_path / "pictures" / "Live.svg").find("{*}polyline")
    first, last = (tuple(map(float, each.split(","))) for each in line.get("points").split())
    assert first[0] < last[0] and first[1] < last[1]  # later, and less
    for wrong, message in (("CreateDataHandles", "--synth expects NAME:EXPRESSION"), ("x:Nothing + 1", "no report has Nothing"),
                           ("x:1 +", "'1 +' is no expression"), ("x:1", "names no metric"), ("x:CompileTime / 0", "has no value at report 0")):
        assert grab_metrics.main([str(log), "--synth", wrong]) == 1
        said = capsys.readouterr()
        assert message in said.err and not said.out
    assert grab_metrics.main([str(tmp_path / "none")]) == 1
    assert "No such file" in capsys.readouterr().err


def test_reports_without_a_head_end_where_a_name_comes_again():
    assert grab_metrics.parse_metrics("Counter: A\n  Value: 1\nCounter: B\n  Value: 5\nCounter: A\n  Value: 2\nCounter: B\nCounter: A\n  Value: 3".splitlines()) == {
        "A": [(0, 1), (1, 2), (2, 3)], "B": [(0, 5)]}


def test_the_reports_of_this_process_are_read_as_a_command(tmp_path, monkeypatch, capsys):
    met.clear_all()
    for step in range(3):
        (torch.ones(4, device="xla") + step).cpu()
        torch_xla.sync()
        metrics_saver.save_metrics(str(tmp_path / "metrics"))
    monkeypatch.setattr(sys, "argv", ["grab_metrics", "--metrics", "MarkStep$", str(tmp_path / "metrics")])
    monkeypatch.delitem(sys.modules, "torch_xla.debug.grab_metrics")
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("torch_xla.debug.grab_metrics", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out == "[MarkStep]\n0\t1.0\n1\t2.0\n2\t3.0\n\n"
