# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with one thing wrong in each, and what the dashboard says of them: the kind, and the line that is marked "planted"."""
import gc
import inspect
import json
import os
import re
import subprocess
import sys

import pytest
import torch
import torch_xla
import torch_xla.debug.metrics as met
import torch_xla.debug.profiler as xp
from millrace import tool_path
from millrace.recordings import Recording
from test_processes import environment


def findings_of(folder, run):
    """What the dashboard says of a recording of run(), by kind, the most valuable first; and "file:line" of what is planted in it."""
    torch_xla.sync()
    xp.start_trace(str(folder))
    try:
        run()
    finally:
        xp.stop_trace()
    lines, first = inspect.getsourcelines(run)
    planted, = (first + k for k, text in enumerate(lines) if "# planted" in text)
    found = {}
    for each in met.dashboard().findings:
        found.setdefault(each["kind"], each)
    return found, f"{__file__}:{planted}"


def test_a_recompilation_per_step(tmp_path):
    def run():
        for n in range(5):
            x = torch.ones(8 + n, 4, device="xla") * 3  # planted
            x.sum()
            torch_xla.sync()
    found, line = findings_of(tmp_path, run)
    assert found["recompile"]["source"] == line
    assert found["recompile"]["title"].startswith("5 graphs are compiled")
    assert found["recompile"]["ns"] > 0 and "now:" in found["recompile"]["evidence"]
    # What the program's own code takes is as long as the machine is busy, and longer than compiling where the cache has the programs.
    assert next(kind for kind in found if kind != "host") == "recompile", "of what has a line, it is what costs most"


def test_a_recompilation_for_another_constant(tmp_path):
    def run():
        for n in range(5):
            x = torch.ones(8, 4, device="xla") * 3
            y = x.sum(0) ** (n + 2.5)  # planted
            torch_xla.sync()
        return y
    found, line = findings_of(tmp_path, run)
    assert found["recompile"]["source"] == line
    assert re.search(rf"pow: \d\.5 became \d\.5 at {re.escape(line)}", found["recompile"]["evidence"]), found["recompile"]
    assert "torch.tensor(value, device='xla')" in found["recompile"]["advice"]


def test_a_read_of_the_host_per_step(tmp_path):
    x = torch.ones(64, 64, device="xla")
    (x * 2).sum().item()

    def run():
        for _ in range(6):
            loss = (x * 2).sum()
            loss.item()  # planted
    found, line = findings_of(tmp_path, run)
    assert found["read"]["source"] == line
    assert found["read"]["title"].startswith("The host reads values 6 times at one line"), found["read"]["title"]
    assert "recompile" not in found


def test_one_read_at_the_end_is_nothing_to_change(tmp_path):
    x = torch.ones(64, 64, device="xla")
    (x * 2).sum().item()

    def run():
        for _ in range(6):
            y = (x * 2).sum()
            torch_xla.sync()
        y.item()  # planted
    found, _ = findings_of(tmp_path, run)
    assert not set(found) & {"read", "recompile", "fallback", "imbalance", "leak", "cache"}, found


def test_an_operator_on_the_cpu(tmp_path):
    x = torch.ones(2, dtype=torch.int32, device="xla")

    def run():
        for _ in range(3):
            torch.ops.aten._test_optional_intlist(x, [3, 4])  # planted
    found, line = findings_of(tmp_path, run)
    assert found["fallback"]["source"] == line
    assert found["fallback"]["title"].startswith("aten::_test_optional_intlist runs on the CPU 3 times")


def test_a_leak(tmp_path):
    gc.collect()  # what earlier tests have left is freed before, not during, the recording
    kept = []
    x = torch.ones(512, 512, device="xla")  # large beside what else the process holds

    def run():
        for _ in range(12):
            kept.append(x @ x)  # planted
            torch_xla.sync()
    found, line = findings_of(tmp_path, run)
    assert found["leak"]["source"] == line
    assert found["leak"]["cost"].endswith("MB") and "1.0 MB with each execution" in found["leak"]["title"], found["leak"]["title"]


def test_the_dashboard_is_a_page_and_a_text(tmp_path):
    x = torch.ones(16, device="xla")

    def run():
        for _ in range(4):
            (x + 1).sum().item()  # planted
    _, line = findings_of(tmp_path, run)
    dashboard = met.dashboard()
    assert line in str(dashboard) and str(dashboard).startswith("1. ")
    assert dashboard._repr_html_().startswith("<iframe srcdoc=") and "What to change" in dashboard._repr_html_()
    dashboard.save(tmp_path / "page.html")
    assert line in (tmp_path / "page.html").read_text()
    with pytest.raises(FileNotFoundError, match="no recording at"):
        met.dashboard(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuntimeError, match="has no recording"):
        met.dashboard(tmp_path / "empty").views()


CACHE = """
import torch, torch_xla
for n in range(4):
    y = torch.ones(4 + n, 8, device="xla").cumsum(0)
    torch_xla.sync()  # planted
"""


def line_of(file):
    return f"{file}:{1 + [('# planted' in text) for text in file.read_text().splitlines()].index(True)}"


def test_a_cache_that_misses(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CACHE)
    ran = subprocess.run([sys.executable, program], env=environment(MILLRACE_CACHE="off", MILLRACE_PROFILE=str(tmp_path / "recorded")),
                         capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    recording = Recording(tmp_path / "recorded")
    assert os.path.basename(recording.path) == "recorded"
    found = {each["kind"]: each for each in recording.findings}
    assert "the cache is off" in found["cache"]["title"] and found["cache"]["source"] == line_of(program)


MOVED = """
import torch, torch_xla
import torch_xla.debug.metrics as met
x = torch.ones(64, 64, device="xla")
torch_xla.sync()
for n in range(5):
    y = (x * 2).sum()
    y.item()  # planted
print("hits", met.counter_value("PersistentCacheHit"))
"""


def test_a_program_from_the_cache_has_the_lines_of_who_runs_it(tmp_path):
    program = tmp_path / "program.py"
    outputs, seen = [], []
    for above in (0, 7):
        program.write_text("\n" * above + MOVED)
        folder = tmp_path / f"recorded{above}"
        ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120,
                             env=environment(MILLRACE_CACHE_DIR=str(tmp_path / "cache"), MILLRACE_PROFILE=str(folder)))
        assert ran.returncode == 0, ran.stderr
        outputs.append(ran.stdout)
        tables = subprocess.run([tool_path("xla-prof"), "--json", folder], capture_output=True, text=True, timeout=60, check=True)
        seen.append({row["source"] for row in json.loads(tables.stdout)["steps"] if "reduce" in row["name"]})
    line = next(n for n, text in enumerate(MOVED.splitlines(), 1) if ".sum()" in text)
    assert seen == [{f"{program}:{line}"}, {f"{program}:{line + 7}"}]
    assert "hits None" in outputs[0] and "hits None" not in outputs[1], outputs


def test_a_serial_kernel(tmp_path):
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one processor: every kernel runs on one thread")
    # A tenth of a second per call on an idle machine: far more than a thread is kept waiting for a processor, in the kernel or in a step beside it.
    size = 4_000_000
    base, index, x = torch.zeros(size).to("xla"), torch.randint(0, size, (size,)).to("xla"), torch.rand(size).to("xla")
    base.scatter(0, index, x).sum().item()

    def run():
        for _ in range(4):
            y = base.scatter(0, index, x)  # planted
            torch_xla.sync()
        return y
    found, line = findings_of(tmp_path, run)
    assert found["serial"]["source"] == line, found
    assert "runs on one thread of" in found["serial"]["title"]


def test_a_function_of_a_library_on_one_thread(tmp_path):
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("one processor: everything runs on one thread")
    x = torch.randn(40, 40).to("xla")  # too small for the library's own threads
    torch.linalg.eigvals(x).real.sum().item()

    def run():
        for _ in range(8):
            y = torch.linalg.eigvals(x)  # planted
            torch_xla.sync()
        return y
    found, line = findings_of(tmp_path, run)
    assert found["serial"]["source"] == line and "custom_call lapack" in found["serial"]["title"], found
