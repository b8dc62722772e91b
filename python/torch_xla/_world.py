# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The processes of the program: this one's place among them, and the store that they find each other through.

Whoever starts the processes says both in the environment: torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), xmp.spawn
(PJRT_LOCAL_PROCESS_RANK, PJRT_LOCAL_PROCESS_COUNT, MILLRACE_STORE), mpirun or srun. They connect at the first collective: a process that only computes by
itself waits for nobody."""
import atexit
import contextlib
import datetime
import hashlib
import os
import re
import sys
import threading
import time
import traceback

from . import _load, _replicas

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_lock = threading.Lock()
_meetings = [0]  # how often meet() was called
_job_store = []  # the store of torch.distributed that make_store() found, once it has


def process_index() -> int:
    """Index of this process among all."""
    return _XLAC._world()[0]


def process_count() -> int:
    """Processes of the program."""
    return _XLAC._world()[1]


def rank() -> int:
    """Index of this replica among all: each process is one, except under SPMD, where all of them are one together, and in data_parallel, where
    each of its threads is one."""
    if place := _replicas.current():
        return place[1]
    return 0 if _XLAC._spmd_partitions() else process_index()


def size() -> int:
    """Replicas of the program."""
    if place := _replicas.current():
        return len(place[0].devices)
    return 1 if _XLAC._spmd_partitions() else process_count()


def local_rank() -> int:
    """Index of this process among those of this host."""
    return _XLAC._world()[2]


def local_size() -> int:
    """Processes on this host."""
    return _XLAC._world()[3]


def of_process(file: str) -> str:
    """`file` in a world of one; FILE.RANK in any other."""
    return f"{file}.{process_index()}" if process_count() > 1 else file


for _query in (process_index, process_count, rank, size, local_rank, local_size):
    _query._dynamo_marked_constant = True  # as torch.compiler.assume_constant_result() has it, which imports Dynamo


class TextStore:
    """What the runtime needs of a store of torch.distributed: text under keys of its own."""

    def __init__(self, store):
        self._store = store

    def put(self, key: str, value: str) -> None:
        """Leaves a value for the other processes."""
        self._store.set(key, value)

    def get(self, key: str, seconds: float) -> str:
        """Waits for a value; an exception after so many seconds."""
        self._store.wait([key], datetime.timedelta(seconds=max(seconds, 0.001)))
        return self._store.get(key).decode()


    def try_get(self, key: str) -> str | None:
        """The value if it is there."""
        return self._store.get(key).decode() if self._store.check([key]) else None


def _seconds_to_connect() -> datetime.timedelta:
    return datetime.timedelta(seconds=float(os.environ.get("MILLRACE_COLLECTIVE_TIMEOUT") or 300))


def _port_of(job: str) -> int:
    """One below those that systems give away, the same in all processes of a job."""
    return 10000 + int(hashlib.sha256(job.encode()).hexdigest(), 16) % 20000


def _first_of(nodes: str) -> str:
    """The first of SLURM's list of hosts: "node[03-05,9],other" -> "node03"."""
    name, bracket, rest = re.match(r"([^,\[]*)(\[?)(.*)", nodes).groups()
    return name + re.match(r"\d+", rest)[0] if bracket else name


def _place_of_launcher() -> tuple[str | None, str | None]:
    """(host, port) of the first process, as mpirun or srun tells; (None, None) where none does."""
    uri, slurm = os.environ.get("OMPI_MCA_orte_hnp_uri"), os.environ.get("SLURM_STEP_NODELIST")
    if uri and "OMPI_COMM_WORLD_SIZE" in os.environ:
        is_here = os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == os.environ["OMPI_COMM_WORLD_SIZE"]
        addresses = re.findall(r"tcp4?://([\d.]+)", uri)
        return "localhost" if is_here or not addresses else addresses[0], str(_port_of(uri))
    if slurm and "SLURM_STEP_NUM_TASKS" in os.environ:
        return _first_of(slurm), str(_port_of("/".join(os.environ.get(name, "") for name in ("SLURM_JOB_ID", "SLURM_STEP_ID"))))
    return None, None


def _find_store():
    import torch.distributed as dist
    place = os.environ.get("MILLRACE_STORE")
    if place:
        return dist.FileStore(place, process_count())
    host, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    if not host and not port:
        host, port = _place_of_launcher()
    if host and port:
        if int(port) == 0:  # each process would wait at a port of its own
            raise RuntimeError("MASTER_PORT: expects the port of the first process, but got 0; let torchrun find a free one with --standalone, or name one with "
                               "--master-port")
        is_agents = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
        made = dist.TCPStore(host, int(port), world_size=None if is_agents else process_count(), is_master=not is_agents and process_index() == 0,
                             timeout=_seconds_to_connect(), wait_for_workers=False, multi_tenant=True)
        # The agent's lives on when it starts the processes anew.
        return dist.PrefixStore(f"millrace/attempt_{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", made)
    if dist.is_initialized():
        return dist.PrefixStore("millrace", dist.distributed_c10d._get_default_store())
    raise RuntimeError(f"process {process_index()} of {process_count()} does not know where the others are: start them with torchrun, xmp.spawn, Open MPI's "
                       "mpirun or srun, or set MASTER_ADDR and MASTER_PORT")


def job_store():
    """The store that all processes of the program have in common, a torch.distributed.Store. RuntimeError if there is none."""
    with _lock:
        if not _job_store:
            _job_store.append(_find_store())
        return _job_store[0]


def meet() -> None:
    """Waits until all processes have called this so many times as this one. For where they are no replicas, who would meet in a collective."""
    _meetings[0] += 1
    key = f"meeting/{_meetings[0]}"
    store = job_store()
    if store.add(key, 1) == process_count():
        store.set(f"{key}/done", "1")
    store.wait([f"{key}/done"], _seconds_to_connect())


def use_store(store) -> None:
    """The processes find each other through this store of torch.distributed, if they have not yet."""
    import torch.distributed as dist
    with _lock:
        if not _job_store:
            _job_store.append(dist.PrefixStore("millrace", store))


def _say_that_nobody_comes() -> None:
    """Others may wait for this process to join them, unless its store is its own."""
    if _job_store or os.environ.get("MILLRACE_STORE") or os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        with contextlib.suppress(Exception):
            job_store().set(*_XLAC._left_mark())


_PLACE = ("MILLRACE_STORE", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT", "RANK", "PJRT_LOCAL_PROCESS_RANK",
          "OMPI_COMM_WORLD_RANK", "SLURM_STEP_ID", "SLURM_PROCID")
_is_helper = [False]


def note_place() -> None:
    """Tells apart the process that has a place in the job and those that it starts, such as workers of a DataLoader, which have its environment: a
    process that finds the same place noted there by another is a helper. It may end whenever it likes."""
    place = "/".join(os.environ.get(name, "") for name in _PLACE)
    noted, _, pid = os.environ.get("MILLRACE_MEMBER", "").rpartition(" ")
    _is_helper[0] = noted == place and pid != str(os.getpid())
    if not _is_helper[0]:
        os.environ["MILLRACE_MEMBER"] = f"{place} {os.getpid()}"


def _leave() -> None:
    """At the end of the process. What an exception ended does not wait for the others, and they are told of it. An error that nobody has been told of
    makes the process fail."""
    failure = getattr(sys, "last_value", None)
    end = time.monotonic() + _seconds_to_connect().total_seconds()
    while failure is None and _XLAC._is_awaited() and time.monotonic() < end:
        time.sleep(0.02)
    if process_count() > 1 and not _XLAC._is_connected() and not _is_helper[0]:
        _say_that_nobody_comes()
    error = _XLAC._leave_world("".join(traceback.format_exception_only(failure)).strip() if failure is not None else "")
    if error and failure is None:  # of a step of which no value was read: the job has failed, and its launcher has to know
        print(f"torch_xla: a step failed: {error}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


def install() -> None:
    """Tells the runtime how to find the other processes, and to take leave of them at the end."""
    _XLAC._set_store_maker(lambda: TextStore(job_store()))
    if process_count() > 1:
        note_place()
    atexit.register(_leave)
