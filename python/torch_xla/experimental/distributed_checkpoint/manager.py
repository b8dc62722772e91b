# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CheckpointManager, which keeps a folder with one checkpoint per saved step."""
import collections
import concurrent.futures
import contextlib
import datetime
import logging
import os
import re
import secrets

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.utils import _DistWrapper

import torch_xla
from ... import _preemption
from ... import runtime as xr
from ...core import xla_model as xm
from . import catalog
from ._helpers import _sharded_cpu_state_dict
from .planners import SPMDLoadPlanner, SPMDSavePlanner
from .storage import StepReader, StepWriter, files_of


class CheckpointManager:
    """Checkpoints of a training run under `path`, in folders named by their steps.

    Call save() or save_async() in every step, in every process: it writes when the step is a multiple of `save_interval`, and when a process has been
    told to end (SIGTERM), unless `chkpt_on_preemption` is False. All processes call the constructor, and every method that does not say otherwise, in
    the same order and from one thread.

    `path` is a folder that all processes see. A step has its name when all files are on the disk, and no call returns before: whichever process is
    killed at whatever moment, and when power fails, the last step that was saved is there. Beside its files lie their sizes and checksums; a step of
    which a file is missing or damaged is left where it is, with a warning that names the file, and is not among all_steps(). The constructor reads
    all checkpoints for that, a share in each process. What killed processes have left is removed before the first save: one manager at a time writes
    into a folder, others may read there.

    `path` may also be a URL that fsspec can write to. There, a step may get its name file by file, and files are durable when the file system says
    so: a process that is killed may leave a step of which files are missing, which is found by its checksums and not used.

    An unsharded tensor has the same value in all processes, and rank 0 writes it; of a sharded one each process writes what its devices hold. What
    differs between processes (the state of FSDP's shards, random numbers) needs a name of its own in each.

        manager = CheckpointManager("/data/run", save_interval=100)
        if manager.latest() is not None:
            prime_optimizer(optimizer)
            state = {"model": model.state_dict(), "optim": optimizer.state_dict()}
            manager.restore(None, state)
            optimizer.load_state_dict(state["optim"])

    What fails in one process while they work together is raised by all of them, as torch.distributed.checkpoint's CheckpointException, which has
    the error of each rank; errors of files name the path.

    Args:
      path: The folder or URL; file:// and local:// are removed.
      save_interval: The number of steps between two checkpoints.
      max_to_keep: The number of checkpoints that are kept, 0: all. The one that was written first is removed first, once the new one is valid.
      max_pending_async: The number of checkpoints that may wait to be written before save_async() blocks.
      num_of_threads: The number of threads that write files in each process.
      process_group: The processes that save together; None: all. torch.distributed must be initialized where there are several.
      chkpt_on_preemption: Whether a step is saved after SIGTERM.

    Raises:
      AssertionError: An argument is out of range, or torch.distributed is not initialized.
    """

    def __init__(self, path: str | os.PathLike, save_interval: int, max_to_keep: int = 0, max_pending_async: int = 1, num_of_threads: int = 1,
                 process_group: dist.ProcessGroup | None = None, chkpt_on_preemption: bool = True):
        works_alone = not dist.is_initialized() and xr.process_count() == 1
        for wrong, message in [(not dist.is_initialized() and not works_alone, "expects torch.distributed to be initialized (init_process_group)"),
                               (save_interval <= 0, f"expects save_interval to be positive, but got {save_interval}"),
                               (max_pending_async <= 0, f"expects max_pending_async to be positive, but got {max_pending_async}"),
                               (max_to_keep < 0, f"expects max_to_keep not to be negative, but got {max_to_keep}")]:
            assert not wrong, f"CheckpointManager: {message}"
        self.base_path = os.path.join(re.sub(r"^(file|local)://", "", os.fspath(path)), "")
        self.save_interval, self.max_to_keep, self.num_of_threads = save_interval, max_to_keep, num_of_threads
        self.max_pending_async, self.chkpt_on_preemption = max_pending_async, chkpt_on_preemption
        # There are two groups, so that messages of a save in the background do not mix with others.
        self.pg = self._pg_of_steps = None
        if not works_alone:
            ranks = dist.get_process_group_ranks(process_group or dist.group.WORLD)
            self.pg, self._pg_of_steps = (dist.new_group(ranks, backend="gloo", use_local_synchronization=True) for _ in range(2))
        self._all = _DistWrapper(self.pg, not works_alone, 0)
        self._worker = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        # These saves in the background have not been waited for yet; they are equal in all processes.
        self._pending: collections.deque[concurrent.futures.Future[None]] = collections.deque()
        self._last_step: int | None = None  # the step that all processes have agreed to save before they end
        self._asked_step: int | None = None  # the last one that reached_preemption() was asked about
        self._is_clean = False
        self._files = files_of(self.base_path)
        self._number = self._all.broadcast("begin", lambda: secrets.token_hex(4))
        self._tracked = self._find()
        if chkpt_on_preemption:
            _preemption.activate()

    def _warn(self, text):
        if self._all.is_coordinator:
            logging.warning("CheckpointManager: %s", text)

    def _path(self, step):
        return f"{self.base_path}{step}"

    #===-- What is there -------------------------------------------------------===

    def _find(self):
        """What an earlier run has left, the oldest first."""
        self._all.all_gather("make the folder", lambda: self._files.mkdir(self.base_path))
        found, unusable = self._all.broadcast("list the folder", lambda: catalog.find(self._files, self.base_path))
        for problem in unusable:
            self._warn(f"no complete checkpoint, ignored: {problem}")
        return [known for known in found if not self._damage(known)]

    def _damage(self, known):
        """What is wrong with the files of a checkpoint, as all processes see them together (each reads a share), or nothing; with a warning."""
        seen = self._all.all_gather("look at files", lambda: known.problems(self._files, (self._all.rank, self._all.get_world_size())))
        damage = "; ".join(sorted(set().union(*seen)))
        if damage:
            self._warn(f"step {known.step} is damaged and not used: {damage}")
        return damage

    def all_steps(self) -> list[int]:
        """Returns the steps of which there are valid checkpoints, in ascending order.

        Waits for those that are being written. One process may call it alone."""
        concurrent.futures.wait(self._pending)
        return sorted(known.step for known in self._tracked)

    def latest(self) -> int | None:
        """Returns the last of all_steps(), or None if there is none. One process may call it alone."""
        return max(self.all_steps(), default=None)

    def restore(self, step: int | None, state_dict: dict, weights_only: bool = True) -> int:
        """Loads a step into a state dict, after its files have been compared with their checksums.

        Nothing in the files is executed: values that are no tensors are numbers, texts and lists, or of NumPy, datetime and pathlib.

        Args:
          step: One of all_steps(); None: the last one that is not damaged, with a warning for each damaged one.
          state_dict: The dict, whose tensors change in place, however they are sharded.
          weights_only: False restores objects of any class, which executes what the files say: only for checkpoints whose writer is trusted.

        Returns:
          The step.

        Raises:
          AssertionError: There is no such step.
          RuntimeError: The step is damaged; the message names the file.
          CheckpointException: A process cannot load it; it has the error of each rank.
        """
        self.join()
        steps = self.all_steps()
        assert step in steps or step is None and steps, f"CheckpointManager: expects a step that was saved ({steps}), but got {step}"
        damages = []
        for known in sorted(self._tracked, key=lambda known: known.step, reverse=True):
            if step not in (None, known.step):
                continue
            damage = self._damage(known)
            if not damage:
                dcp.load(state_dict, storage_reader=StepReader(known.folder), planner=SPMDLoadPlanner(weights_only), process_group=self.pg)
                return known.step
            self._tracked.remove(known)
            damages.append(damage)
        raise RuntimeError(f"CheckpointManager: nothing is left to restore: {'; '.join(damages)}")

    #===-- Saving --------------------------------------------------------------===

    def _prepare(self, folder):
        if not self._is_clean:
            catalog.clean(self._files, self.base_path)
            self._is_clean = True
        self._files.mkdir(folder)

    def _publish(self, step, folder, contents):
        """Of rank 0: gives a folder that is complete its name."""
        final, replaced = self._path(step), f"{self._path(step)}.old"
        written = catalog.Checkpoint(step, datetime.datetime.now(datetime.timezone.utc), folder, contents)
        problems = written.problems(self._files, share=None)
        if problems:
            raise OSError(f"the files that the processes have written are missing: expects a folder that all processes see, but {'; '.join(problems)}")
        catalog.describe(self._files, written)
        self._files.sync(folder)
        is_replaced = self._files.exists(final)
        if is_replaced:
            if self._files.exists(replaced):
                self._files.remove(replaced)
            self._files.rename(final, replaced)
        try:
            self._files.rename(folder, final)
        except BaseException:
            if is_replaced:
                self._files.rename(replaced, final)
            raise
        self._files.sync(self.base_path)
        return catalog.Checkpoint(step, written.time, final, contents)

    def _write(self, step, state_dict):
        """Writes a checkpoint with the other processes. They meet before and after it gets its name: when one returns it is valid, and when one
        fails all do."""
        folder = f"{self._path(step)}.tmp-{self._number}"
        try:
            self._all.broadcast("make a folder", lambda: self._prepare(folder))
            writer = StepWriter(folder, self.num_of_threads)
            dcp.save(state_dict, storage_writer=writer, planner=SPMDSavePlanner(), process_group=self.pg)
            written = self._all.all_gather("list files", lambda: writer.fs.written)
            known = self._all.broadcast("name the step", lambda: self._publish(step, folder, dict(collections.ChainMap(*written))))
        except BaseException:
            if self._all.is_coordinator:
                with contextlib.suppress(Exception):
                    self._files.remove(folder)
            raise
        kept = [each for each in self._tracked if each.step != step] + [known]
        surplus = max(len(kept) - self.max_to_keep, 0) if self.max_to_keep else 0
        self._tracked = kept[surplus:]
        if self._all.is_coordinator:
            self._remove([f"{self._path(step)}.old", *(each.folder for each in kept[:surplus])])

    def _remove(self, folders):
        """Of rank 0."""
        for folder in folders:
            try:
                if self._files.exists(folder):
                    self._files.remove(folder)
            except Exception as error:  # any file system may raise; the step is valid all the same
                self._warn(f"{folder} cannot be removed: {error}")

    def _meet(self):
        """True if a process has been told to end. Raises the error of a save in the background as soon as one process has it. All get the same."""
        told = self.chkpt_on_preemption and _preemption.is_told()
        seen = [told, any(each.done() and each.exception() for each in self._pending), not all(each.done() for each in self._pending)]
        if self._pg_of_steps:
            flags = torch.tensor([int(each) for each in seen])
            dist.all_reduce(flags, dist.ReduceOp.MAX, group=self._pg_of_steps)
            seen = flags.tolist()
        told, has_failed, is_busy = seen
        if has_failed or not is_busy:
            self.join()
        return bool(told)

    def should_save(self, step: int) -> bool:
        """Returns whether save() would write a checkpoint.

        Args:
          step: The number of the step.

        Raises:
          Exception: A checkpoint of save_async() could not be written.
        """
        if self.chkpt_on_preemption and self.reached_preemption(step):
            self._warn(f"a process has received SIGTERM; the checkpoint of step {step} is written now")
            return True
        if self._pending and not self.chkpt_on_preemption:
            self._meet()
        return step % self.save_interval == 0

    def save(self, step: int, state_dict: dict, force: bool = False) -> bool:
        """Writes a checkpoint if one is due, and returns when it is valid and on the disk. A step that exists is replaced.

        Args:
          step: The number of the step.
          state_dict: The values, in dicts and lists of any depth.
          force: Whether it is written in any case.

        Returns:
          Whether a checkpoint was written.

        Raises:
          CheckpointException: A process could not write; the older checkpoints are as they were.
        """
        if not (self.should_save(step) or force):
            return False
        self.join()
        self._settle()
        self._write(step, state_dict)
        return True

    def save_async(self, step: int, state_dict: dict, force: bool = False) -> bool:
        """Copies the values to the CPU if a checkpoint is due, and returns; a thread of each process writes them in the background.

        Args:
          step: The number of the step.
          state_dict: The values, in dicts and lists of any depth; they may change after the call.
          force: Whether it is written in any case.

        Returns:
          Whether a checkpoint will be written.

        Raises:
          Exception: An earlier checkpoint could not be written. All processes raise it, in the next call of save(), save_async(), should_save(),
            restore() or join().
        """
        if not (self.should_save(step) or force):
            return False
        while len(self._pending) >= self.max_pending_async:
            self._pending.popleft().result()
        self._settle()
        future = self._worker.submit(self._write, step, _sharded_cpu_state_dict(state_dict))
        future.add_done_callback(lambda done: done.exception() and self._warn(f"step {step} was not saved: {done.exception()}"))
        self._pending.append(future)
        return True

    def join(self) -> None:
        """Waits until everything is written. Call it before the process ends.

        Raises:
          Exception: The first error of save_async() that no call has raised yet.
        """
        while self._pending:
            self._pending.popleft().result()

    def reached_preemption(self, step: int) -> bool:
        """Returns whether this is the step to save before the processes end; all processes get the same answer.

        It is True for one step, the first that is asked about after a process of the group has been told to end, and stays the same for a step.
        save() and save_async() ask, too, so that a step for which this is True after them is saved.

        Args:
          step: The number of the step.

        Raises:
          AssertionError: `chkpt_on_preemption` is False.
        """
        assert self.chkpt_on_preemption, "CheckpointManager: expects chkpt_on_preemption=True to know whether the process is to end"
        if step != self._asked_step:
            self._asked_step = step
            if self._meet() and self._last_step is None:
                self._last_step = step
        return step == self._last_step

    def _settle(self):
        torch_xla.sync()
        xm.wait_device_ops()
