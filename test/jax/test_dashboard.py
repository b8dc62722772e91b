# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the dashboard says of a program of JAX with a recompilation per step, a read per step and a leak: the lines of each."""
import json
import os
import subprocess
import sys

import pytest
from millrace import tool_path
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
    float(loss)  # read
"""


MOVED = """
import jax
import jax.numpy as jnp
step = jax.jit(lambda x: jnp.tanh(x @ x).sum())
x = jnp.ones((64, 64))
for n in range(3):
    step(x).block_until_ready()
"""


def test_a_program_from_the_cache_has_the_lines_of_who_runs_it(tmp_path):
    program = tmp_path / "program.py"
    line = 1 + next(n for n, text in enumerate(MOVED.splitlines()) if "jnp.tanh" in text)
    for above in (0, 7):
        program.write_text("\n" * above + MOVED)
        folder = tmp_path / f"recorded{above}"
        ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120,
                             env=dict(os.environ, MILLRACE_CACHE_DIR=str(tmp_path / "cache"), MILLRACE_PROFILE=str(folder)))
        assert ran.returncode == 0, ran.stderr
        tables = json.loads(subprocess.run([tool_path("xla-prof"), "--json", folder], capture_output=True, text=True, timeout=60, check=True).stdout)
        assert (tables["cache_hits"] > 0, tables["cache_misses"] > 0) == ((False, True) if not above else (True, False)), tables
        rows = [row for row in tables["steps"] if row["module"].startswith("jit__lambda")]
        assert rows and {row["source"] for row in rows} == {f"{program}:{line + above}"}
        numbered = [row["name"] for row in rows if row["name"].startswith(("dot_general_", "reduce_"))]
        assert numbered and all(f"_{line + above}_" in name for name in numbered), numbered


def test_planted_faults_are_named_with_their_lines(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    ran = subprocess.run([sys.executable, program], env=dict(os.environ, MILLRACE_PROFILE=str(tmp_path / "recorded")), capture_output=True, text=True,
                         timeout=120)
    assert ran.returncode == 0, ran.stderr
    lines = {mark: f"{program}:{1 + [('# ' + mark) in text for text in PROGRAM.splitlines()].index(True)}" for mark in ("compiled", "kept", "read")}
    found = {}
    for each in Recording(tmp_path / "recorded").findings:
        found.setdefault(each["kind"], each)
    assert found["recompile"]["source"] == lines["compiled"] and "jit_step is compiled or loaded 6 times" in found["recompile"]["title"]
    assert found["leak"]["source"] == lines["kept"] and "16.4 kB" in found["leak"]["title"]
    assert "argument 0 (x): tensor<" in found["recompile"]["evidence"] and "x64xf32> became tensor<" in found["recompile"]["evidence"]
    assert found["read"]["source"] == lines["read"] and found["read"]["title"].startswith("The host reads values 20 times at one line")


CONSTANTS = """
import functools
import jax
import jax.numpy as jnp


@functools.partial(jax.jit, static_argnums=1)
def scale(x, rate):
    return jnp.tanh(x @ x) * rate  # constant


x = jnp.ones((64, 64))
for n in range(5):
    x = scale(x, 0.5 + n)
for n in range(4):
    x = jax.jit(lambda x: jnp.sin(x @ x))(x)  # again
for n in range(6):
    jax.block_until_ready(jnp.cos(x))  # waits
"""


def test_what_differs_between_programs_is_named(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(CONSTANTS)
    ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120,
                         env=dict(os.environ, MILLRACE_PROFILE=str(tmp_path / "recorded"), MILLRACE_DEBUG="1"))
    assert ran.returncode == 0, ran.stderr
    lines = {mark: f"{program}:{1 + [('# ' + mark) in text for text in CONSTANTS.splitlines()].index(True)}" for mark in ("constant", "again", "waits")}
    findings = Recording(tmp_path / "recorded").findings
    scale, = (each for each in findings if each["kind"] == "recompile" and "jit_scale" in each["title"])
    assert scale["source"] == lines["constant"] and "static argument" in scale["advice"]
    assert any(f"constant {n}.5 became {n + 1}.5 ({lines['constant']})" in scale["evidence"] for n in range(4)), scale
    again, = (each for each in findings if each["kind"] == "recompile" and "jit__lambda" in each["title"])
    assert again["source"] == lines["again"] and "the same program once more" in again["evidence"] and "once, outside of the loop" in again["advice"]
    read, = (each for each in findings if each["kind"] == "read")
    assert read["source"] == lines["waits"] and read["title"].startswith("The host waits for values 6 times at one line")
    assert f"most similar: constant 3.5 became 4.5 ({lines['constant']})\n" in ran.stderr


STEPS = """
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(x):
    y = jnp.tanh(x @ x)
    return jax.pure_callback(lambda a: np.sort(np.asarray(a)), jax.ShapeDtypeStruct(y.shape, y.dtype), y) * 0.5  # python


x = jnp.ones((64, 64))
sizes = [jnp.ones(n) for n in range(20, 40)]  # each a compilation, and a result of some bytes that stays
for n in range(6):
    x = step(x)
x.block_until_ready()
"""


def test_what_programs_call_is_named_and_small_results_are_no_leak(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(STEPS)
    ran = subprocess.run([sys.executable, program], env=dict(os.environ, MILLRACE_PROFILE=str(tmp_path / "recorded")), capture_output=True, text=True,
                         timeout=120)
    assert ran.returncode == 0, ran.stderr
    line = 1 + ["# python" in text for text in STEPS.splitlines()].index(True)
    found = {}
    for each in Recording(tmp_path / "recorded").findings:
        found.setdefault(each["kind"], each)
    assert found["fallback"]["source"] == f"{program}:{line}" and "a function of Python 6 times" in found["fallback"]["title"]
    assert "leak" not in found, found["leak"]


MEMORY = """
import sys
import jax
import jax.numpy as jnp
import numpy as np

step = jax.jit(lambda x: jnp.tanh(x @ x))


def run(x):
    for n in range(6):
        x = step(x)
        print(np.asarray(x).shape)  # array
        x = step(x)
        print(memoryview(x).nbytes)  # view
        x = step(x)
        print(x.item(0))  # item


if len(sys.argv) == 1:
    run(jnp.ones((256, 256)))
else:
    with jax.profiler.trace(sys.argv[1]):
        run(jnp.ones((256, 256)))
"""


@pytest.mark.parametrize("recorder", ["MILLRACE_PROFILE", "jax.profiler"])
def test_reads_of_memory_have_their_lines(tmp_path, recorder):
    program, recorded = tmp_path / "program.py", str(tmp_path / "recorded")
    program.write_text(MEMORY)
    arguments, variables = ([], {"MILLRACE_PROFILE": recorded}) if recorder == "MILLRACE_PROFILE" else ([recorded], {})
    ran = subprocess.run([sys.executable, program, *arguments], env=dict(os.environ, **variables), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    lines = {mark: f"{program}:{1 + [('# ' + mark) in text for text in MEMORY.splitlines()].index(True)}" for mark in ("array", "view", "item")}
    titles = {each["source"]: each["title"] for each in Recording(recorded).findings if each["kind"] == "read"}
    for mark in lines:
        assert titles[lines[mark]].startswith("The host reads values 6 times at one line"), (mark, titles)
