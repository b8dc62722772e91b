# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MILLRACE_TIERED=1: quick machine code first; better code, the same bits, while steps run."""
import os
import subprocess
import sys

PROGRAM = """
import glob, os, sys, time
import torch, torch_xla

def train(steps):
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).to("xla")
    optimizer = torch.optim.Adam(model.parameters())
    x, y = torch.randn(16, 32).to("xla"), torch.randn(16, 8).to("xla")
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
    return loss.detach().cpu().numpy().tobytes() + b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())

stored = lambda: len(glob.glob(os.environ["MILLRACE_CACHE_DIR"] + "/**/*.mrc", recursive=True))
first, begin = train(5), time.time()
runs = {first}
wanted = int(sys.argv[1])
while stored() < wanted and time.time() - begin < 100: # written with better code alone
    runs.add(train(5))
runs.add(train(5))
assert len(runs) == 1
print(stored(), first.hex())
"""


def run(tiered, folder, wanted):
    process = subprocess.run([sys.executable, "-c", PROGRAM, str(wanted)], capture_output=True, text=True, timeout=300,
                             env=dict(os.environ, MILLRACE_TIERED=tiered, MILLRACE_CACHE="rw", MILLRACE_CACHE_DIR=str(folder)))
    assert process.returncode == 0, process.stderr
    stored, bits = process.stdout.split()
    return int(stored), bits


def test_training_has_the_same_bits(tmp_path):
    stored, bits = run("0", tmp_path / "plain", 0)
    assert stored > 1
    assert run("1", tmp_path / "tiered", stored) == (stored, bits)
