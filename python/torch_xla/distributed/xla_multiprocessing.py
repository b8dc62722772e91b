# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.xla_multiprocessing (xmp): starts the processes of a program on this host, one replica each."""
import contextlib
import fcntl
import hashlib
import multiprocessing.process
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch.multiprocessing as mp

from .. import _load, _world

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def _wanted(nprocs: int | None) -> int:
    """How many processes: `nprocs`, else as many as CPU_NUM_DEVICES says."""
    devices = int(os.environ.get("CPU_NUM_DEVICES") or "1")
    if nprocs is None:
        return devices
    if not isinstance(nprocs, int) or nprocs < 1:
        raise ValueError(f"xmp.spawn: expects nprocs to be None or the number of processes, but got {nprocs!r}")
    if nprocs not in (1, devices) and "CPU_NUM_DEVICES" in os.environ:
        raise ValueError(f"xmp.spawn with nprocs={nprocs}: CPU_NUM_DEVICES={devices} asks for {devices} processes; use nprocs=None, or unset it")
    return nprocs


@contextlib.contextmanager
def _environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _in_child(index: int, fn: Callable, args: tuple, count: int) -> None:
    """What a process runs."""
    os.environ["PJRT_LOCAL_PROCESS_RANK"] = str(index)
    os.environ["LOCAL_RANK"] = str(index)  # accelerate reads it
    _world.note_place()
    if _XLAC._has_started():
        raise RuntimeError(f"process {index} of {count} has used the device before xmp.spawn's function began: a module that it imports makes "
                           "tensors on it; put that under `if __name__ == '__main__':`, or into the function")
    fn(index, *args)


class _Folder:
    """Of a job. Who reads the store there can reach the processes: only the user has access. It is locked as long as this process lives: those of
    processes that were killed are removed by the next ones."""
    _PREFIX = "millrace-job-"

    def __init__(self) -> None:
        self._sweep()
        self.path = tempfile.mkdtemp(prefix=self._PREFIX)
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def _sweep(self) -> None:
        for entry in os.scandir(tempfile.gettempdir()):
            with contextlib.suppress(OSError):  # the file is another user's, or another process has just removed it
                if not entry.name.startswith(self._PREFIX) or time.time() - entry.stat(follow_symlinks=False).st_mtime < 60:
                    continue
                descriptor = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    if os.fstat(descriptor).st_uid == os.getuid():
                        shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(descriptor)

    def remove(self) -> None:
        """With all that is in it."""
        if self._descriptor >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._descriptor)
            self._descriptor = -1


class _Children(mp.ProcessContext):
    """mp.ProcessContext, which removes the folder of the job when all have ended."""

    def __init__(self, processes: list, errors: list, folder: _Folder):
        super().__init__(processes, errors)
        self._folder = folder

    def join(self, timeout: float | None = None, grace_period: float | None = 2) -> bool:
        """Waits for the processes. The first one that fails ends the others, and its traceback is raised here. True: all have ended."""
        try:
            all_ended = super().join(timeout, grace_period)
        except BaseException:
            self._folder.remove()
            raise
        if all_ended:
            self._folder.remove()
        return all_ended


def spawn(fn: Callable, args: tuple = (), nprocs: int | None = None, join: bool = True, daemon: bool = False,
          start_method: str = "spawn") -> Any:
    """Runs fn(ordinal, *args) in several processes of this host, each of which is one replica with one device.

    OMP_NUM_THREADS, unless it is set, divides the processors among them.

    Args:
      fn: A function that another process can import.
      args: Its arguments after the ordinal.
      nprocs: The number of processes, CPU_NUM_DEVICES by default. With 1, fn runs in this process.
      join: Whether to wait for all.
      daemon: Whether the processes end with this one.
      start_method: "spawn", "forkserver" or "fork".

    Returns:
      With one process, what fn returns. Otherwise None, or without `join` a torch.multiprocessing.ProcessContext, whose join() waits.

    Raises:
      RuntimeError: The processes were started already; the file that starts them does so again when it is imported; or "fork" after the first use of
        the device.
      torch.multiprocessing.ProcessRaisedException: A process raised this first, with its rank and traceback; the others were ended.
      torch.multiprocessing.ProcessExitedException: A process was killed; the others were ended.
    """
    if getattr(multiprocessing.process.current_process(), "_inheriting", False):
        raise RuntimeError("xmp.spawn is called by a process that xmp.spawn has just started: each runs the program's file once to find the function there, with "
                           "another __name__; put the call under `if __name__ == '__main__':`")
    count = _wanted(nprocs)
    if count == 1:
        return fn(0, *args)
    if _world.process_count() > 1:
        raise RuntimeError(f"xmp.spawn in process {_world.process_index()} of {_world.process_count()}: they were started already, by torchrun or another xmp.spawn")
    if start_method == "fork" and _XLAC._has_started():
        raise RuntimeError("Runtime is already initialized. Do not use the XLA device before calling xmp.spawn.")
    folder = _Folder()
    variables = {"PJRT_LOCAL_PROCESS_COUNT": str(count), "MILLRACE_STORE": os.path.join(folder.path, "store"), "CPU_NUM_DEVICES": "1"}
    if "OMP_NUM_THREADS" not in os.environ:
        variables["OMP_NUM_THREADS"] = str(max(1, len(os.sched_getaffinity(0)) // count))
    try:
        with _environment(**variables):
            started = mp.start_processes(_in_child, args=(fn, args, count), nprocs=count, join=False, daemon=daemon, start_method=start_method)
    except BaseException:
        folder.remove()
        raise
    children = _Children(started.processes, started.error_files, folder)
    if not join:
        return children
    while not children.join():
        pass
    return None


def _lock_file() -> str:
    """One file per job and host, for those who take turns."""
    job = os.environ.get("MILLRACE_STORE") or "/".join(os.environ.get(name, "") for name in ("TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"))
    name = hashlib.sha256(f"{os.getuid()} {job}".encode()).hexdigest()[:16]
    return os.path.join(os.path.dirname(job) if os.environ.get("MILLRACE_STORE") else tempfile.gettempdir(), f"millrace-turn-{name}")


@contextlib.contextmanager
def _turn() -> Iterator[None]:
    """Held by one process of this host at a time."""
    if _world.local_size() == 1:
        yield
        return
    flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    path = _lock_file()
    while True:
        descriptor = os.open(path, flags, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False)):
                break
        os.close(descriptor)  # the last holder has removed the file: the next processes use a new one
    try:
        yield
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        os.close(descriptor)


class MpModelWrapper:
    """Holds a model for the functions of xmp.spawn(); the processes of a host move it to their devices one after the other.

    The host has few copies at a time therefore. With start_method="fork" all processes share the memory of the model that was made before.

    Args:
      model: The module.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    def to(self, device: Any) -> Any:
        """Moves the model to a device, after the processes of this host that called it before.

        Args:
          device: The device.

        Returns:
          The model.
        """
        with _turn():
            return self._model.to(device)


class MpSerialExecutor:
    """Runs a function in the processes of a host one after the other, for example a download that only the first one has to do."""

    def run(self, fn: Callable) -> Any:
        """Calls a function, after the processes of this host that called it before, and returns its result.

        Args:
          fn: A function without parameters.
        """
        with _turn():
            return fn()


def create_optimized_replica_groups() -> None:
    """Returns groups of replicas with fast connections: None, for all connections are alike."""
    return None
