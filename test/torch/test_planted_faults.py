# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of their own with one fault each, recorded as a user does it, MILLRACE_PROFILE=FOLDER: the dashboard names it first, at the line that is
marked "planted".

What kernels reach of the machine is not asked: of a machine that others use, too, the dashboard would rightly say that kernels are slow."""
import dataclasses
import json
import os
import re
import subprocess
import sys

import pytest

pytest.importorskip("torch")
from millrace import tool_path  # noqa: E402
from test_processes import environment, results_of, start  # noqa: E402


@dataclasses.dataclass
class Fault:
    """A program with something wrong, and how the dashboard says it."""
    kind: str
    title: str  # a regular expression
    program: str
    evidence: str = ""  # a regular expression; {line} is that of the fault
    of_rank: tuple[dict[str, str], ...] = ()  # variables of each process, if it is a job of several; {folder} is one of this test's own
    variables: dict[str, str] = dataclasses.field(default_factory=dict)
    threads: int = 1  # that the machine must have: a kernel on the only thread is no fault


FAULTS = {
    "another shape in each step": Fault("recompile", r"6 graphs are compiled for one place", """
        for n in range(6):
            x = torch.ones(16 + n, 64, device="xla") * 0.5  # planted
            loss = torch.softmax(x @ x.T, -1).cumsum(0).sum()
            torch_xla.sync()
        """, evidence="now: "),
    "another number in each step": Fault("recompile", r"6 graphs are compiled for one place", """
        x = torch.ones(16, 64, device="xla")
        for n in range(6):
            y = torch.softmax(x, -1).cumsum(0) ** (n + 2.5)  # planted
            loss = y.sum()
            torch_xla.sync()
        """, evidence=r"pow: \d\.5 became \d\.5 at {line}"),
    "a value is read in each step": Fault("read", r"The host reads values 12 times at one line, in 12 steps", """
        x = torch.rand(640, 640).to("xla") * 1e-3
        for step in range(12):
            y = x
            for _ in range(10):
                y = y @ x
            loss = y.sum()
            torch_xla.sync()
            loss.item()  # planted
            time.sleep(0.002)  # the program's own work: without the read it would go on beside the device
        """),
    "a condition of the host": Fault("read", r"The host reads values 12 times at one line", """
        x = torch.rand(640, 640).to("xla") * 1e-3
        for step in range(12):
            y = x
            for _ in range(10):
                y = y @ x
            norm = y.abs().max()
            if norm > 1:  # planted
                x = x / norm
            time.sleep(0.002)
        """),
    "an operator on the CPU": Fault("fallback", r"aten::_aminmax runs on the CPU 8 times", """
        x = torch.rand(1000, 1000).to("xla")
        for step in range(8):
            least, most = torch._aminmax(x)  # planted
            x = (x - least) / most
        """),
    "a shard with more to do": Fault("imbalance", r"Devices wait for .*rank1.*: it has more to do", """
        rank = int(os.environ["RANK"])
        x = torch.full((768, 768), 0.001).to("xla")
        for step in range(6):
            y = x
            for _ in range(6 if rank else 1):
                y = y @ x  # planted
            total = xm.all_reduce(xm.REDUCE_SUM, y.sum())
            torch_xla.sync()
        xm.wait_device_ops()
        print(json.dumps(rank))
        """, of_rank=({}, {})),
    "a kernel on one thread": Fault("serial", r"Kernel scatter\w* runs on one thread of", """
        size = 4_000_000
        base, index, x = torch.zeros(size).to("xla"), torch.randint(0, size, (size,)).to("xla"), torch.rand(size).to("xla")
        for step in range(4):
            y = base.scatter(0, index, x)  # planted
            torch_xla.sync()
        xm.wait_device_ops()
        """, threads=2),
    "results that are kept": Fault("leak", r"Memory in use grows by 1\.0 MB with each execution", """
        kept = []
        x = torch.rand(512, 512).to("xla") * 1e-3
        for step in range(20):
            hidden = x @ x
            scaled = hidden * 0.5
            scaled = scaled + step / 20
            kept.append(scaled.sin())  # planted
            torch_xla.sync()
        xm.wait_device_ops()
        """),
    "a graph of autograd that is kept": Fault("leak", r"Memory in use grows by", """
        model = torch.nn.Linear(512, 512).to("xla")
        x, total = torch.rand(512, 512).to("xla"), 0
        for step in range(20):
            hidden = model(x) - 0.1
            likely = hidden.exp()  # planted
            loss = (likely * 0.5).mean()  # one kernel with the line above, and the kernel has this line
            total = total + loss  # not loss.detach(): keeps what the derivative needs, which exp() makes
            torch_xla.sync()
        xm.wait_device_ops()
        """),
    "the cache is off": Fault("cache", r"The cache of programs misses \d+ times: the cache is off", """
        x = torch.rand(64, 64).to("xla")
        a = x.sin().sum()
        torch_xla.sync()
        b = x.cos().mean(0)
        torch_xla.sync()
        y = x
        for layer in range(12):
            y = torch.softmax(y @ x, -1).cumsum(layer % 2) * (layer + 0.5)
        torch_xla.sync()  # planted
        """, variables={"MILLRACE_CACHE": "off"}),
    "each process has a cache of its own": Fault("cache", r"\d+ programs? (is|are) compiled in more than one process", """
        x = torch.rand(64, 64).to("xla")
        for layer in range(12):
            x = torch.softmax(x @ x, -1).cumsum(layer % 2) * (layer + 0.5)
        total = xm.all_reduce(xm.REDUCE_SUM, x.sum())
        torch_xla.sync()  # planted
        xm.wait_device_ops()
        print(json.dumps(int(os.environ["RANK"])))
        """, of_rank=({"MILLRACE_CACHE_DIR": "{folder}/cache0"}, {"MILLRACE_CACHE_DIR": "{folder}/cache1"})),
}

IMPORTS = """import json
import os
import time

import torch
import torch_xla
import torch_xla.core.xla_model as xm

"""


@pytest.mark.parametrize("name", FAULTS)
def test_the_dashboard_names_it_first(name, tmp_path):
    fault = FAULTS[name]
    if len(os.sched_getaffinity(0)) < fault.threads:
        pytest.skip("one processor: every kernel runs on one thread")
    program, recorded = tmp_path / "program.py", tmp_path / "recorded"
    program.write_text(IMPORTS + re.sub(r"^        ", "", fault.program.strip("\n"), flags=re.M))
    line = f"{program}:{1 + [('# planted' in text) for text in program.read_text().splitlines()].index(True)}"
    # A cache of its own: every program is compiled, and with the lines of this file.
    variables = {"MILLRACE_PROFILE": str(recorded), "MILLRACE_CACHE_DIR": str(tmp_path / "cache"), **fault.variables}
    if fault.of_rank:
        of_rank = [{key: value.format(folder=tmp_path) for key, value in each.items()} for each in fault.of_rank]
        assert results_of(start(name, len(of_rank), program, of_rank=of_rank.__getitem__, **variables)) == list(range(len(of_rank)))
    else:
        alone = {key: value for key, value in environment(**variables).items() if key != "OMP_NUM_THREADS"}  # with all threads of the machine
        ran = subprocess.run([sys.executable, program], env=alone, capture_output=True, text=True, timeout=120)
        assert ran.returncode == 0, ran.stderr
    said = subprocess.run([tool_path("xla-prof"), "--findings", "--roofs=false", recorded], capture_output=True, text=True, timeout=60, check=True)
    findings = json.loads(said.stdout)["findings"]
    told = "\n".join(f"{each['kind']} {each['ns'] / 1e6:.3f} ms {each['source']} {each['title']} {each['evidence']}" for each in findings)
    assert findings, "nothing is named"
    first = findings[0]
    assert (first["kind"], first["source"]) == (fault.kind, line), told
    assert re.search(fault.title, first["title"]) and re.search(fault.evidence.format(line=re.escape(line)), first["evidence"]), told
