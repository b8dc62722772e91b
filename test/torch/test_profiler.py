# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recordings of torch_xla.debug.profiler, and MILLRACE_PROFILE with a program of PyTorch, read as files."""
import gzip
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

import pytest
import torch
import torch_xla
import torch_xla.debug.profiler as xp
from paths import ROOT
from test_processes import environment, free_port

from benchmarks import tools

sys.path.insert(0, os.path.join(ROOT, "test", "harness"))
from profile_files import events_of_chrome_trace  # noqa: E402

DEVICE = "/device:CUSTOM:Millrace CPU:0"


def recorded(folder):
    """The slices of the only recording in a folder, and its files' names."""
    run, = os.listdir(os.path.join(folder, "plugins", "profile"))
    assert re.fullmatch(r"\d{4}(_\d\d){5}", run)
    where = os.path.join(folder, "plugins", "profile", run)
    trace, = (name for name in os.listdir(where) if name.endswith(".trace.json.gz"))
    with gzip.open(os.path.join(where, trace), "rt") as file:
        return events_of_chrome_trace(file.read()), sorted(os.listdir(where))


def inside(event, outer):
    return outer["ts"] <= event["ts"] and event["ts"] + event["dur"] <= outer["ts"] + outer["dur"] + 1e-3


def test_steps_have_their_barriers_kernels_and_lines(tmp_path):
    weights = torch.ones(32, 32, device="xla", requires_grad=True)
    torch_xla.sync()
    xp.start_trace(str(tmp_path))
    try:
        for i in range(3):
            with xp.StepTrace("train_mnist", step_num=i):
                with xp.Trace("build_graph", batch="first"):
                    loss = (torch.ones(8, 32).to("xla") @ weights).sum()
                    here = sys._getframe().f_lineno - 1
        assert loss.item() == 8 * 32 * 32
    finally:
        xp.stop_trace()
    xp.set_tracer_marked_step(False)
    found, files = recorded(tmp_path)
    host = socket.gethostname()
    assert files == [f"{host}.trace.json.gz", f"{host}.xplane.pb"]
    main = found["/host:CPU", "main"]
    of = lambda name: [event for event in main if event["name"] == name]
    steps, graphs, markers = of("train_mnist"), of("build_graph"), of("StepMarker")
    assert [step["args"]["step_num"] for step in steps] == [0, 1, 2]
    assert all(graph["args"]["batch"] == "first" and inside(graph, step) for graph, step in zip(graphs, steps, strict=True))
    assert all(inside(marker, step) and not inside(marker, graph) for marker, graph, step in zip(markers, graphs, steps, strict=True))
    for name in ("TransferToDevice", "TransferFromDevice", "ExecuteComputation"):
        assert of("PjRtComputationClient::" + name), name
    launches = of("PjRtComputationClient::ExecuteComputation")
    assert sum(any(inside(launch, step) for step in steps) for launch in launches) == 3
    assert len(of("SyncTensorsGraph")) >= 3
    modules, ops = found[DEVICE, "XLA Modules"], found[DEVICE, "XLA Ops"]
    assert len(modules) >= 3
    assert any(event["args"].get("source") == f"{__file__}:{here}" for event in ops), {event["args"].get("source") for event in ops}


def test_one_recording_at_a_time(tmp_path):
    with pytest.raises(RuntimeError, match="^No profile started$"):
        xp.stop_trace()
    xp.start_trace(tmp_path)
    with pytest.raises(RuntimeError, match="Profile has already been started. Only one profile may be run at a time."):
        xp.start_trace(tmp_path)
    with pytest.warns(UserWarning, match="nothing was recorded: no program of Millrace was compiled or run"):
        xp.stop_trace()
    with pytest.raises(RuntimeError, match="No profile started"):
        xp.stop_trace()


def test_a_recording_that_the_program_does_not_end_is_written(tmp_path):
    program = ("import torch, torch_xla, torch_xla.debug.profiler as xp\nx = torch.ones(8, 8, device='xla')\n"
               f"xp.start_trace({str(tmp_path)!r})\n(x @ x).tolist()\nraise ValueError('of the program')")
    ran = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1 and "ValueError: of the program" in ran.stderr
    assert f"xp.stop_trace: the program ends without it; what was recorded is in {tmp_path}/plugins/profile/" in ran.stderr
    found, files = recorded(tmp_path)
    assert found[DEVICE, "XLA Ops"] and [re.sub(r"^.*?\.", "", name) for name in files] == ["trace.json.gz", "xplane.pb"]


def test_a_forked_process_leaves_the_recording_to_the_one_that_it_comes_from(tmp_path):
    program = f"""
import os, sys, torch, torch_xla, torch_xla.debug.profiler as xp
x = torch.ones(8, 8, device="xla")
xp.start_trace({str(tmp_path)!r})
(x @ x).tolist()
if not (child := os.fork()):
    try:
        xp.stop_trace()
    except RuntimeError as error:
        print(error, flush=True)
    sys.exit()
print(os.waitpid(child, 0)[1], flush=True)
xp.stop_trace()
"""
    ran = subprocess.run([sys.executable, "-c", program], env=environment(), capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, "No profile started\n0\n"), ran.stderr
    found, _ = recorded(tmp_path)
    assert found[DEVICE, "XLA Ops"]


def test_a_recording_leaves_names_that_another_process_writes(tmp_path, monkeypatch):
    class Noon(xp.datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2026, 1, 2, 12)

    monkeypatch.setattr(xp.datetime, "datetime", Noon)
    where = tmp_path / "plugins" / "profile" / "2026_01_02_12_00_00"
    where.mkdir(parents=True)
    theirs = where / f"{xp._host()}.xplane.pb.part"
    theirs.write_bytes(b"half of it")
    xp.start_trace(tmp_path)
    torch.ones(2, device="xla").tolist()
    xp.stop_trace()
    assert theirs.read_bytes() == b"half of it" and os.listdir(where) == [theirs.name]
    assert sorted(os.listdir(f"{where}_2")) == [f"{xp._host()}.trace.json.gz", f"{xp._host()}.xplane.pb"]


def test_a_recording_that_cannot_be_written_names_its_file(tmp_path):
    xp.start_trace(tmp_path)
    torch.ones(2, device="xla").tolist()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # a file of more bytes is too large
    try:
        with pytest.raises(OSError, match=r"File too large: '.*\.xplane\.pb'"):
            xp.stop_trace()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    run, = (tmp_path / "plugins" / "profile").iterdir()
    assert os.listdir(run) == []


def test_regions_that_a_recording_begins_or_ends_in_are_left_out(tmp_path):
    with xp.Trace("before"):
        xp.start_trace(tmp_path)
    with xp.Trace("whole"):
        torch.ones(2, device="xla").tolist()
    with xp.Trace("after"):
        xp.stop_trace()
    found, _ = recorded(tmp_path)
    names = {event["name"] for event in found["/host:CPU", "main"]}
    assert "whole" in names and not names & {"before", "after"}


PROGRAM = """
import torch, torch_xla, torch_xla.core.xla_model as xm
x = torch.ones(4, 4, device="xla") * (xm.get_ordinal() + 1)
torch_xla.sync()
total = xm.all_reduce(xm.REDUCE_SUM, x)
print(total.sum().item())
"""


def test_environment_names_the_files_of_two_processes_by_rank(tmp_path):
    job = dict(WORLD_SIZE="2", LOCAL_WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT=str(free_port()))
    processes = [subprocess.Popen([sys.executable, "-c", PROGRAM], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=environment(RANK=str(rank), LOCAL_RANK=str(rank), MILLRACE_PROFILE=str(tmp_path / "recorded"), **job))
                 for rank in range(2)]
    try:
        for process in processes:
            output, errors = process.communicate(timeout=120)
            assert process.returncode == 0 and output.strip() == "48.0", errors
    finally:
        for process in processes:
            process.kill()
    traces = sorted((tmp_path / "recorded").glob("*.trace.json"))
    assert [re.fullmatch(r"rank(\d)\.\d+\.trace\.json", path.name)[1] for path in traces] == ["0", "1"]
    assert len(list((tmp_path / "recorded").glob("*.xplane.pb"))) == 2
    for rank, path in enumerate(traces):
        found = events_of_chrome_trace(path.read_text())
        collectives = [event for (process, thread), events in found.items() if thread == "XLA Ops" for event in events
                       if event["name"].startswith("all_reduce")]
        assert collectives, rank
        for event in collectives:
            assert (event["args"]["bytes"], event["args"]["peers"]) == (64, 2) and event["args"]["wait_ns"] >= 0


WORK = """
import sys, time
{setup}
def work():
    {work}
work()  # compiled before anybody records
print("ready", flush=True)
ends = time.time() + 60
while time.time() < ends:
    work()
"""


def serving(setup, work):
    """A process that works and has a server; stdin's end is not waited for: the caller kills it."""
    process = subprocess.Popen([sys.executable, "-c", WORK.format(setup=setup, work=work)], stdout=subprocess.PIPE, text=True,
                               env=environment(JAX_PLATFORMS="cpu"))
    assert process.stdout.readline() == "ready\n"
    return process


def captured(logdir, port):
    """The planes of a file that a server wrote."""
    jax = pytest.importorskip("jax")
    run, = os.listdir(os.path.join(logdir, "plugins", "profile"))
    data = jax.profiler.ProfileData.from_file(os.path.join(logdir, "plugins", "profile", run, f"localhost_{port}.xplane.pb"))
    return {plane.name: {line.name: [event.name for event in line.events] for line in plane.lines} for plane in data.planes}


def test_another_process_is_recorded_through_its_server(tmp_path, capfd):
    port = free_port()
    process = serving("import torch, torch_xla, torch_xla.debug.profiler as xp\n"
                      f"server = xp.start_server({port})\nx = torch.ones(64, 64, device='xla')",
                      "with xp.StepTrace('work'): y = (x @ x).sum()")  # kept until the step's end, or nobody computes it
    try:
        xp.trace(f"localhost:{port}", str(tmp_path), duration_ms=500)
    finally:
        process.kill()
        process.wait()
    assert "Starting to trace for 500 ms. Remaining attempt(s): 2\n" in capfd.readouterr().out
    planes = captured(tmp_path, port)
    assert planes[DEVICE]["XLA Ops"]
    names = {name for events in planes["/host:CPU"].values() for name in events}
    assert {"work", "StepMarker", "PjRtComputationClient::ExecuteComputation"} <= names


def test_trace_speaks_to_the_server_of_jaxlib(tmp_path):
    pytest.importorskip("jax")
    port = free_port()
    process = serving(f"import jax\nserver = jax.profiler.start_server({port})\nx = jax.numpy.ones((8, 8))", "(x @ x).block_until_ready()")
    try:
        xp.trace(f"localhost:{port}", str(tmp_path), duration_ms=300)
    finally:
        process.kill()
        process.wait()
    planes = captured(tmp_path, port)
    assert any(planes["/host:CPU"].values())
    assert planes[DEVICE]["XLA Ops"], "the plug-in's own plane"


def test_recordings_of_one_second_lie_side_by_side(tmp_path):
    for _ in range(3):
        xp.start_trace(tmp_path)
        with xp.Trace("work"):
            pass
        xp.stop_trace()
        assert os.path.getsize(xp.last_recording) > 0
    assert len(list((tmp_path / "plugins" / "profile").glob("*/*.xplane.pb"))) == 3


def test_a_folder_that_cannot_be_made_is_told_before_the_recording(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        xp.start_trace(tmp_path / "file" / "logs")
    with pytest.raises(RuntimeError, match="No profile started"):
        xp.stop_trace()


def test_the_tool_records_a_process_that_runs(tmp_path):
    port = free_port()
    process = serving("import torch, torch_xla, torch_xla.debug.profiler as xp\n"
                      f"server = xp.start_server({port})\nx = torch.ones(64, 64, device='xla')", "(x @ x).sum().item()")
    command = [tools.tool("xla-prof"), "capture", f"localhost:{port}"]
    try:
        ran = subprocess.run([*command, str(tmp_path / "logs"), "--duration-ms=300"], capture_output=True, text=True, timeout=60)
    finally:
        process.kill()
        process.wait()
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str(next((tmp_path / "logs").rglob(f"localhost_{port}.xplane.pb")))
    assert captured(tmp_path / "logs", port)[DEVICE]["XLA Ops"]
    for arguments, message in ((["x"], f"localhost:{port}: Connection refused; does a program there serve recordings"),
                               ([], "capture expects HOST:PORT FOLDER"), (["x", "--duration-ms=a"], "--duration-ms expects a number")):
        ran = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=60)
        assert ran.returncode == 1 and message in ran.stderr and not ran.stdout, ran.stderr
    server = xp.start_server(0)  # of a process in which nothing runs
    ran = subprocess.run([*command[:2], f"localhost:{server.port}", str(tmp_path / "none"), "--duration-ms=20"], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1 and "nothing ran there meanwhile" in ran.stderr and not (tmp_path / "none").exists()


def test_the_server_is_open_to_this_machine_unless_it_is_told_otherwise(monkeypatch):
    def reaches(address, port):
        with socket.socket() as caller:
            return caller.connect_ex((address, port)) == 0

    server = xp.start_server(0)
    assert reaches("127.0.0.1", server.port) and not reaches("127.0.0.2", server.port)  # another address of the loopback interface
    monkeypatch.setenv("MILLRACE_PROFILER_ADDRESS", "0.0.0.0")
    everywhere = xp.start_server(0)
    assert reaches("127.0.0.2", everywhere.port)
    monkeypatch.setenv("MILLRACE_PROFILER_ADDRESS", "nowhere")
    with pytest.raises(RuntimeError, match="MILLRACE_PROFILER_ADDRESS expects an address to listen at, .* but got 'nowhere'"):
        xp.start_server(0)


def test_workers_of_a_loader_hold_no_port():
    server = xp.start_server(0)
    port = server.port
    loader = torch.utils.data.DataLoader(range(8), num_workers=2, persistent_workers=True, multiprocessing_context="fork")
    batches = iter(loader)
    assert [int(next(batches)), int(next(batches))] == [0, 1]  # one of each worker: both run
    del server
    xp.start_server(port)  # the workers wait for more to do
    assert [int(batch) for batch in batches] == [2, 3, 4, 5, 6, 7]


def test_servers_and_captures_say_what_is_wrong(tmp_path, capfd):
    server = xp.start_server(0)
    assert server.port > 0
    with pytest.raises(RuntimeError, match=f"xp.start_server: cannot listen at port {server.port}: Address already in use"):
        xp.start_server(server.port)
    with pytest.raises(RuntimeError, match="expects a port from 0 to 65535, but got 65536"):
        xp.start_server(65536)
    with pytest.raises(RuntimeError, match=r"No trace event is collected after 2 attempt\(s\)\. Perhaps, .*is it the process that computes\?"):
        xp.trace(f"localhost:{server.port}", tmp_path, duration_ms=10, num_tracing_attempts=2, timeout_s=0)
    said = capfd.readouterr().out
    assert said.count("Starting to trace for 10 ms.") == 2 and said.count("No trace event is collected. Automatically retrying.") == 1
    for wrong in ("duration_ms", "num_tracing_attempts", "interval_s"):
        with pytest.raises(ValueError, match=f"xp.trace expects {wrong} of at least 1, but got 0"):
            xp.trace(f"localhost:{server.port}", tmp_path, **{wrong: 0})
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match="expects an address host:port, but got 'localhost'"):
        xp.trace("localhost", tmp_path)
    assert time.monotonic() - begin < 60  # at once, and not after two minutes
    capfd.readouterr()
    port = server.port
    del server  # ends with the object
    with pytest.raises(RuntimeError, match=f"UNAVAILABLE: localhost:{port}: Connection refused"):
        xp.trace(f"localhost:{port}", tmp_path, duration_ms=10, num_tracing_attempts=1, timeout_s=0)
    xp.start_server(port)
    assert not (tmp_path / "plugins").exists()


@pytest.mark.parametrize("how", ["environment", "start_trace"])
def test_a_program_that_is_told_to_end_writes_what_it_recorded(tmp_path, how):
    """SIGTERM still ends it, and what has sent the signal sees that. A forked child, which records nothing, ends at once."""
    code = ("import os, signal, sys, time, torch, torch_xla\n"
            "import torch_xla.debug.profiler as xp\n"
            "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
            "if sys.argv[1] == 'start_trace':\n"
            "    xp.start_trace(sys.argv[2])\n"
            "for n in range(4):\n"
            "    y = (torch.ones(16, 16, device='xla') * 3).sum()\n"
            "    torch_xla.sync(wait=True)\n"
            "child = os.fork()\n"
            "if not child:\n"
            "    time.sleep(60)\n"
            "os.kill(child, signal.SIGTERM)\n"
            "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM\n"
            "os.kill(os.getpid(), signal.SIGTERM)\n"
            "time.sleep(60)\n"
            "print('not reached')\n")
    folder = tmp_path / "recorded"
    extra = {"MILLRACE_PROFILE": str(folder)} if how == "environment" else {}
    begin = time.monotonic()
    ran = subprocess.run([sys.executable, "-c", code, how, str(folder)], capture_output=True, text=True, timeout=120, env=environment(**extra))
    assert ran.returncode == -signal.SIGTERM and not ran.stdout and time.monotonic() - begin < 55, ran
    if how == "environment":
        trace, = folder.glob("*.trace.json")
        content = trace.read_text()
    else:
        trace, = folder.glob("plugins/profile/*/*.trace.json.gz")
        content = gzip.decompress(trace.read_bytes()).decode()
        assert "the program ends without it; what was recorded is in" in ran.stderr
    assert len(events_of_chrome_trace(content)[DEVICE, "XLA Modules"]) == 4
    assert len(list(trace.parent.iterdir())) == 2


def test_a_handler_of_the_program_stays(tmp_path):
    code = ("import signal, os, sys, torch, torch_xla\n"
            "import torch_xla.debug.profiler as xp\n"
            "told = []\n"
            "signal.signal(signal.SIGTERM, lambda *_: told.append(1))\n"
            "xp.start_trace(sys.argv[1])\n"
            "os.kill(os.getpid(), signal.SIGTERM)\n"
            "assert told == [1]\n"
            "xp.stop_trace()\n"
            "os.kill(os.getpid(), signal.SIGTERM)\n"
            "assert told == [1, 1]\n"
            "signal.signal(signal.SIGTERM, signal.SIG_DFL)\n"
            "xp.start_trace(sys.argv[1])\n"
            "xp.stop_trace()\n"  # the signal has its default action again
            "os.kill(os.getpid(), signal.SIGTERM)\n")
    ran = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=120, env=environment())
    assert ran.returncode == -signal.SIGTERM and "ends without it" not in ran.stderr, ran


def test_a_program_that_is_interrupted_writes_what_it_recorded(tmp_path):
    code = ("import os, signal, torch, torch_xla\n"
            "for n in range(4):\n"
            "    y = (torch.ones(16, 16, device='xla') * 3).sum()\n"
            "    torch_xla.sync()\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a test run in the background of a shell has it ignored
            "os.kill(os.getpid(), signal.SIGINT)\n"
            "(torch.ones(2, device='xla') + 1).cpu()\n")
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=environment(MILLRACE_PROFILE=str(tmp_path / "recorded")))
    assert ran.returncode == -signal.SIGINT and "KeyboardInterrupt" in ran.stderr, ran.stderr
    trace, = (tmp_path / "recorded").glob("*.trace.json")
    modules = events_of_chrome_trace(trace.read_text())[DEVICE, "XLA Modules"]
    assert len(modules) == 4
    assert len(list((tmp_path / "recorded").iterdir())) == 2
