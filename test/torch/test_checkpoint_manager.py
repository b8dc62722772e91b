# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CheckpointManager: what is there after kill -9, full disks and damage; several processes that are replicas, and one. Split tensors are in
spmd/checkpoint.py and test_spmd_processes.py."""
import datetime
import errno
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import types
import zlib

import numpy as np
import pytest
import torch
import torch.distributed.checkpoint as dcp
import torch_xla
from checkpoint_programs import loads
from test_processes import LONG, environment, results_of, start
from torch.distributed.checkpoint import CheckpointException
from torch_xla import _preemption
from torch_xla.experimental.distributed_checkpoint import CheckpointManager, SPMDLoadPlanner, StepReader, storage

PROGRAMS = pathlib.Path(__file__).with_name("checkpoint_programs.py")


def manager_of(folder, **more):
    return CheckpointManager(folder, **{"save_interval": 1, "chkpt_on_preemption": False, **more})


def state_of(number):
    return {"x": torch.full((100,), float(number)), "note": number}


@pytest.fixture
def steps(tmp_path):
    """A folder with steps 1 to 3."""
    manager = manager_of(tmp_path)
    assert all(manager.save(step, state_of(step)) for step in (1, 2, 3))
    return tmp_path


def restored(manager, step=None):
    """(step, value) of what restore() loads."""
    state = state_of(-1)
    found = manager.restore(step, state)
    assert set(state["x"].tolist()) == {state["note"]}
    return found, state["note"]


#===-- When something happens ------------------------------------------------===

@pytest.mark.parametrize("moments", [4, pytest.param(100, marks=LONG)])
def test_killed_at_random_moments(moments, tmp_path):
    ran = subprocess.run([sys.executable, PROGRAMS.with_name("checkpoint_kills.py"), tmp_path, str(moments), str(moments)], text=True,
                         capture_output=True, timeout=1800, env=environment())
    assert ran.returncode == 0, ran.stderr[-3000:]
    seen = json.loads(ran.stdout)
    print(seen)
    assert seen["wrong"] == [] and seen["killed"] == moments and seen["left"] == [str(seen["last"] - 1), str(seen["last"])], seen


@pytest.mark.parametrize("call", ["save", "save_async"])
def test_told_to_end_behind_a_save(call, tmp_path):
    """The step that is the last one is one that was saved: not that in which the signal came, if it was asked about before."""
    manager = CheckpointManager(tmp_path, save_interval=100)
    try:
        seen = []
        for step in (1, 2, 3):
            seen.append(getattr(manager, call)(step, state_of(step)))
            if step == 1:
                os.kill(os.getpid(), signal.SIGTERM)
            seen.append(manager.reached_preemption(step))
        assert seen == [False, False, True, True, False, False] and manager.all_steps() == [2] and restored(manager) == (2, 2)
    finally:
        _preemption.deactivate()


def test_killed_between_two_names(steps):
    """A step that is replaced has another name for a moment."""
    os.rename(steps / "3", steps / "3.old")
    (steps / "3.tmp-0").mkdir()
    manager = manager_of(steps)
    assert manager.all_steps() == [1, 2, 3] and restored(manager) == (3, 3)
    manager.save(4, state_of(4))
    assert sorted(os.listdir(steps)) == ["1", "2", "3.old", "4"]
    manager.save(3, state_of(5))
    assert sorted(os.listdir(steps)) == ["1", "2", "3", "4"] and restored(manager, 3) == (3, 5)


def test_what_killed_managers_have_left(steps):
    """Is removed before the next save, and by nobody who only reads."""
    for name in ("4.tmp-0", "1.tmp-removed", "2.old", "2.old.tmp-removed", "4.tmpfs", "logs"):
        (steps / name).mkdir()
    (steps / "4.tmp-0" / "__0_0.distcp").write_text("half")
    manager = manager_of(steps)
    assert manager.all_steps() == [1, 2, 3] and (steps / "4.tmp-0").exists()
    manager.save(4, state_of(4))
    assert sorted(os.listdir(steps)) == ["1", "2", "3", "4", "logs"]


def test_order_of_what_is_made_durable(tmp_path, monkeypatch):
    """Files, their folder, its name: so a power failure leaves a whole step or none."""
    events = []

    def fsync(descriptor, call=os.fsync):
        events.append(os.path.relpath(os.readlink(f"/proc/self/fd/{descriptor}"), tmp_path))
        call(descriptor)

    def rename(old, new, call=os.rename):
        events.append((os.path.relpath(old, tmp_path), os.path.relpath(new, tmp_path)))
        call(old, new)
    manager = manager_of(tmp_path)
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", rename)
    manager.save(1, state_of(1))
    made = events[1].split("/")[0]
    assert made.startswith("1.tmp-") and events == [
        ".", f"{made}/__0_0.distcp", f"{made}/.metadata.tmp", (f"{made}/.metadata.tmp", f"{made}/.metadata"), f"{made}/.manager_metadata.json",
        made, (made, "1"), "."]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # torch.distributed.checkpoint's threads
def test_disk_full(tmp_path):
    """Of a file system with one megabyte: the error names the file, and what was there is there."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", tmp_path], capture_output=True).returncode:
        pytest.skip("needs to mount a file system")
    try:
        manager = manager_of(tmp_path / "run", max_to_keep=1)
        assert manager.save(1, state_of(1))
        large = {"x": torch.zeros(1 << 18)}
        with pytest.raises(CheckpointException, match=r"\[Errno 28\] No space left on device: '.*/run/2.tmp-\w+/__0_0.distcp'") as caught:
            manager.save(2, large)
        assert caught.value.failures[0][0].errno == errno.ENOSPC
        with pytest.raises(CheckpointException, match="No space left on device"):
            manager_of(tmp_path / "run", num_of_threads=2).save(2, {**large, "y": torch.zeros(1)})
        assert os.listdir(tmp_path / "run") == ["1"] and restored(manager_of(tmp_path / "run")) == (1, 1)
        assert manager.save_async(2, large) and manager.all_steps() == [1]
        with pytest.raises(CheckpointException, match="No space left on device"):
            manager.save(2, state_of(2))
        assert manager.save(2, state_of(2)) and restored(manager) == (2, 2) and os.listdir(tmp_path / "run") == ["2"]
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def remove(path):
    path.unlink()


def shorten(path):
    path.write_bytes(path.read_bytes()[:-1])


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


@pytest.mark.parametrize("damage, said", [(remove, "is not there"), (shorten, r"has \d+ bytes, but \d+ were written"),
                                          (flip, "has another checksum than what was written")])
@pytest.mark.parametrize("name", ["__0_0.distcp", ".metadata"])
def test_damaged_files_are_named(damage, said, name, steps, caplog):
    manager = manager_of(steps)
    damage(steps / "3" / name)
    assert manager_of(steps).all_steps() == [1, 2] and manager_of(steps).latest() == 2
    (warning,) = {record.getMessage() for record in caplog.records if record.levelname == "WARNING"}
    assert warning.startswith(f"CheckpointManager: step 3 is damaged and not used: {steps}/3/{name} ")
    assert manager.all_steps() == [1, 2, 3] and restored(manager) == (2, 2) and manager.all_steps() == [1, 2] and (steps / "3").exists()
    damage(steps / "2" / name)
    with pytest.raises(RuntimeError, match=rf"nothing is left to restore: .*/2/{name} {said}"):
        restored(manager, 2)
    assert restored(manager, 1) == (1, 1)


def test_steps_without_their_metadata(steps, caplog):
    (steps / "2" / ".manager_metadata.json").unlink()
    (steps / "3" / ".manager_metadata.json").write_text('{"format": 1, "ste')
    (steps / "4").mkdir()
    manager = manager_of(steps)
    assert manager.all_steps() == [1]
    assert f"{steps}/2/.manager_metadata.json is not there" in caplog.text
    assert f"{steps}/3/.manager_metadata.json cannot be read: JSONDecodeError" in caplog.text
    with pytest.raises(AssertionError, match=r"a step that was saved \(\[1\]\), but got 2"):
        restored(manager, 2)
    with pytest.raises(AssertionError, match=r"a step that was saved \(\[\]\), but got None"):
        restored(manager_of(steps / "nothing"))


#===-- Values ----------------------------------------------------------------===

def test_what_happens_next_changes_no_checkpoint(tmp_path, monkeypatch):
    """save_async() has copied everything when it returns: buffers that the next step donates, and lists that it appends to."""
    manager = manager_of(tmp_path, max_pending_async=4)
    x, history = torch.zeros(1000).to("xla"), {"losses": [], "on the CPU": torch.zeros(3)}
    for step in range(1, 5):
        x += 1
        torch_xla.sync()
        history["losses"].append(step)
        history["on the CPU"] += 1
        manager.save_async(step, {"x": x, "history": history})
    manager.join()
    for step in range(1, 5):
        state = {"x": torch.zeros(1000), "history": {"losses": None, "on the CPU": torch.zeros(3)}}
        manager.restore(step, state)
        assert set(state["x"].tolist()) == {step} and state["history"]["on the CPU"][0] == step
        assert state["history"]["losses"] == list(range(1, step + 1))


def test_torch_reads_what_the_manager_writes(steps):
    dcp.load(state := state_of(0), checkpoint_id=steps / "2")
    assert state["note"] == 2 and set(state["x"].tolist()) == {2}
    known = json.loads((steps / "2" / ".manager_metadata.json").read_text())
    assert known["step"] == 2 and sorted(known["files"]) == [".metadata", "__0_0.distcp"]
    assert known["files"]["__0_0.distcp"]["bytes"] == (steps / "2" / "__0_0.distcp").stat().st_size


def pickled(instance, step):
    """What PyTorch/XLA's manager leaves: a pickle of this class, under its name there."""
    cls = type("_CheckpointMetadata", (), {"__module__": "torch_xla.experimental.distributed_checkpoint.manager"})
    module = sys.modules[cls.__module__]
    value = cls()
    value.__dict__.update(step=step, ts=instance)
    module._CheckpointMetadata = cls
    try:
        return pickle.dumps(value)
    finally:
        del module._CheckpointMetadata


class Evil:
    def __reduce__(self):
        return os.system, ("touch executed",)


def test_pickled_metadata(tmp_path, monkeypatch, caplog):
    """Of PyTorch/XLA: a step and a time; nothing else is made of it."""
    monkeypatch.chdir(tmp_path)
    now = datetime.datetime.now()
    for number, content in enumerate([pickled(now, 0), pickle.dumps(Evil()), pickle.dumps(types.SimpleNamespace()), b"no pickle", pickled("today", 4),
                                      pickled(now - datetime.timedelta(hours=1), 5), pickled(now, 6)]):
        dcp.save(state_of(number), checkpoint_id=tmp_path / "run" / str(number))
        (tmp_path / "run" / str(number) / ".manager_metadata").write_bytes(content)
    (tmp_path / "run" / "6" / ".metadata").unlink()
    manager = manager_of(tmp_path / "run", max_to_keep=2)
    assert manager.all_steps() == [0, 5] and restored(manager) == (5, 5) and not (tmp_path / "executed").exists()
    assert "run/1/.manager_metadata cannot be read: UnpicklingError: posix.system is not what a checkpoint manager writes" in caplog.text
    assert "step 6 is damaged" in caplog.text
    manager.save(7, state_of(7))
    assert manager.all_steps() == [0, 7]  # the one written first went first


def rewrite(folder, name, content):
    """Gives a file another content, and the metadata its size and checksum, as who makes a checkpoint can."""
    (folder / name).write_bytes(content)
    known = json.loads((folder / ".manager_metadata.json").read_text())
    known["files"][name] = {"bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}
    (folder / ".manager_metadata.json").write_text(json.dumps(known))


def cause_of(caught):
    """The type and the text of an exception, or of what it has of rank 0."""
    error = caught.value.failures[0][0] if isinstance(caught.value, CheckpointException) else caught.value
    return type(error), str(error)


@pytest.mark.parametrize("place", ["all", "planner_data", "offset"])
def test_metadata_that_would_execute(place, steps, monkeypatch):
    """What is where in a checkpoint is read without calling anything but its own classes."""
    monkeypatch.chdir(steps)
    with open(steps / "3" / ".metadata", "rb") as file:
        content = pickle.load(file)
    if place == "planner_data":
        content.planner_data["x"] = (Evil(),)
    elif place == "offset":
        next(iter(content.storage_data.values())).offset = Evil()
    rewrite(steps / "3", ".metadata", pickle.dumps(Evil() if place == "all" else content))
    manager = manager_of(steps)
    assert manager.all_steps() == [1, 2, 3]
    said = f"{steps}/3/.metadata: posix.system is not what torch.distributed.checkpoint into .metadata writes"
    with pytest.raises(CheckpointException) as caught:
        manager.restore(3, state_of(0))
    assert said in cause_of(caught)[1]
    with pytest.raises(CheckpointException) as caught:
        dcp.load(state_of(0), storage_reader=StepReader(steps / "3"), planner=SPMDLoadPlanner())
    assert said in cause_of(caught)[1]
    assert not (steps / "executed").exists() and restored(manager, 2) == (2, 2)


def test_other_pickles_for_metadata(steps):
    rewrite(steps / "3", ".metadata", pickle.dumps([1]))
    with pytest.raises(CheckpointException) as caught:
        manager_of(steps).restore(3, state_of(0))
    assert f"{steps}/3/.metadata: expects torch.distributed.checkpoint's Metadata, but got list" in cause_of(caught)[1]
    state = state_of(0)
    dcp.load(state, storage_reader=StepReader(steps / "1"), checkpoint_id=steps / "2")
    assert state["note"] == 2


def test_values_that_are_no_tensors(tmp_path, monkeypatch):
    """Those of Python, NumPy, pathlib and datetime come back; what would execute anything is named, and made where it is trusted."""
    monkeypatch.chdir(tmp_path)
    plain = {"rate": np.float64(0.1), "seen": np.arange(3), "names": np.array(["a"]), "when": datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc),
             "took": datetime.timedelta(3), "where": pathlib.Path("/data"), "size": torch.Size([2]), "set": {1}, "texts": ["a", b"b", None, 1.5, 2j]}
    manager = manager_of(tmp_path / "run")
    manager.save(1, plain)
    manager.save(2, {"x": torch.ones(2), "evil": Evil()})
    back = dict.fromkeys(plain)
    manager.restore(1, back)
    assert back.pop("seen").tolist() == [0, 1, 2] and back.pop("where") == pathlib.PurePath("/data") and back == {name: plain[name] for name in back}
    with pytest.raises(CheckpointException) as caught:
        manager.restore(2, {"x": torch.zeros(2), "evil": None})
    kind, text = cause_of(caught)
    assert kind is pickle.UnpicklingError and text.startswith("evil: reading it would call posix.system, which may be anything."), text
    assert not (tmp_path / "executed").exists()
    manager.restore(2, state := {"x": torch.zeros(2), "evil": None}, weights_only=False)
    assert (tmp_path / "executed").exists() and state["evil"] == 0 and state["x"].tolist() == [1, 1]


def test_urls(tmp_path, caplog):
    """What fsspec knows; file:// is a folder."""
    folder = f"memory://{tmp_path.name}/run"
    manager = manager_of(folder, max_to_keep=2)
    assert all(manager.save_async(step, state_of(step)) for step in (1, 2, 3)) and manager.all_steps() == [2, 3] and restored(manager) == (3, 3)
    assert manager.save(3, state_of(4)) and restored(manager) == (3, 4)
    files = storage.files_of(folder)
    files.remove(f"{folder}/3/.metadata")
    assert restored(manager_of(folder)) == (2, 2) and f"{folder}/3/.metadata is not there" in caplog.text
    assert sorted(files.names(folder)) == ["2", "3"]
    assert manager_of(f"file://{tmp_path}/here").save(1, state_of(1)) and os.listdir(tmp_path / "here") == ["1"]
    assert isinstance(storage.files_of("relative/path"), storage.LocalFiles)


#===-- Several processes -----------------------------------------------------===

@pytest.fixture(scope="module")
def of_two(tmp_path_factory):
    """What two processes do one thing after the other, and the folder where."""
    folder, names = tmp_path_factory.mktemp("two"), ["saves", "fails", "damaged", "told"]
    results = results_of(start(names, 2, programs=PROGRAMS, FOLDER=str(folder)))
    return {name: [result[number] for result in results] for number, name in enumerate(names)}, folder


def sizes(folder, processes):
    return [(folder / "saves" / "4" / f"__{rank}_0.distcp").stat().st_size for rank in range(processes)]


def test_replicas_are_written_once(of_two):
    """By the first process; one loads them."""
    results, folder = of_two
    assert results["saves"] == [results["saves"][0]] * 2 and sizes(folder, 2)[1] < 2000 < sizes(folder, 2)[0]
    assert loads(folder / "saves") == results["saves"][0]


@LONG
@pytest.mark.parametrize("processes", [4, 2])
def test_replicas_of_four_processes(processes, tmp_path):
    saved = results_of(start(["saves"], 4, programs=PROGRAMS, FOLDER=str(tmp_path)))
    assert saved == [saved[0]] * 4 and max(sizes(tmp_path, 4)[1:]) < 2000
    assert results_of(start(["loads"], processes, programs=PROGRAMS, FOLDER=str(tmp_path))) == [saved[0]] * processes


def test_an_error_in_one_process_is_raised_by_all(of_two):
    results, folder = of_two
    first, second = results["fails"]
    assert first == second and [type(said) for said in first] == [str, str, bool, type(None), str] * 2
    for text in filter(lambda said: isinstance(said, str), first):
        assert "(RANK 1)" in text and "(RANK 0)" not in text
        assert re.search(rf"OSError: \[Errno 27\] File too large: '{folder}/fails/\w+/\d.tmp-\w+/__1_0.distcp'", text), text


def test_told_to_end(of_two):
    """One step of all, although not all are told before the same."""
    assert of_two[0]["told"] == [[[[3, True]], [3]]] * 2


def test_damage_is_found_together(of_two):
    assert of_two[0]["damaged"] == [[[1, 2], 2, [1, 2], [2.0] * 8]] * 2
