# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in memory: bounded by number and bytes, the least recently used go, and come back when they are needed."""
import json
import os
import subprocess
import sys

import torch
import torch_xla  # noqa: F401

PROGRAM = """
import json, torch, torch_xla
import torch_xla.debug.metrics as met
x = torch.arange(4.0).to("xla")
torch_xla.sync()
def run(size):
    y = torch.ones(size, device="xla") * 3 + x[0]
    torch_xla.sync()
    return y.sum().cpu().item() == 3 * size
def step(value):
    return value.sin() + 1
compiled = torch.compile(step, backend="openxla")
before = torch_xla._XLAC._compilations()
right = [torch.equal(compiled(x).cpu(), step(x.cpu()))]
held = []
for size in (2, 3, 4, 5, 2):
    right.append(run(size))
    held.append(torch_xla._XLAC._xla_get_num_cached_compilation_graph())
made = torch_xla._XLAC._compilations() - before
evicted = met.counter_value("EvictedPrograms") or 0
right.append(torch.equal(compiled(x).cpu(), step(x.cpu())))
print(json.dumps(dict(right=right, held=held, made=made, evicted=evicted, again=torch_xla._XLAC._compilations() - before - made)))
"""


def run(**settings):
    environment = dict(os.environ, MILLRACE_CACHE="off", **settings)
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert all(made["right"]), made
    return made


def test_the_least_recently_used_go():
    free = run()
    assert free["evicted"] == 0 and free["again"] == 0 and max(free["held"]) > 4
    few = run(XLA_COMPILATION_CACHE_SIZE="4")
    assert max(few["held"]) == 4 and few["evicted"] and few["made"] > free["made"]
    assert few["again"] == 1  # the compiled function's: its text was kept
    one = run(MILLRACE_PROGRAM_CACHE_BYTES="1")
    assert set(one["held"]) == {1} and one["evicted"] == one["made"] - 1


CLEARING = """
import os, sys, torch, torch_xla
import torch_xla.runtime as xr
xr.initialize_cache(sys.argv[1])
x = torch.arange(4.0).to("xla")
compiled = torch.compile(lambda x: x + 2, backend="openxla")
files = lambda: sum(len(names) for _, _, names in os.walk(sys.argv[1]))
assert compiled(x).cpu()[3] == 5 and xr.get_num_cached_compilation_graph() > 0 and files() > 0
xr.clear_computation_cache()
assert xr.get_num_cached_compilation_graph() == 0 and files() == 0, files()
assert compiled(x).cpu()[3] == 5 and xr.get_num_cached_compilation_graph() == 1
"""


def test_clearing(tmp_path):
    subprocess.run([sys.executable, "-c", CLEARING, str(tmp_path / "cache")], check=True, timeout=120)


def test_programs_share_mappings():
    """A process may have some 65000 mappings of memory: kernels must not need some each."""
    def mappings():
        with open("/proc/self/maps") as file:
            return sum(1 for _ in file)

    before = mappings()
    for rows in range(10):
        x = torch.rand(31 + rows, 17, device="xla")
        for _ in range(12):
            x = (x @ torch.rand(17, 17, device="xla")).softmax(-1).cumsum(0)
        x.cpu()
    assert mappings() - before < 200  # 515 with two for each kernel
