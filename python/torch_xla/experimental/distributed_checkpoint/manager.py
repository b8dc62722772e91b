# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A folder of checkpoints, one for each step that was saved."""
import concurrent.futures
import dataclasses
import datetime
import logging
import os
import pickle
import threading

import fsspec
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from fsspec.core import url_to_fs
from torch.distributed.checkpoint._fsspec_filesystem import FsspecReader, FsspecWriter

import torch_xla
from ... import runtime as xr
from ...core import xla_model as xm
from ._helpers import _sharded_cpu_state_dict
from .planners import SPMDLoadPlanner, SPMDSavePlanner

_MANAGER_METADATA_FILE = ".manager_metadata"


@dataclasses.dataclass
class _CheckpointMetadata:
    """Which step a checkpoint is of, and when it was complete."""
    step: int
    ts: datetime.datetime


class CheckpointManager:
    """Checkpoints of a training run under `path`, anything that fsspec can write to, in folders named by their steps.

    Call save() or save_async() in every step, of every process: it writes when the step is a multiple of `save_interval`, and when the
    process has been told to end (SIGTERM), unless `chkpt_on_preemption` is False. `max_to_keep`: how many checkpoints stay (0: all); the
    one that was written first goes first. `max_pending_async`: how many may wait to be written before save_async() blocks.
    `num_of_threads` write files. `process_group`: who saves together, by default a new group of all; one must have been initialized.

        manager = CheckpointManager("/data/run", save_interval=100)
        if manager.all_steps():
            prime_optimizer(optimizer)
            state = {"model": model.state_dict(), "optim": optimizer.state_dict()}
            manager.restore(max(manager.all_steps()), state)
            optimizer.load_state_dict(state["optim"])
    """

    def __init__(self, path, save_interval, max_to_keep=0, max_pending_async=1, num_of_threads=1, process_group=None, chkpt_on_preemption=True):
        for wrong, message in [(not dist.is_initialized(), "expects torch.distributed to be initialized (init_process_group)"),
                               (save_interval <= 0, f"expects save_interval to be positive, but got {save_interval}"),
                               (max_pending_async <= 0, f"expects max_pending_async to be positive, but got {max_pending_async}"),
                               (max_to_keep < 0, f"expects max_to_keep not to be negative, but got {max_to_keep}")]:
            assert not wrong, f"CheckpointManager: {message}"
        self.base_path = os.path.join(path, "")
        self.save_interval, self.max_to_keep, self.num_of_threads = save_interval, max_to_keep, num_of_threads
        self.chkpt_on_preemption = chkpt_on_preemption
        self.pg = process_group or dist.new_group()
        # Answers of reached_preemption() must not get among the messages of a save in the background.
        self._pg_of_steps = dist.new_group(dist.get_process_group_ranks(self.pg), use_local_synchronization=True) if chkpt_on_preemption else None
        self._worker = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        self._room = threading.Semaphore(max_pending_async)
        self._pending = []
        self._saving = threading.Lock()
        self._tracked = self._find()
        if chkpt_on_preemption:
            torch_xla._XLAC._ensure_xla_coordinator_initialized(xr.process_index(), xr.process_count(), xr.get_master_ip())
            torch_xla._XLAC._activate_preemption_sync_manager()

    def _find(self):
        """What an earlier run has left, the oldest first."""
        files, folder = url_to_fs(self.base_path)
        files.makedirs(folder, exist_ok=True)
        found, other = [], []
        for each in files.ls(folder, detail=False):
            try:
                with files.open(os.path.join(each, _MANAGER_METADATA_FILE), "rb") as file:
                    found.append(pickle.load(file))
            except (OSError, EOFError, pickle.UnpicklingError):
                other.append(each)
        if other:
            logging.warning("CheckpointManager: no complete checkpoints, ignored: %s", ", ".join(map(str, other)))
        return sorted(found, key=lambda known: known.ts)

    def _get_path(self, step):
        return os.path.join(self.base_path, str(step))

    def _remove(self, step):
        """By one process; afterwards it is gone for all."""
        if dist.get_rank(self.pg) == 0:
            files, folder = url_to_fs(self._get_path(step))
            if files.exists(folder):
                files.rm(folder, recursive=True)
        dist.barrier(self.pg)

    def _save(self, step, state_dict):
        """Writes; one at a time. The folder counts as a checkpoint when its last file is there."""
        with self._saving:
            path = self._get_path(step)
            self._remove(step)
            self._tracked = [known for known in self._tracked if known.step != step]
            writer = FsspecWriter(path, thread_count=self.num_of_threads, per_thread_copy_ahead=0)
            dcp.save(state_dict, storage_writer=writer, planner=SPMDSavePlanner(), process_group=self.pg)
            known = _CheckpointMetadata(step, datetime.datetime.now())
            if dist.get_rank(self.pg) == 0:
                with fsspec.open(os.path.join(path, _MANAGER_METADATA_FILE), "wb") as file:
                    pickle.dump(known, file)
            dist.barrier(self.pg)
            self._tracked.append(known)
            while 0 < self.max_to_keep < len(self._tracked):
                self._remove(self._tracked.pop(0).step)

    def should_save(self, step):
        """True if a checkpoint is due at this step."""
        due = step % self.save_interval == 0
        if self.chkpt_on_preemption and self.reached_preemption(step):
            logging.warning("CheckpointManager: told to end; the checkpoint of step %d is written now", step)
            due = True
        return due

    def save(self, step, state_dict, force=False):
        """Writes a checkpoint if one is due, or `force`; returns whether it did."""
        if not (self.should_save(step) or force):
            return False
        self._settle()
        self._save(step, state_dict)
        return True

    def save_async(self, step, state_dict, force=False):
        """As save(), but only copies the values to the CPU and returns; they are written in the background. An error while writing is
        raised by join()."""
        if not (self.should_save(step) or force):
            return False
        self._settle()
        copy = _sharded_cpu_state_dict(state_dict)
        self._room.acquire()
        future = self._worker.submit(self._save, step, copy)
        future.add_done_callback(lambda _: self._room.release())
        self._pending = [known for known in self._pending if not known.done() or known.exception()] + [future]
        return True

    def restore(self, step, state_dict):
        """Loads a step of all_steps() into the dict, whose tensors change in place."""
        assert step in self.all_steps(), f"CheckpointManager: expects a step that was saved ({self.all_steps()}), but got {step}"
        dcp.load(state_dict, storage_reader=FsspecReader(self._get_path(step)), planner=SPMDLoadPlanner(), process_group=self.pg)

    def all_steps(self):
        """Steps of which there are complete checkpoints, in order."""
        return sorted(known.step for known in self._tracked)

    def join(self):
        """Waits until everything is written."""
        pending, self._pending = self._pending, []
        concurrent.futures.wait(pending)
        for future in pending:
            future.result()

    def reached_preemption(self, step):
        """True if a process of the group has been told to end; all of them get the same answer."""
        assert self.chkpt_on_preemption, "CheckpointManager: expects chkpt_on_preemption=True to know whether the process is to end"
        reached = torch_xla._XLAC._sync_point_reached(step)
        if dist.get_world_size(self.pg) == 1:
            return reached
        flag = torch.tensor([int(reached)])
        dist.all_reduce(flag, dist.ReduceOp.MAX, group=self._pg_of_steps)
        return bool(flag.item())

    def _settle(self):
        torch_xla.sync()
        xm.wait_device_ops()
