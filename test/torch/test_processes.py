# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch in several processes: what one process computes, to the last bit, however the processes are started; and what all say when something
happens to one of them."""
import contextlib
import hmac
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
import torch
import torch_xla.distributed.xla_multiprocessing as xmp
from paths import PYTHONPATH

PROGRAMS = pathlib.Path(__file__).with_name("process_programs.py")
LONG = pytest.mark.skipif(not os.environ.get("MILLRACE_LONG"), reason="takes long: MILLRACE_LONG=1")
MOST_SECONDS_OF_A_JOB = 300  # what a job that hangs gets; two processes that end after 20 s alone take up to 130 s beside 15 busy programs on two cores
LINE = r"process_programs\.py:\d+:\d+"


def free_port():
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def environment(**more):
    """Without what the tests' own process has of a world."""
    names = ("RANK", "WORLD_SIZE", "CPU_NUM_DEVICES", "MASTER_ADDR", "MASTER_PORT")
    kept = {name: value for name, value in os.environ.items() if name not in names and not name.startswith("PJRT_LOCAL")}
    return dict(kept, PYTHONPATH=PYTHONPATH, OMP_NUM_THREADS="1", **more)


def start(name, processes, programs=PROGRAMS, of_rank=lambda rank: {}, **more):
    """Starts a job of a program (or several, one after the other) with torchrun's variables, and those that of_rank() gives each; its processes."""
    job = dict(WORLD_SIZE=str(processes), LOCAL_WORLD_SIZE=str(processes), MASTER_ADDR="localhost", MASTER_PORT=str(free_port()))
    return [subprocess.Popen([sys.executable, programs, *([name] if isinstance(name, str) else name)], text=True,
                             env=environment(**{"RANK": str(rank), "LOCAL_RANK": str(rank), **job, **more, **of_rank(rank)}), stdout=subprocess.PIPE, stderr=subprocess.PIPE) for rank in range(processes)]


def results_of(job, without=()):
    """What each process of a job returns, but those."""
    results = []
    try:
        for rank, process in enumerate(job):
            if rank in without:
                continue
            output, errors = process.communicate(timeout=MOST_SECONDS_OF_A_JOB)
            if process.returncode != 0:  # another process may have failed before
                for other in job[rank + 1:]:
                    other.kill()
                pytest.fail("\n".join([errors[-3000:], *(other.communicate()[1][-3000:] for other in job[rank + 1:])]))
            results.append(json.loads(output.splitlines()[-1]))
    finally:
        for process in job:
            process.kill()
            process.communicate()
    return results


def run(name, processes, **more):
    return results_of(start(name, processes, **more))


@pytest.mark.parametrize("processes", [2, 4])
def test_world(processes):
    for rank, seen in enumerate(run("world", processes)):
        assert seen == {"rank": rank, "size": processes, "local": [rank, processes], "index": [rank, processes], "master": [rank == 0] * 2,
                        "devices": [1, processes, processes]}


@pytest.mark.parametrize("processes", [pytest.param(2, marks=LONG), 4])
def test_collectives_of_xm(processes):
    assert run("xm_collectives", processes) == [[]] * processes


LAUNCHERS = {
    "mpirun": lambda rank: {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": str(rank),
                            "OMPI_COMM_WORLD_LOCAL_SIZE": "2"},
    "mpich": lambda rank: {"PMI_RANK": str(rank), "PMI_SIZE": "2", "MPI_LOCALRANKID": str(rank), "MPI_LOCALNRANKS": "2"},
    "srun": lambda rank: {"SLURM_PROCID": str(rank), "SLURM_STEP_NUM_TASKS": "2", "SLURM_LOCALID": str(rank)},
}


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_places_that_other_launchers_give(launcher):
    hidden = {"RANK": "", "WORLD_SIZE": "", "LOCAL_RANK": "", "LOCAL_WORLD_SIZE": ""}
    job = start("world", 2, of_rank=lambda rank: {**hidden, **LAUNCHERS[launcher](rank)})
    assert [[seen["rank"], seen["size"], seen["local"]] for seen in results_of(job)] == [[rank, 2, [rank, 2]] for rank in range(2)]


def mpirun(name, processes, **more):
    """What each process of a program of mpirun returns, in no order."""
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    ran = subprocess.run(["mpirun", "-n", str(processes), "--oversubscribe", sys.executable, PROGRAMS, name], env=environment(**allowed, **more), text=True,
                         capture_output=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-3000:]
    said, place, values = ran.stdout, 0, []
    while said[place:].strip():  # mpirun may join the lines of two processes
        value, place = json.JSONDecoder().raw_decode(said, len(said) - len(said[place:].lstrip()))
        values.append(value)
    return values


NEEDS_MPI = pytest.mark.skipif(not shutil.which("mpicc"), reason="needs Open MPI (scripts/setup)")


@NEEDS_MPI
def test_mpirun():
    assert sorted(seen["rank"] for seen in mpirun("world", 2)) == [0, 1]


@pytest.fixture(scope="module")
def carriers(tmp_path_factory):
    """The carriers, compiled as docs/guide/processes.md says."""
    import millrace
    folder, sources = tmp_path_factory.mktemp("carriers"), millrace.carriers_path()
    subprocess.run(["mpicc", "-shared", "-fPIC", "-O2", f"{sources}/mpi.c", "-o", folder / "libmillrace_mpi.so"], check=True)
    subprocess.run(["g++", "-shared", "-fPIC", "-O2", f"{sources}/gloo.cpp", "-lgloo", "-o", folder / "libmillrace_gloo.so"], check=True)
    return folder


@NEEDS_MPI
@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=LONG)])
def test_collectives_by_mpi(processes, carriers):
    assert mpirun("xm_collectives", processes, MILLRACE_TRANSPORT=str(carriers / "libmillrace_mpi.so")) == [[]] * processes
    assert mpirun("large_collectives", processes, MILLRACE_TRANSPORT="mpi", LD_LIBRARY_PATH=str(carriers)) == [[]] * processes


@NEEDS_MPI
@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=LONG)])
def test_collectives_by_gloo(processes, carriers):
    assert run("xm_collectives", processes, MILLRACE_TRANSPORT=str(carriers / "libmillrace_gloo.so")) == [[]] * processes
    assert run("large_collectives", processes, MILLRACE_TRANSPORT="gloo", LD_LIBRARY_PATH=str(carriers)) == [[]] * processes


@NEEDS_MPI
def test_a_lost_process_is_named_with_a_carrier(carriers):
    job = start("victim_at_work", 3, ARGUMENT="kill", WHEN="large", VICTIM="1", MILLRACE_TRANSPORT=str(carriers / "libmillrace_gloo.so"))
    for text, seconds in results_of(job, without=(1,)):
        assert re.search(rf"{LINE}: all_reduce: .*process 1 \(pid {job[1].pid} on host \S+\)", text) and seconds < 5, (text, seconds)


def test_a_carrier_that_is_not_there():
    for said, in run("carrier_error", 2, MILLRACE_TRANSPORT="/nowhere/carrier.so"):
        assert "MILLRACE_TRANSPORT=/nowhere/carrier.so" in said and "carriers_path()" in said


def test_first_host_of_a_job():
    from torch_xla import _world
    assert [_world._first_of(nodes) for nodes in ("node[03-05,9],other", "alpha,beta", "one", "n[7]-ib", "a12[001-003]")] == [
        "node03", "alpha", "one", "n7", "a12001"]


def test_collectives_over_tcp():
    assert run("xm_collectives", 2, MILLRACE_TRANSPORT="tcp") == [[]] * 2


def test_forks():
    for said in run("forks", 2):
        assert said[:2] == ["", ""] and re.match(r"this process is a fork of process [01] \(pid \d+\), which alone belongs to the job", said[2]), said


@pytest.mark.parametrize("what", ["connecting", "meeting"])
def test_interrupts(what):
    said, seconds = results_of(start("interrupted", 2, WHILE=what), without=(1,))[0]
    assert said == "KeyboardInterrupt" and seconds < 4


def test_a_process_that_dies_while_others_come():
    job = start("world_that_meets", 3, of_rank=lambda rank: {"DELAY": str([0, 6, 0][rank])})
    assert any("meets the others" in line for line in job[2].stderr)
    time.sleep(2)  # it tells the others where it is, and waits for the late one
    job[2].kill()
    for text, seconds in results_of(job, without=(2,)):
        assert seconds < 15 and re.search(r"process 2 \(pid \d+ on host \S+\) (has|cannot)|the job's store|process 0 of 3 has ended without", text), (text, seconds)


@LONG
@pytest.mark.parametrize("how, message", [(signal.SIGKILL, "has ended before all processes had come"), (signal.SIGSTOP, r"is stopped \(SIGSTOP or a debugger")])
def test_a_process_that_has_come_and_goes(how, message):
    """While a third one does not come."""
    job = start("world_that_meets", 3, of_rank=lambda rank: {"DELAY": str([0, 0, 60][rank])})
    assert any("meets the others" in line for line in job[1].stderr)
    time.sleep(2)
    job[1].send_signal(how)
    (text, seconds), = results_of(job, without=(1, 2))
    assert re.search(rf"process 1 \(pid {job[1].pid} on host \S+\) {message}", text) and seconds < 20, (text, seconds)


@pytest.mark.parametrize("what", [pytest.param("recv", marks=LONG), pytest.param("broadcast", marks=LONG)])
def test_each_group_has_its_timeout(what):
    """In operations that are not waits of the group's own ranks in their order, too."""
    (_, (text, seconds)), _ = run("timeouts", 2, ARGUMENT=what)
    assert "nothing has progressed for 2 s" in text and seconds < 5, text


def test_timeouts():
    (value, of_wait, of_barrier, of_group), (other,) = run("timeouts", 2, ARGUMENT="all_reduce")
    assert value == other == [2.0] * 3
    assert "Work.wait: the operation has not ended within its timeout of 0.5 s" in of_wait[0] and 0.4 < of_wait[1] < 2, of_wait
    assert "barrier: it has not ended within its timeout of 0.25 s" in of_barrier[0] and 0.2 < of_barrier[1] < 1.5, of_barrier
    assert re.search(rf"{LINE}: all_reduce of group 1: nothing has progressed for 2 s.* set MILLRACE_COLLECTIVE_TIMEOUT, or the timeout of the group, to wait longer", of_group[0]), of_group
    assert of_group[1] < 5, of_group


def test_meetings():
    first, second = run("meetings", 2)
    assert first["payloads"] == second["payloads"] == ["0", "x1"] and first["empty"] == ["", ""] and first["reduced"] == [1.0, 1.0]
    assert (first["done"], second["done"]) == ([], [[1.0]]) and first["weights"] == second["weights"]


@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=LONG)])
def test_training_has_the_bits_of_one_process(processes):
    alone, = run("train_as_one_process", 1, RANKS=str(processes))
    for rank, seen in enumerate(run("train_with_optimizer_step", processes)):
        assert seen["weights"] == alone["weights"] and seen["losses"] == [of_ranks[rank] for of_ranks in alone["losses"]]
        assert seen["reduces"] == 1


def test_each_process_writes_files_of_its_own(tmp_path):
    run("meetings", 2, PT_XLA_DEBUG="1", PT_XLA_DEBUG_FILE=str(tmp_path / "debug"), XLA_METRICS_FILE=str(tmp_path / "metrics"),
        XLA_SAVE_TENSORS_FILE=str(tmp_path / "saved"), XLA_FLAGS=f"--xla_dump_to={tmp_path / 'dump'}", MILLRACE_CACHE="off")
    files = {file.name for file in tmp_path.iterdir() if file.is_file()}
    assert files == {"debug", "metrics.0", "metrics.1", "saved.0", "saved.1"}  # PT_XLA_DEBUG explains what the first one of a host does
    dumped = {file.name.split(".")[0] for file in (tmp_path / "dump").iterdir()}
    assert dumped == {"process_0", "process_1"}


def test_graphs_may_differ():
    first, second = run("collectives_of_different_graphs", 2)
    assert first[:4] == second[:4] == [[3.0] * 4, [6.0] * 4, [9.0] * 4, [2.0] * 4] and first[4:] == [[6.0] * 4, 12.0]


def test_recorded_collectives_begin_when_others_wait(tmp_path):
    assert run("waits_elsewhere", 2, ARGUMENT=str(tmp_path / "done")) == [[3.0] * 2] * 2


def test_who_meets_nobody_waits_for_nobody():
    assert results_of(start("alone_within", 2)[:1]) == [[0.0] * 3]


@pytest.mark.parametrize("processes, backend, init", [pytest.param(2, "xla", "env://", marks=LONG), (3, "xla", "xla://"), (2, "cpu:gloo,xla:xla", "env://")])
def test_groups_of_torch_distributed(processes, backend, init):
    assert run("c10d", processes, BACKEND=backend, INIT=init) == [[]] * processes


def test_groups_that_compare_what_ranks_do():
    assert run("c10d", 2, BACKEND="cpu:gloo,xla:xla", TORCH_DISTRIBUTED_DEBUG="DETAIL") == [[]] * 2


def test_gradients_are_of_the_own_loss():
    assert run("differentiable", 2) == [[0.5, 0.0, 2.0, 1.0, 9.0], [1.0, 2.0, 2.0, 2.0, 9.0]]


def test_who_takes_no_part_is_not_waited_for():
    _, first, second = run("only_some_meet", 3)
    assert first[0] == second[0] == 3.0 and max(first[1], second[1]) < 3


def test_who_has_ended_is_not_waited_for(tmp_path):
    job = start("one_never_joins", 3, MILLRACE_STORE=str(tmp_path / "store"))
    assert results_of(job) == ["process 1 of 3 has ended without joining the others", "gone", "process 1 of 3 has ended without joining the others"]


def test_workers_of_a_loader_are_no_ranks(tmp_path):
    """Python starts them anew in processes that xmp.spawn has started: what they do at their end is not what their rank does."""
    assert results_of(start("worker_ends", 2, MILLRACE_STORE=str(tmp_path / "store"))) == [1.0, 1.0]


def test_world_of_arguments():
    port = str(free_port())
    job = [subprocess.Popen([sys.executable, PROGRAMS, "of_arguments", str(rank), "2", port], env=environment(), text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE) for rank in range(2)]
    assert results_of(job) == [[3.0, 0, 2], [3.0, 1, 2]]


def test_arguments_of_init_process_group():
    for index, said in enumerate(run("initializing", 2)):
        place = rf"this is process {index} of 2, as what started it \(torchrun's RANK and WORLD_SIZE, .*\) says"
        assert re.match(rf"init_process_group\(rank={index}, world_size=3\): {place}", said[0])
        assert re.match(rf"init_process_group\(world_size=1\): {place}", said[1])
        assert re.match(rf"init_process_group\(rank={1 - index}, world_size=2\): {place}", said[2])
        assert said[3].startswith("init_process_group(device_id=device(type='xla', index=1)): each process has one device, xla:0; leave device_id out")
        assert said[4].startswith("init_process_group(device_id=1): each process has one device, xla:0; leave device_id out")
        assert said[5:] == [6.0] * 10


@pytest.mark.parametrize("backend", ["xla", pytest.param("cpu:gloo,xla:xla", marks=LONG)])
def test_ddp(backend):
    first, second = run("ddp", 2, BACKEND=backend)
    assert first["joined"] == second["joined"] and first["fallbacks"] == second["fallbacks"] == []


def test_meshes_of_processes():
    assert run("device_mesh", 2) == [[0, [[0.5, 0.5]]], [1, [[0.5, 0.5]]]]


def test_compiled_functions():
    assert run("compiled", 2) == [[[15.0] * 3] * 2] * 2


def test_programs_are_compiled_once(tmp_path):
    """Processes share the persistent cache: a second run compiles nothing."""
    cache = dict(XLA_PERSISTENT_CACHE_PATH=str(tmp_path))
    assert sum(run("counts_compilations", 2, **cache)) == len(list(tmp_path.rglob("*.mrc"))) > 0  # the first one, by one of the two
    assert run("counts_compilations", 2, **cache) == [0, 0]


@pytest.mark.parametrize("page, names", [("torch-processes.md", ["sum.py", "train.py", "spmd.py", "threads.py"]), ("torch-fsdp.md", ["fsdp.py", "resume.py"])])
def test_guide(page, names, tmp_path):
    """The programs that the guide shows, started as it says."""
    guide = (PROGRAMS.parents[2] / "docs" / "guide" / page).read_text()
    for name, program in zip(names, [program for program in re.findall(r"```python\n(.*?)```", guide, re.S) if "import" in program], strict=True):
        (tmp_path / name).write_text(program)
    (tmp_path / "torchrun").write_text(f"#!/bin/sh\nexec {sys.executable} -m torch.distributed.run --standalone \"$@\"\n")
    (tmp_path / "torchrun").chmod(0o755)
    for commands in re.findall(r"```sh\n(.*?)```", guide, re.S):
        ran = subprocess.run(["bash", "-ec", commands.replace("python ", f"{sys.executable} ")], cwd=tmp_path, text=True, capture_output=True,
                             timeout=MOST_SECONDS_OF_A_JOB, env=environment(PATH=f"{tmp_path}:{os.environ['PATH']}"))
        assert sorted(ran.stdout.splitlines()) == sorted(re.findall(r"^# (.*)$", commands, re.M)), ran.stderr


#===-- Starting processes ----------------------------------------------------===

def test_torchrun(tmp_path):
    ran = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--log-dir={tmp_path}", "--redirects=3", PROGRAMS, "world"],
                         env=environment(), text=True, capture_output=True, timeout=120)
    assert ran.returncode == 0, ran.stderr[-3000:]
    seen = sorted(json.loads(path.read_text())["rank"] for path in tmp_path.rglob("stdout.log"))
    assert seen == [0, 1]


def spawned(body, *arguments, **more):
    """Runs a program whose function `work` is `body`."""
    code = (f"import os, sys, time, signal, torch, torch_xla\nimport torch_xla.core.xla_model as xm\nimport torch_xla.runtime as xr\n"
            f"import torch_xla.distributed.xla_multiprocessing as xmp\ndef work(index, *args):\n{body}\n"
            f"if __name__ == '__main__':\n    {'; '.join(arguments)}\n")
    folder = pathlib.Path(more.pop("folder"))
    (folder / "program.py").write_text(code)
    return subprocess.run([sys.executable, folder / "program.py"], env=dict(environment(**more), TMPDIR=str(folder)), text=True, capture_output=True, timeout=120)


SUM = ("    x = xm.all_reduce(xm.REDUCE_SUM, torch.tensor([1.0 + index], device='xla'))\n"
       "    sys.stdout.write(f'{index} {xr.global_ordinal()} {xr.world_size()} {x.item()} {args} {os.environ.get(\"LOCAL_RANK\")}\\n')")


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_spawn(method, tmp_path):
    ran = spawned(SUM, f"print(xmp.spawn(work, args=(5,), nprocs=2, start_method='{method}'))", folder=tmp_path)
    assert sorted(ran.stdout.splitlines()) == ["0 0 2 3.0 (5,) 0", "1 1 2 3.0 (5,) 1", "None"], ran.stderr[-3000:]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("millrace")] == []


def test_launch(tmp_path):
    ran = spawned(SUM, "torch_xla.launch(work)", folder=tmp_path, CPU_NUM_DEVICES="2")
    assert sorted(ran.stdout.splitlines()) == ["0 0 2 3.0 () 0", "1 1 2 3.0 () 1"], ran.stderr[-3000:]
    ran = spawned(SUM, "torch_xla.launch(work, debug_single_process=True)", folder=tmp_path, CPU_NUM_DEVICES="2")
    assert ran.stdout.splitlines() == ["0 0 1 1.0 () None"], ran.stderr[-3000:]


def test_spawn_without_join(tmp_path):
    ran = spawned(SUM, "children = xmp.spawn(work, nprocs=2, join=False)", "print(len(children.processes))", "print(children.join())", "print(children.join())",
                  folder=tmp_path)
    assert sorted(ran.stdout.splitlines())[:2] == ["0 0 2 3.0 () 0", "1 1 2 3.0 () 1"] and "2" in ran.stdout.splitlines() and "True" in ran.stdout, ran.stderr


def test_one_process_fails(tmp_path):
    """Its traceback is raised, with its rank; the others end soon, although they wait for it."""
    body = "    if index == 1: raise ValueError('the learning rate is a fish')\n    xm.all_reduce(xm.REDUCE_SUM, torch.ones(1, device='xla')).item()\n    time.sleep(60)"
    begin = time.monotonic()
    ran = spawned(body, "xmp.spawn(work, nprocs=2)", folder=tmp_path)
    assert ran.returncode == 1 and "Process 1 terminated with the following error" in ran.stderr and "ValueError: the learning rate is a fish" in ran.stderr
    assert time.monotonic() - begin < 20
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("millrace")] == []


def test_one_process_is_killed(tmp_path):
    ran = spawned("    if index == 0: os.kill(os.getpid(), signal.SIGKILL)\n    time.sleep(60)", "xmp.spawn(work, nprocs=2)", folder=tmp_path)
    assert ran.returncode == 1 and "process 0 terminated with signal SIGKILL" in ran.stderr, ran.stderr[-2000:]


def test_errors_of_spawn(tmp_path, monkeypatch):
    for count in (0, -1, "two"):
        with pytest.raises(ValueError, match=r"expects nprocs to be None or the number of processes, but got"):
            xmp.spawn(print, nprocs=count)
    monkeypatch.setenv("CPU_NUM_DEVICES", "4")
    with pytest.raises(ValueError, match="nprocs=3: CPU_NUM_DEVICES=4 asks for 4 processes"):
        xmp.spawn(print, nprocs=3)
    monkeypatch.delenv("CPU_NUM_DEVICES")
    torch.ones(1, device="xla").cpu()
    with pytest.raises(RuntimeError, match="Runtime is already initialized. Do not use the XLA device before calling xmp.spawn."):
        xmp.spawn(print, nprocs=2, start_method="fork")
    assert xmp.spawn(lambda index, a: (index, a), args=(5,), nprocs=1) == (0, 5)
    ran = spawned(SUM + "\ntorch.ones(1, device='xla').cpu()", "xmp.spawn(work, nprocs=2)", folder=tmp_path)
    assert ran.returncode == 1 and "has used the device before xmp.spawn's function began" in ran.stderr
    ran = spawned(SUM + "\nxmp.spawn(work, nprocs=2)", "pass", folder=tmp_path)
    assert ran.returncode == 1 and "put the call under `if __name__ == '__main__':`" in ran.stderr, ran.stderr[-2000:]


def test_turns(tmp_path):
    """MpSerialExecutor: one process after the other."""
    body = ("    def turn():\n        begin = time.monotonic(); time.sleep(0.3); return begin, time.monotonic()\n"
            "    times = xmp.MpSerialExecutor().run(turn)\n    sys.stdout.write(f'{times[0]} {times[1]}\\n')")
    ran = spawned(body, "xmp.spawn(work, nprocs=2)", folder=tmp_path)
    (_, first_end), (second_begin, _) = sorted(tuple(map(float, line.split())) for line in ran.stdout.splitlines())
    assert first_end <= second_begin


def test_turns_leave_no_file(tmp_path, monkeypatch):
    for name, value in dict(RANK="0", WORLD_SIZE="2", LOCAL_RANK="0", LOCAL_WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT="1").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(xmp.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(xmp._world, "local_size", lambda: 2)
    assert xmp.MpSerialExecutor().run(lambda: len(list(tmp_path.iterdir()))) == 1
    assert list(tmp_path.iterdir()) == []


def test_folders_of_killed_parents_are_removed(tmp_path, monkeypatch):
    """By the next xmp.spawn; but not one that is in use, or has just been made."""
    monkeypatch.setattr(xmp.tempfile, "tempdir", str(tmp_path))
    held, left, young = xmp._Folder(), tmp_path / "millrace-job-left", tmp_path / "millrace-job-young"
    for folder in (left, young):
        folder.mkdir()
    for path in (held.path, left):
        os.utime(path, (0, 0))
    after = xmp._Folder()
    assert {path.name for path in tmp_path.iterdir()} == {os.path.basename(held.path), "millrace-job-young", os.path.basename(after.path)}
    held.remove()
    after.remove()
    assert [path.name for path in tmp_path.iterdir()] == ["millrace-job-young"]


def test_torchrun_is_told_the_exception(tmp_path):
    """Its summary then begins with the process that failed first. Who failed because of another one comes after it."""
    code = ("import sys, torch_xla\nraise RuntimeError('process 1 (pid 4711 on host alpha) has left') if len(sys.argv) > 1 else ValueError('the learning rate is a fish')")
    stamps = []
    for arguments, text in (([], "ValueError: the learning rate is a fish"), (["echo"], "RuntimeError: process 1 (pid 4711 on host alpha) has left")):
        error_file = tmp_path / f"error{len(arguments)}.json"
        subprocess.run([sys.executable, "-c", code, *arguments], env=environment(RANK="0", WORLD_SIZE="2", TORCHELASTIC_ERROR_FILE=str(error_file)), timeout=60)
        said = json.loads(error_file.read_text())["message"]
        assert said["message"] == text and "Traceback" in said["extraInfo"]["py_callstack"]
        stamps.append(int(said["extraInfo"]["timestamp"]) - error_file.stat().st_mtime)
    assert stamps[0] < 0.1 and stamps[1] > -0.1


def test_run_multiprocess(tmp_path):
    ran = spawned("    pass", "from torch_xla._internal import pjrt", "print(pjrt.run_multiprocess(xr.global_ordinal))", folder=tmp_path, CPU_NUM_DEVICES="2")
    failing = spawned("    pass", "from torch_xla._internal import pjrt; import functools",
                      "\n    try: pjrt.run_multiprocess(functools.partial(xm.rendezvous, 't', 'no bytes'))\n    except TypeError as error: print(error)", folder=tmp_path,
                      CPU_NUM_DEVICES="2")
    assert failing.stdout == "expects the payload as bytes, but got str\n", failing.stderr[-2000:]
    assert ran.stdout == "{0: 0, 1: 1}\n" or ran.stdout == "{1: 1, 0: 0}\n", ran.stderr[-2000:]


@pytest.mark.parametrize("variables, message", [
    (dict(RANK="2", WORLD_SIZE="2"), "RANK: expects a number below 2, but got '2'"),
    (dict(RANK="0", WORLD_SIZE="many"), "WORLD_SIZE: expects a number below 65537, but got 'many'"),
    (dict(RANK="0", WORLD_SIZE="2"), "process 0 of 2 has no address of the other processes: start them with torchrun, xmp.spawn"),
    (dict(RANK="0", WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT="0"), "MASTER_PORT: expects the port of the first process, but got 0")])
def test_wrong_environment(variables, message):
    code = "import torch, torch_xla.core.xla_model as xm; xm.all_reduce('sum', torch.ones(1, device='xla'))"
    ran = subprocess.run([sys.executable, "-c", code], env=environment(**variables), text=True, capture_output=True, timeout=60)
    assert ran.returncode == 1 and message in ran.stderr, ran.stderr[-2000:]


#===-- When something happens ------------------------------------------------===

DIVERGENCES = {"operation": r"device 0 executes all_reduce \(sum\) of f32\[4\] at \S+{L}, but device 1 executes all_gather of f32\[4\] at \S+{L}",
               "reduction": r"device 0 executes all_reduce \(sum\) of f32\[4\] at \S+{L}, but device 1 executes all_reduce \(max\) of f32\[4\] at \S+{L}",
               "shape": r"operand 0 has another shape on device [01] than on device [01]",
               "type": r"operand 0 has another type on device [01] than on device [01]",
               "order": r"device 0 executes all_reduce \(sum\) of f32\[4\] at \S+{L}, but device 1 executes all_gather of f32\[4\] at \S+{L}",
               "root": r"device 0 executes collective_broadcast of f32\[4\] at \S+{L} from device 0, but device 1 executes collective_broadcast of f32\[4\] at \S+{L} "
                       "from device 1",
               "group": r"device 0 executes all_reduce of group 1 \(sum\) of f32\[4\] at \S+{L}, but device 1 executes all_reduce of group 2 \(sum\) of f32\[4\] at"}


@pytest.mark.parametrize("what", DIVERGENCES)
def test_divergence(what):
    begin = time.monotonic()
    said = run("divergent", 2, ARGUMENT=what)
    for text in said:
        assert re.search(DIVERGENCES[what].replace("{L}", LINE), text), text
    assert time.monotonic() - begin < (60 if "LD_PRELOAD" in os.environ else 20)  # a sanitizer (scripts/torch-sanitizers) is slow at the start


def test_lines_are_those_of_the_program_that_runs(tmp_path):
    """Not of the one that put it into the cache."""
    cache = dict(XLA_PERSISTENT_CACHE_PATH=str(tmp_path))
    assert run("first_lines", 2, **cache) == [[2.0] * 3] * 2
    lines = (PROGRAMS.read_text().splitlines().index("def other_lines():") + 1,)
    for text in run("other_lines", 2, **cache):
        assert [int(line) - lines[0] for line in re.findall(r"process_programs\.py:(\d+)", text)] in ([3], [3, 3]), text


@LONG
@pytest.mark.parametrize("transport", ["auto", "tcp"])
@pytest.mark.parametrize("when", ["small", "large", "compiling", "saving"])
@pytest.mark.parametrize("how", ["kill", "stop", "exit"])
@pytest.mark.parametrize("victim", [0, 1])
def test_kill_matrix(victim, how, when, transport):
    """Whatever a process does when it ends, the others name it, their operation and their line within five seconds."""
    job = start("victim_at_work", 3, ARGUMENT=how, WHEN=when, VICTIM=str(victim), MILLRACE_TRANSPORT=transport)
    for text, seconds in results_of(job, without=(victim,)):
        assert re.search(rf"{LINE}: all_reduce: .*process {victim} \(pid {job[victim].pid} on host \S+\)", text) and seconds < 5, (text, seconds)


@LONG
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("ip") is None, reason="makes network namespaces: needs root and iproute2")
def test_a_link_goes_down(tmp_path):
    """Two hosts, each a network namespace, whose link is taken down."""
    name = f"mr{os.getpid()}"
    def ip(*words):
        subprocess.run(["ip", *words], check=True)
    try:
        ip("netns", "add", f"{name}a")
        ip("netns", "add", f"{name}b")
        ip("link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b")
        for side, address in (("a", "10.99.0.1"), ("b", "10.99.0.2")):
            ip("link", "set", f"{name}{side}", "netns", f"{name}{side}")
            ip("-n", f"{name}{side}", "address", "add", f"{address}/24", "dev", f"{name}{side}")
            ip("-n", f"{name}{side}", "link", "set", f"{name}{side}", "up")
            ip("-n", f"{name}{side}", "link", "set", "lo", "up")
        job = dict(WORLD_SIZE="2", LOCAL_WORLD_SIZE="1", LOCAL_RANK="0", MILLRACE_STORE=str(tmp_path / "store"), ARGUMENT=str(tmp_path / "met"))
        processes = [subprocess.Popen(["ip", "netns", "exec", f"{name}{side}", sys.executable, PROGRAMS, "forever"], text=True, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, env=environment(RANK=str(rank), MILLRACE_HOST_ID=side, MILLRACE_INTERFACE=f"{name}{side}", **job))
                     for rank, side in enumerate("ab")]
        end = time.monotonic() + 60
        while not all((tmp_path / f"met.{rank}").exists() for rank in range(2)):
            assert time.monotonic() < end and all(process.poll() is None for process in processes)
            time.sleep(0.1)
        ip("-n", f"{name}a", "link", "set", f"{name}a", "down")
        for rank, (text, seconds) in enumerate(results_of(processes)):
            assert re.search(rf"{LINE}: all_reduce: process {1 - rank} \(pid \d+ on host \S+\) cannot be reached", text) and seconds < 5, (text, seconds)
    finally:
        for side in "ab":
            subprocess.run(["ip", "netns", "delete", f"{name}{side}"], check=False)


SECRETS = ["0123456789abcdef", "fedcba9876543210", ""]


@pytest.mark.parametrize("secrets, reasons", [
    (SECRETS[:2], ["has another MILLRACE_SECRET than this process"] * 2),
    (SECRETS[1:], ["has no MILLRACE_SECRET, but this process has one", "has a MILLRACE_SECRET, but this process has none"])], ids=["other", "none"])
def test_secrets_that_differ(secrets, reasons):
    job = start("joins", 2, of_rank=lambda rank: {"MILLRACE_SECRET": secrets[rank]})
    for rank, (text, seconds) in enumerate(results_of(job)):
        other = 1 - rank
        assert re.search(rf"process {other} (\(pid {job[other].pid} on host \S+\)|of \d) {reasons[rank]}: it has to be the same in all processes of a job", text), text
        assert seconds < 5
        assert not any(secret and secret in text for secret in secrets)


def test_a_short_secret():
    for text, _ in run("joins", 2, MILLRACE_SECRET="too short"):
        assert "MILLRACE_SECRET has 9 characters; expects at least 16 that nobody can guess" in text, text


def hello_of(card, rank):
    """(address, what a process without the job's secret says as process `rank`), of what another one left in the store: see runtime/transport/Connector.cpp."""
    version, place, texts = int.from_bytes(card[:4], "little"), 4, []
    for _ in range(6):
        size = int.from_bytes(card[place:place + 4], "little")
        texts.append(card[place + 4:place + 4 + size])
        place += 4 + size
    port = int.from_bytes(card[place + 4:place + 6], "little")
    proof = hmac.digest(hmac.digest(b"", texts[4], "sha256"), b"caller", "sha256")
    return (texts[3].decode(), port), b"".join(number.to_bytes(4, "little") for number in (0x4d524831, version, rank, 0, 0)) + proof + proof


@pytest.mark.parametrize("secret", SECRETS[::2], ids=["secret", "no secret"])
def test_who_reads_the_store_needs_the_secret(secret, tmp_path):
    """Somebody reads the job's store and connects in the place of process 1: with a secret of the job he is sent away, and the job goes on."""
    port = free_port()
    job = start("joins", 2, MILLRACE_SECRET=secret, MASTER_PORT=str(port), ARGUMENT=str(tmp_path / "go"), MILLRACE_TRANSPORT="tcp")
    try:
        end = time.monotonic() + 60
        while socket.socket().connect_ex(("localhost", port)):
            assert time.monotonic() < end and job[0].poll() is None
            time.sleep(0.1)
        store = torch.distributed.PrefixStore("millrace/attempt_0", torch.distributed.TCPStore("localhost", port, is_master=False, wait_for_workers=False))
        card = bytes.fromhex(store.get("millrace/process/0").decode())
        assert not secret or secret.encode() not in card + bytes.fromhex(store.get("millrace/secret/0").decode().partition(":")[2])
        address, hello = hello_of(card, 1)
        if not secret:  # the same words get in, where the job has none
            store.set("millrace/process/1", store.get("millrace/process/0"))
        for said in (b"\0" * 84, os.urandom(84), hello[:40], hello):
            with socket.create_connection(address, timeout=5) as stranger:
                stranger.sendall(said)
                if len(said) < len(hello):
                    stranger.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionResetError):
                    answer = stranger.recv(100)
                    assert len(answer) == (40 if said == hello and not secret else 0)
        if secret:
            (tmp_path / "go").touch()
            assert [value for value, _ in results_of(job)] == [[2.0, 2.0]] * 2
    finally:
        for process in job:
            process.kill()
            process.communicate()


def test_steps_that_nobody_reads():
    first, second = run("unread_steps", 2)
    assert second == "left" and re.search(rf"an earlier step failed: \S*{LINE}: all_reduce: .*process 1 \(pid \d+ on host \S+\)", first), first


def test_an_end_that_nobody_reads():
    job = start("unread_end", 2)
    (output, errors), _ = [process.communicate(timeout=MOST_SECONDS_OF_A_JOB) for process in job]
    assert [process.returncode for process in job] == [1, 0] and json.loads(output) == "end"
    assert re.search(rf"torch_xla: a step failed: \S*{LINE}: all_reduce: ", errors), errors


def test_who_is_slow_is_told():
    """A rank that is late is no error before the timeout, but those who wait say for whom."""
    job = start("late", 2)
    first, second = job[0].communicate(timeout=60), job[1].communicate(timeout=60)
    assert json.loads(first[0]) == json.loads(second[0]) == [2.0]
    assert re.search(rf"millrace: for 5 s all_reduce \(sum\) of f32\[1\] at \S+{LINE} on device 0 waits for device 1 of process 1 \(pid {job[1].pid} on host "
                     r"\S+\), which has not arrived", first[1]), first[1]


def test_an_operation_is_missing():
    first, second = run("divergent", 2, ARGUMENT="missing")
    assert second == "nothing"
    assert re.search(rf"{LINE}: all_reduce: .*process 1 \(pid \d+ on host \S+\)", first), first


@pytest.mark.parametrize("how, transport", [("kill", "auto"), pytest.param("kill", "tcp", marks=LONG), pytest.param("stop", "auto", marks=LONG), ("stop", "tcp"),
                                            pytest.param("exit", "auto", marks=LONG), ("exit", "tcp"), ("raise", "auto"), pytest.param("raise", "tcp", marks=LONG)])
def test_somebody_goes(how, transport):
    expected = {"kill": r"has (ended|closed its connection) without a word", "stop": r"(is stopped|cannot be reached)", "exit": "(has left|which has finished)",
                "raise": r"(was ended by an error: ValueError: the learning rate is a fish|has left)"}[how]
    job = start("victim", 3, ARGUMENT=how, MILLRACE_TRANSPORT=transport)
    if how != "stop":
        job[1].wait(timeout=60)
    said = results_of(job, without=(1,))
    for text, seconds in said:
        assert re.search(rf"process 1 \(pid \d+ on host \S+\),? {expected}", text) and re.search(rf"{LINE}: all_reduce", text) and seconds < 5, (text, seconds)
    assert job[1].returncode in {"kill": (-signal.SIGKILL,), "stop": (-signal.SIGKILL,), "exit": (0,), "raise": (1,)}[how]
