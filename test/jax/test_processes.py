# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX in several processes that share their devices: what one process computes with as many devices, to the last bit, and what all say when
something happens to one of them."""
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

import pytest

PROGRAMS = pathlib.Path(__file__).with_name("process_programs.py")
LINE = r"process_programs\.py:\d+"
JOBS = [(2, 2), (4, 1)]  # processes, devices of each


def free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def start(name, processes, devices, argument=None, **environment):
    """Starts a job; its processes."""
    address = f"localhost:{free_port()}"
    environment = dict(os.environ, JAX_NUM_CPU_DEVICES=str(devices), **environment)
    return [subprocess.Popen([sys.executable, PROGRAMS, name, address, str(processes), str(rank), *([argument] if argument else [])],
                             env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(processes)]


def run(name, processes, devices, argument=None, **environment):
    """What each process of a job returns."""
    results = []
    job = start(name, processes, devices, argument, **environment)
    try:
        for process in job:
            output, errors = process.communicate(timeout=120)
            assert process.returncode == 0, errors[-3000:]
            results.append(json.loads(output.splitlines()[-1]))
    finally:
        for process in job:
            process.kill()
    return results


@functools.lru_cache
def alone(name, devices, argument=None):
    return run(name, 1, devices, argument)[0]


def merged(parts):
    """The parts of all processes; those that several have are equal."""
    whole = {}
    for part in parts:
        for place, value in part.items():
            assert whole.setdefault(place, value) == value
    return whole


@pytest.mark.parametrize("block", [0, pytest.param(1, marks=pytest.mark.skipif(not shutil.which("mpicc"), reason="needs Open MPI (scripts/setup)"))])
def test_guide(block, tmp_path):
    """docs/guide/processes.md: the program that it shows, started as it says."""
    guide = (PROGRAMS.parents[2] / "docs" / "guide" / "processes.md").read_text()
    code, = re.findall(r"```python\n(.*?)```", guide, re.S)
    commands = re.findall(r"```sh\n(.*?)```", guide, re.S)
    assert len(commands) == 2
    (tmp_path / "sum.py").write_text(code.replace("12345", str(free_port())))
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # else the two write between each other's words
    buffered.update(JAX_NUM_CPU_DEVICES="2", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    ran = subprocess.run(["bash", "-ec", re.sub(r"\bpython ", f"{sys.executable} ", commands[block])], cwd=tmp_path, env=buffered, text=True,
                         capture_output=True, timeout=120)
    expected = re.findall(r"^# (.*)$", commands[block], re.M)
    assert sorted(ran.stdout.splitlines()) == expected and len(expected) == 2, ran.stderr


@pytest.mark.parametrize("processes, devices", JOBS)
def test_programs_for_other_processes(processes, devices):
    expected, parts = alone("of_others", 4), run("of_others", processes, devices)
    assert [part["later"] for part in parts] == [28.0] * processes and [part["shape"] for part in parts] == [[8]] * processes
    for k in range(3):
        assert merged([part["parts"][k] for part in parts]) == expected["parts"][k]
    assert parts[0]["parts"] == [{}] * 3, "the first process has none of the devices"


def test_benchmark():
    ran = subprocess.run([sys.executable, "-m", "benchmarks.processes", "--peers=millrace", "--largest=4096"], cwd=PROGRAMS.parents[2], text=True,
                         capture_output=True, timeout=120)
    rows = re.findall(r"^\| (\w+) 4 KB \| (\d+) \|$", ran.stdout, re.M)
    assert [name for name, _ in rows] == ["all_reduce", "all_gather", "reduce_scatter", "all_to_all"], ran.stderr
    assert all(int(time) > 0 for _, time in rows)


def test_who_never_launches_is_named_at_the_timeout():
    job = start("only_the_first", 2, 1, MILLRACE_COLLECTIVE_TIMEOUT="2")
    said = json.loads(job[0].communicate(timeout=60)[0])
    assert re.search(rf"{LINE}:\d+: all_reduce: nothing has progressed for 2 s: all_reduce \(sum\) of f32\[\S*\] at \S+ on device 0 waits for device 1 of process 1 "
                     rf"\(pid {job[1].pid} on host \S+\), which has not arrived", said["text"]), said["text"]
    job[1].kill()
    job[1].communicate()


@pytest.mark.parametrize("processes, devices", JOBS)
def test_topology(processes, devices):
    count = processes * devices
    for rank, seen in enumerate(run("topology", processes, devices)):
        assert seen == {"ids": list(range(count)), "own": list(range(rank * devices, (rank + 1) * devices)),
                        "of": [i // devices for i in range(count)], "local ids": list(range(devices)), "process": [rank, processes],
                        "slices": [0] * count}


def test_hosts_are_slices():
    """Processes of different hosts, as far as they can tell."""
    job = []
    address = f"localhost:{free_port()}"
    for rank in range(2):
        environment = dict(os.environ, JAX_NUM_CPU_DEVICES="2", MILLRACE_HOST_ID=f"host {rank}")
        job.append(subprocess.Popen([sys.executable, PROGRAMS, "topology", address, "2", str(rank)], env=environment, text=True,
                                    stdout=subprocess.PIPE))
    for process in job:
        assert json.loads(process.communicate(timeout=120)[0])["slices"] == [0, 0, 1, 1]


@pytest.mark.parametrize("transport", ["auto", "tcp"])
@pytest.mark.parametrize("processes, devices", JOBS)
def test_bits_of_collectives(processes, devices, transport):
    results = run("collectives", processes, devices, MILLRACE_TRANSPORT=transport)
    expected = alone("collectives", 4)
    for name in expected:
        assert merged([each[name] for each in results]) == expected[name], name


def test_who_has_done_its_part_may_leave():
    """A process that has launched a program, and of which the others need nothing more, is no reason not to launch it."""
    assert run("leave_early", 4, 1) == [[3], [3], [3], [3]]


@pytest.mark.parametrize("spec", ["data", "tensor", "both"])
@pytest.mark.parametrize("processes, devices", JOBS)
def test_bits_of_training(processes, devices, spec):
    results, expected = run("training", processes, devices, spec), alone("training", 4, spec)
    for each in results:
        assert each["losses"] == expected["losses"]
    for number, weight in enumerate(expected["weights"]):
        assert merged([each["weights"][number] for each in results]) == weight


@pytest.mark.parametrize("processes, devices", JOBS)
def test_helpers_of_jax(processes, devices):
    count = processes * devices
    results = run("helpers", processes, devices)
    for seen in results:
        assert seen["gathered"] == [10 * rank for rank in range(processes)]
        assert seen["from first"] == [7]
        assert seen["sum"] == seen["sum of parts"] == 2 * devices * sum(range(processes))
        assert seen["unequal"] and seen["whole"] == [count, 2]
    assert len(merged([each["random"] for each in results])) == count


def test_programs_of_one_process():
    for seen in run("local_programs", 2, 2):
        assert (seen["alone"], seen["here"]) == (6, 28)


def test_checkpoint(tmp_path):
    pytest.importorskip("orbax.checkpoint")
    results, expected = run("checkpoint", 2, 2, str(tmp_path / "a")), alone("checkpoint", 4, str(tmp_path / "b"))
    assert [each["step"] for each in results] == [3, 3]
    assert merged([each["w"] for each in results]) == expected["w"]


def test_secrets():
    """Of the job, which all have to have: who has another one is named by both sides, at once."""
    assert [devices for devices, _ in run("joins", 2, 1, SECRETS="0123456789abcdef 0123456789abcdef")] == [2, 2]
    job = start("joins", 2, 1, SECRETS="0123456789abcdef fedcba9876543210")
    for rank, process in enumerate(job):
        said, seconds = json.loads(process.communicate(timeout=60)[0])
        assert f"process {1 - rank} (pid {job[1 - rank].pid} on host " in said and "has another MILLRACE_SECRET than this process" in said and seconds < 5, said


def test_checkpoints_of_other_processes(tmp_path):
    """orbax: four processes save, two go on, and one does."""
    pytest.importorskip("orbax.checkpoint")
    assert run("saves_states", 4, 1, str(tmp_path / "all")) == [[2, 3]] * 4
    for processes, devices in ((2, 1), (1, 1)):
        assert run("restores_state", processes, devices, str(tmp_path / "all")) == [{"step": 3, "differ": [], "sum": True}] * processes


@pytest.mark.parametrize("size", [4, 16 << 20], ids=["small", "64MB"])
@pytest.mark.parametrize("how, message", [
    ("SIGKILL", r"process 2 \(pid {pid} on host \S+\) has (ended|closed its connection) without a word: it was killed, crashed or left by exit"),
    ("exit", r"process 2 \(pid {pid} on host \S+\) has (ended|closed its connection) without a word"),
    ("SIGSTOP", r"process 2 \(pid {pid} on host \S+\) is stopped \(SIGSTOP"),
    ("fish", r"process 2 \(pid {pid} on host \S+\) was ended by an error: .*Fish: the rate is a fish"),
])
def test_what_happens_to_one_is_said_by_all(how, message, size):
    job = start("fail_with", 3, 1, f"{how} {size}")
    try:
        for process in job[:2]:
            said = json.loads(process.communicate(timeout=60)[0])
            assert re.search(message.format(pid=job[2].pid), said["text"]), said["text"]
            is_launch = "'jit__lambda' cannot be launched" in said["text"]  # the process was lost before
            assert is_launch or re.search(LINE, said["text"]) and "all_reduce" in said["text"], said["text"]
            assert said["seconds"] < 5
    finally:
        for process in job:
            process.send_signal(signal.SIGKILL)
            process.wait()


@pytest.mark.skipif(not os.environ.get("MILLRACE_LONG"), reason="takes long: MILLRACE_LONG=1")
def test_the_end_waits_for_nobody_who_is_lost():
    """JAX's own service would wait 300 s."""
    job = start("nobody_catches", 3, 1)
    job[2].wait(timeout=60)
    began = time.time()
    for process in job[:2]:
        said = process.communicate(timeout=60)[1]
        assert process.returncode == 1 and re.search(rf"process 2 \(pid {job[2].pid} on host \S+\) has (ended|closed its connection)", said), said[-3000:]
        assert "millrace: JAX has waited 5 s for all processes to end" in said, said[-3000:]
    assert time.time() - began < 15


def test_who_has_ended_in_order_is_not_waited_for():
    job = start("ends_in_order", 2, 1)
    said, last = (process.communicate(timeout=60) for process in job)
    said = json.loads(said[0].splitlines()[-1])
    assert re.search(rf"process 1 \(pid {job[1].pid} on host \S+\) has left", said["text"]) and said["seconds"] < 5, said
    assert [process.returncode for process in job] == [0, 0], last


@pytest.mark.parametrize("how, message", [
    ("other", r"the processes launch different programs: process 0 \(pid"),
    ("constant", r"process 0 \(pid .*\) launches 'jit__lambda', but process 1 \(pid .*\) launches it with another launch id, which identifies the program"),
])
def test_another_program_is_named(how, message):
    for process in start("fail_with", 2, 1, how):
        said = json.loads(process.communicate(timeout=60)[0])
        assert re.search(message, said["text"]), said["text"]
        assert said["seconds"] < 5
