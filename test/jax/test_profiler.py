# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""jax.profiler with our planes in it, read by jax.profiler.ProfileData; and MILLRACE_PROFILE with a program of JAX."""
import glob
import json
import os
import re
import signal
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from millrace_jax import versions

DEVICE = "/device:CUSTOM:Millrace CPU:"
takes_profiler = pytest.mark.skipif(not versions.takes_profiler(jax.lib.__version__), reason="this jaxlib's profiler takes another table")


def planes_of(folder):
    """{name of plane: {name of line: [event]}} of the only recording in a folder."""
    path, = glob.glob(os.path.join(folder, "plugins/profile/*/*.xplane.pb"))
    planes = {}
    for plane in jax.profiler.ProfileData.from_file(path).planes:
        for line in plane.lines:
            planes.setdefault(plane.name, {}).setdefault(line.name, []).extend(line.events)
    return planes


@takes_profiler
def test_trace_has_kernels_with_the_users_lines(tmp_path):
    @jax.jit
    def step(x):
        return jnp.tanh(x @ x).sum()  # its line is looked for below
    line = step.__wrapped__.__code__.co_firstlineno + 2
    x = jnp.ones((64, 64))
    step(x).block_until_ready()
    with jax.profiler.trace(tmp_path):
        for _ in range(3):
            step(x).block_until_ready()
    planes = planes_of(tmp_path)
    assert "/host:CPU" in planes
    lines = planes[DEVICE + "0"]
    modules, ops = lines["XLA Modules"], lines["XLA Ops"]
    modules = [event for event in modules if dict(event.stats)["hlo_module"] == "jit_step"]
    assert len(modules) == 3
    runs = [dict(event.stats)["run_id"] for event in modules]
    assert len(set(runs)) == 3
    ours = [event for event in ops if dict(event.stats)["hlo_module"] == "jit_step"]
    assert {dict(event.stats)["run_id"] for event in ours} == set(runs)
    assert all(dict(event.stats)["source"] == f"{__file__}:{line}" for event in ours)
    for run, module in zip(runs, modules):
        inside = [event for event in ours if dict(event.stats)["run_id"] == run]
        assert 0 < sum(event.duration_ns for event in inside) <= module.duration_ns + 1
        assert all(module.start_ns <= event.start_ns <= module.start_ns + module.duration_ns for event in inside)
    launches = [dict(event.stats) for events in planes["/host:CPU"].values() for event in events if event.name == "ExecuteComputation"]
    assert {stats["run_id"] for stats in launches} >= set(runs)
    assert any(dict(event.stats)["bytes in use"] > 0 for event in lines["_counters_"])


@takes_profiler
def test_sessions_follow_each_other_and_see_all_devices(tmp_path):
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    spread = jax.device_put(jnp.arange(64.0), jax.NamedSharding(mesh, jax.P("x")))

    @jax.jit
    def total(x):
        return x.sum()
    total(spread).block_until_ready()
    for turn in range(2):
        folder = tmp_path / str(turn)
        jax.profiler.start_trace(folder)
        total(spread).block_until_ready()
        jax.profiler.stop_trace()
        planes = planes_of(folder)
        for device in range(8):
            module, = planes[DEVICE + str(device)]["XLA Modules"]
            collective, = (event for event in planes[DEVICE + str(device)]["XLA Ops"] if event.name.startswith("all_reduce"))
            assert 0 <= dict(collective.stats)["wait_ns"] <= collective.duration_ns + 1000 and module.name.startswith("jit_total(")


def test_jaxlibs_that_were_not_tried_get_no_profiler():
    assert versions.takes_profiler("0.8.0") and versions.takes_profiler("0.10.2")
    assert not versions.takes_profiler("0.7.2") and not versions.takes_profiler("0.11.0")


def test_environment_records_a_program_as_it_is(tmp_path):
    code = """
import jax, jax.numpy as jnp
x = jnp.ones((32, 32))
for number in range(2):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        with jax.profiler.TraceAnnotation("part"):
            jax.jit(lambda x: jnp.sin(x) @ x)(x).block_until_ready()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                         env=dict(os.environ, MILLRACE_PROFILE=str(tmp_path / "recorded"), MILLRACE_CACHE="off"))
    assert ran.returncode == 0, ran.stderr
    space, trace = sorted(os.listdir(tmp_path / "recorded"), key=lambda name: name.endswith(".json"))
    assert space.startswith("rank0.") and space.endswith(".xplane.pb") and trace == space.replace(".xplane.pb", ".trace.json")
    events = json.loads((tmp_path / "recorded" / trace).read_text())["traceEvents"]
    names = {event["name"] for event in events}
    assert {"Compile", "compile kernel", "cache miss", "ExecuteComputation"} <= names
    steps, parts = ([event for event in events if event["name"] == name] for name in ("train", "part"))
    assert [event["args"]["step_num"] for event in steps] == [0, 1]
    assert all(step["ts"] <= part["ts"] and part["ts"] + part["dur"] <= step["ts"] + step["dur"] for step, part in zip(steps, parts, strict=True))
    planes = {plane.name for plane in jax.profiler.ProfileData.from_file(str(tmp_path / "recorded" / space)).planes}
    assert planes == {DEVICE + str(device) for device in range(len(jax.devices())) if device == 0} | {
        "/host:CPU", "/host:metadata", "/millrace:programs", "Task Environment"}


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_program_that_a_signal_ends_writes_what_it_recorded(tmp_path, name):
    code = f"""
import os, signal, time
import jax, jax.numpy as jnp
x = jnp.ones((16, 16))
step = jax.jit(lambda x: jnp.sin(x) @ x)
for number in range(3):
    step(x).block_until_ready()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background of a shell has it ignored
os.kill(os.getpid(), signal.{name})
time.sleep(60)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=dict(os.environ, MILLRACE_PROFILE=str(tmp_path / "recorded")))
    assert ran.returncode == -getattr(signal, name) and ("KeyboardInterrupt" in ran.stderr) == (name == "SIGINT"), ran.stderr
    trace, = (tmp_path / "recorded").glob("*.trace.json")
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(event["name"] == "ExecuteComputation" for event in events) >= 3


@pytest.mark.parametrize("ending, status", [("raise ValueError('this ends it')", 1), ("sys.exit(3)", 3)])
def test_a_program_that_fails_or_exits_writes_what_it_recorded(tmp_path, ending, status):
    code = f"""
import sys
import jax, jax.numpy as jnp
x = jnp.ones((16, 16))
step = jax.jit(lambda x: jnp.sin(x) @ x)
for number in range(3):
    y = step(x)
{ending}
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=dict(os.environ, MILLRACE_PROFILE=str(tmp_path / "recorded")))
    assert ran.returncode == status, ran.stderr
    trace, = (tmp_path / "recorded").glob("*.trace.json")
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(event["name"] == "ExecuteComputation" for event in events) >= 3
    assert len(list((tmp_path / "recorded").glob("*.xplane.pb"))) == 1


def test_who_waits_for_a_recording_is_told(tmp_path):
    # The first file is a pipe, which takes nothing until somebody reads it.
    code = """
import os
import jax, jax.numpy as jnp
jax.jit(lambda x: jnp.sin(x) @ x)(jnp.ones((16, 16))).block_until_ready()
os.mkfifo(os.path.join(os.environ["MILLRACE_PROFILE"], f"rank0.{os.getpid()}.xplane.pb"))
"""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, MILLRACE_PROFILE=str(tmp_path), MILLRACE_PROGRESS="1")) as program:
        told = ""
        for told in program.stderr:
            if "MILLRACE_PROFILE" in told:
                break
        assert re.fullmatch(r"\d+ s: MILLRACE_PROFILE: writing " + re.escape(str(tmp_path)) + rf"/rank0\.{program.pid}: \d+ records\n", told), told
        assert (tmp_path / f"rank0.{program.pid}.xplane.pb").read_bytes()
        program.stderr.read()
    assert program.returncode == 0
    assert (tmp_path / f"rank0.{program.pid}.trace.json").exists()
