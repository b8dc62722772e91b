# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jobs that are killed while they save: `python checkpoint_kills.py FOLDER MOMENTS SEED`. Each job restores what the one before has left, checks
it, and saves until one of its processes (or all) is killed with SIGKILL: before the n-th thing that it does with files, or after some time. Prints as
JSON how many were killed, which steps were there, and what was wrong."""
import json
import os
import pathlib
import random
import signal
import sys
import time
import traceback

import torch
import torch.distributed as dist
from torch_xla.experimental.distributed_checkpoint import CheckpointManager

PROCESSES = 2
STEPS = 6  # of a job that nobody kills
OPERATIONS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir"}


def state_of(step):
    """Two tensors and a number that say which step they are of. The second is large enough for a file to be written in pieces."""
    return {"small": torch.full((5,), float(step)), "large": torch.full((1 << 18,), float(step)), "note": [step]}


def kill_before(operation):
    """Ends the process before the n-th operation from now on."""
    left = [operation]

    def count(event, arguments):
        if event in OPERATIONS:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(count)


def returned(folder):
    """The last step that a call of save() has returned from in any process."""
    return max((int(step) for path in folder.glob("returned.*") for step in path.read_text().split()), default=0)


def work(folder, job, rank, operation):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet.{job}", rank=rank, world_size=PROCESSES)
    manager = CheckpointManager(folder / "run", save_interval=1, max_to_keep=2, chkpt_on_preemption=False)
    last, state = manager.latest() or 0, state_of(-1)
    assert last >= returned(folder), f"step {returned(folder)} was saved, but only {manager.all_steps()} are there"
    if last:
        assert manager.restore(None, state) == last
        expected = state_of(last)
        assert all(torch.equal(state[name], expected[name]) for name in ("small", "large")) and state["note"] == [last], state
    (folder / f"started.{job}.{rank}").touch()
    if operation:
        kill_before(operation)
    with open(folder / f"returned.{rank}", "a", buffering=1) as file:
        for step in range(last + 1, last + STEPS + 1):
            for save in (manager.save, manager.save_async) if step % 3 == 0 else (manager.save_async if step % 3 == 1 else manager.save,):
                save(step, state_of(step))
                manager.join()
                file.write(f"{step}\n")
    dist.destroy_process_group()


def fork(folder, job, rank, operation):
    pid = os.fork()
    if pid:
        return pid
    try:
        os.dup2(os.open(folder / f"errors.{job}.{rank}", os.O_WRONLY | os.O_CREAT), 2)
        work(folder, job, rank, operation)
        os._exit(0)
    except AssertionError:
        traceback.print_exc()
        os._exit(2)
    except BaseException:  # another process was killed
        traceback.print_exc()
        os._exit(1)


def wait(pids, seconds):
    """{pid: status} of those that end in time."""
    ended, end = {}, time.monotonic() + seconds
    while len(ended) < len(pids) and time.monotonic() < end:
        for pid in set(pids) - set(ended):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                ended[pid] = status
        time.sleep(0.005)
    return ended


def main(folder, moments, seed):
    draw, killed, wrong, job = random.Random(seed), 0, [], 0
    while killed < moments and not wrong:
        job += 1
        victim, operation = draw.randrange(PROCESSES), draw.choice([0, draw.randint(1, 200)])
        pids = [fork(folder, job, rank, operation if rank == victim else 0) for rank in range(PROCESSES)]
        ended = {}
        if not operation:
            while len(list(folder.glob(f"started.{job}.*"))) < PROCESSES and not ended:
                ended = wait(pids, 0.01)
            time.sleep(draw.uniform(0, 0.5))
            victims = pids if draw.random() < 0.3 else [pids[victim]]
            for pid in victims:
                if pid not in ended:
                    os.kill(pid, signal.SIGKILL)
        ended |= wait([pid for pid in pids if pid not in ended], 30)
        wrong += [f"job {job}: process {rank} hangs" for rank, pid in enumerate(pids) if pid not in ended]
        for pid in set(pids) - set(ended):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        wrong += [f"job {job}: {(folder / f'errors.{job}.{rank}').read_text()[-2000:]}" for rank, pid in enumerate(pids)
                  if os.WIFEXITED(ended.get(pid, 0)) and os.WEXITSTATUS(ended.get(pid, 0)) == 2]
        killed += any(os.WIFSIGNALED(status) for status in ended.values())
    # The last job is left alone, and leaves nothing but two steps.
    pids = [fork(folder, job + 1, rank, 0) for rank in range(PROCESSES)]
    statuses = wait(pids, 60)
    if sorted(statuses.values()) != [0] * PROCESSES:
        wrong.append((folder / f"errors.{job + 1}.0").read_text()[-2000:])
    print(json.dumps({"killed": killed, "jobs": job, "last": returned(folder), "left": sorted(os.listdir(folder / "run")), "wrong": wrong}))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
