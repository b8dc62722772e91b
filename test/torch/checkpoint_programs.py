# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What test_checkpoint_manager.py runs in several processes that are replicas, with the folder that the environment names: `python
checkpoint_programs.py NAME...`. The last line of the output is what the functions return, as JSON."""
import hashlib
import json
import os
import pathlib
import resource
import signal
import sys

import torch
import torch.distributed as dist
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend
import torch_xla.runtime as xr
from torch.distributed.checkpoint import CheckpointException
from torch_xla.experimental.distributed_checkpoint import CheckpointManager, prime_optimizer


def digests(values):
    return [hashlib.sha256(value.detach().cpu().numpy().tobytes()).hexdigest()[:16] for value in values]


def training(seed):
    torch.manual_seed(seed)
    net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Linear(8, 4)).to("xla")
    return net, torch.optim.AdamW(net.parameters(), lr=0.1)


def train(net, optimizer):
    optimizer.zero_grad()
    net(torch.full((2, 6), 1.0 + xr.global_ordinal()).to("xla")).square().sum().backward()
    xm.optimizer_step(optimizer)
    torch_xla.sync()


def state_of(net, optimizer, step):
    own = {f"draws of {xr.global_ordinal()}": torch.full((3,), xr.global_ordinal())}
    return {"net": net.state_dict(), "optim": optimizer.state_dict(), "step": step, **own}


def saves(folder):
    """Five steps, of which the second and fourth are saved while the next are made. What the fourth was, and the digests of what is written there."""
    manager = CheckpointManager(folder, save_interval=2, chkpt_on_preemption=False)
    net, optimizer = training(0)
    for step in range(1, 6):
        train(net, optimizer)
        manager.save_async(step, state_of(net, optimizer, step))
        if step == 4:
            saved = digests([*net.parameters(), *(state["exp_avg"] for state in optimizer.state.values())])
    manager.join()
    assert manager.all_steps() == [2, 4]
    return saved


def loads(folder):
    manager = CheckpointManager(folder, save_interval=2, chkpt_on_preemption=False)
    net, optimizer = training(1)
    state = state_of(net, prime_optimizer(optimizer), 0)
    assert manager.latest() == 4 and manager.restore(None, state) == 4 and state["step"] == 4
    optimizer.load_state_dict(state["optim"])
    assert state[f"draws of {xr.global_ordinal()}"].tolist() == [xr.global_ordinal()] * 3
    return digests([*net.parameters(), *(state["exp_avg"] for state in optimizer.state.values())])


def outcome_of(function):
    """What it returns, or the text of its error."""
    try:
        return function()
    except CheckpointException as error:
        return str(error)


def fails(folder):
    """Process 1 cannot write what it has; for each way to save, what the calls afterwards say, and what is there."""
    rank, seen = dist.get_rank(), []
    small, large = {"x": torch.zeros(8)}, {"x": torch.zeros(8), f"of {rank}": torch.zeros(1 << 16 if rank else 1)}
    for preemption in (False, True):
        manager = CheckpointManager(folder / str(preemption), save_interval=2, max_to_keep=1, max_pending_async=3, chkpt_on_preemption=preemption)
        assert manager.save(2, small)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, -1))
        seen.append(outcome_of(lambda: manager.save(4, large)))
        dist.barrier()
        assert manager.all_steps() == [2] and os.listdir(folder / str(preemption)) == ["2"]
        dist.barrier()  # process 0 makes the next folder only when both have looked
        assert manager.save_async(6, large)
        if rank:
            manager.all_steps()  # only this process has seen how it ended
        for number, call in enumerate((lambda: manager.save_async(7, small), lambda: manager.should_save(8), manager.join)):
            seen.append(outcome_of(call))
        assert manager.save_async(8, large)
        seen.append(outcome_of(manager.join))
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        assert manager.save(10, large) and manager.all_steps() == [10]
        dist.barrier()
        assert os.listdir(folder / str(preemption)) == ["10"]
    return seen


def told(folder):
    """Process 1 is told to end before step 3, process 0 before step 4; what was saved."""
    manager = CheckpointManager(folder, save_interval=100)
    saved = []
    for step in range(1, 7):
        if step == 4 - dist.get_rank():
            os.kill(os.getpid(), signal.SIGTERM)
        if manager.save_async(step, {"x": torch.tensor([step])}):
            saved.append([step, manager.reached_preemption(step)])
    manager.join()
    return [saved, manager.all_steps()]


def damaged(folder):
    """Process 1 finds that a file is short. What all have left."""
    manager = CheckpointManager(folder, save_interval=1, chkpt_on_preemption=False)
    state = {f"of {rank}": torch.zeros(8) for rank in range(4)}
    for step in (1, 2, 3):
        manager.save(step, {f"of {dist.get_rank()}": torch.full((8,), step)})
    if dist.get_rank() == 0:
        path = next(path for path in sorted((folder / "3").iterdir()) if path.name.startswith("__1"))
        content = bytearray(path.read_bytes())
        content[-40] ^= 1
        path.write_bytes(content)
    dist.barrier()
    found = CheckpointManager(folder, save_interval=1, chkpt_on_preemption=False).all_steps()
    return [found, manager.restore(None, {f"of {rank}": state[f"of {rank}"] for rank in range(2)}), manager.all_steps(), state["of 1"].tolist()]


if __name__ == "__main__":
    dist.init_process_group("xla", init_method="xla://")  # the manager makes groups of the CPU
    print(json.dumps([globals()[name](pathlib.Path(os.environ["FOLDER"]) / name.replace("loads", "saves")) for name in sys.argv[1:]]))
    dist.destroy_process_group()
