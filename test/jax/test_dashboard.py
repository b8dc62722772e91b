# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the dashboard says of a program of JAX with a recompilation per step, a read per step and a leak: the lines of each."""
import os
import subprocess
import sys

from millrace.recordings import Recording

PROGRAM = """
import jax
import jax.numpy as jnp
import numpy as np


def step(x):
    return jnp.tanh(x @ x.T).sum()  # compiled


compiled = jax.jit(step)
for n in range(6):
    total = compiled(np.ones((32 + n, 64), np.float32))
total.block_until_ready()


def train(x):
    y = jnp.tanh(x @ x.T) * 0.1  # kept
    return y, y[0, 0]


train = jax.jit(train)
kept = [jnp.ones((64, 64))]
for n in range(20):
    y, loss = train(kept[-1])
    kept.append(y)
    float(loss)
"""


def test_planted_faults_are_named_with_their_lines(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ran = subprocess.run([sys.executable, program], env=dict(os.environ, MILLRACE_PROFILE=str(tmp_path / "recorded")), capture_output=True, text=True,
                         timeout=120)
    assert ran.returncode == 0, ran.stderr
    lines = {mark: f"{program}:{1 + [('# ' + mark) in text for text in PROGRAM.splitlines()].index(True)}" for mark in ("compiled", "kept")}
    found = {}
    for each in Recording(tmp_path / "recorded").findings:
        found.setdefault(each["kind"], each)
    assert found["recompile"]["source"] == lines["compiled"] and "jit_step is compiled or loaded 6 times" in found["recompile"]["title"]
    assert found["leak"]["source"] == lines["kept"] and "16.4 kB" in found["leak"]["title"]
    assert found["read"]["source"] == lines["kept"] and found["read"]["title"].startswith("The host reads results of jit_train 20 times")
