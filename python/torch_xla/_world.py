# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The processes of the program: this one's place among them, and the store that they find each other through.

Whoever starts the processes says both in the environment: torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT), xmp.spawn
(PJRT_LOCAL_PROCESS_RANK, PJRT_LOCAL_PROCESS_COUNT, MILLRACE_STORE), mpirun or srun. They connect at the first collective: a process that only computes by
itself does not wait for others."""
import atexit
import contextlib
import hashlib
import json
import math
import os
import re
import sys
import threading
import time
import traceback
from typing import Any

from . import _load, _replicas, _stores

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_lock = threading.Lock()
_meetings = [0]  # the number of calls of meet()
_begin = time.monotonic()
_job_store: list[Any] = []  # the result of _find_store(), after its first call


def process_index() -> int:
    """Returns the index of this process among all."""
    return _XLAC._world()[0]


def process_count() -> int:
    """Processes of the program."""
    return _XLAC._world()[1]


def rank() -> int:
    """Returns the index of this replica among all: each process is one, except under SPMD, where all of them are one together, and in data_parallel,
    where each of its threads is one."""
    if place := _replicas.current():
        return place[1]
    return 0 if _XLAC._spmd_partitions() else process_index()


def size() -> int:
    """Replicas of the program."""
    if place := _replicas.current():
        return len(place[0].devices)
    return 1 if _XLAC._spmd_partitions() else process_count()


def local_rank() -> int:
    """Returns the index of this process among those of this host."""
    return _XLAC._world()[2]


def local_size() -> int:
    """Processes on this host."""
    return _XLAC._world()[3]


def of_process(file: str) -> str:
    """`file` in a world of one; FILE.RANK in any other."""
    return f"{file}.{process_index()}" if process_count() > 1 else file


for _query in (process_index, process_count, rank, size, local_rank, local_size):
    vars(_query)["_dynamo_marked_constant"] = True  # what torch.compiler.assume_constant_result() sets, which would import Dynamo


def _seconds_to_connect() -> float:
    return float(os.environ.get("MILLRACE_COLLECTIVE_TIMEOUT") or 300)


def _port_of(job: str) -> int:
    """One below those that systems give away, the same in all processes of a job."""
    return 10000 + int(hashlib.sha256(job.encode()).hexdigest(), 16) % 20000


def _first_of(nodes: str) -> str:
    """Returns the first of SLURM's list of hosts: "node[03-05,9],other" -> "node03"."""
    found = re.match(r"([^,\[]*)(?:\[(\d+))?", nodes)
    return (found[1] + (found[2] or "")) if found else nodes


def _place_of_launcher() -> tuple[str | None, str | None]:
    """Returns (host, port) of the first process, as mpirun or srun tells; (None, None) where none does."""
    uri, slurm = os.environ.get("OMPI_MCA_orte_hnp_uri"), os.environ.get("SLURM_STEP_NODELIST")
    if uri and "OMPI_COMM_WORLD_SIZE" in os.environ:
        is_here = os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") == os.environ["OMPI_COMM_WORLD_SIZE"]
        addresses = re.findall(r"tcp4?://([\d.]+)", uri)
        return "localhost" if is_here or not addresses else addresses[0], str(_port_of(uri))
    if slurm and "SLURM_STEP_NUM_TASKS" in os.environ:
        return _first_of(slurm), str(_port_of("/".join(os.environ.get(name, "") for name in ("SLURM_JOB_ID", "SLURM_STEP_ID"))))
    return None, None


def _keeper_of_torch() -> _stores.Keeper:
    return _stores.Keeper("torch.distributed", "the job's store")


def _find_store() -> tuple[Any, _stores.Keeper]:
    """Returns (torch.distributed.Store, who keeps it)."""
    import torch.distributed as dist
    place = os.environ.get("MILLRACE_STORE")
    if place:
        return dist.FileStore(place, process_count()), _stores.Keeper("the parent of the processes", f"the job's store {place}")
    host, port = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    if not host and not port:
        host, port = _place_of_launcher()
    if host and port:
        if not port.isdigit() or not 0 < int(port) < 65536:  # with port 0 each process would wait at another port
            raise RuntimeError(f"MASTER_PORT: expects the port of the first process, but got {port}; let torchrun find a free one with --standalone, or name one "
                               "with --master-port")
        is_agents = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
        made, keeper = _stores.over_tcp(host, int(port), process_index(), process_count(), is_agents, _seconds_to_connect())
        # The agent's store stays when it restarts the processes.
        store = dist.PrefixStore(f"millrace/attempt_{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", made)
        if not is_agents:
            _stores.check_size(store, keeper, process_index(), process_count(), _XLAC._left_mark())
        return store, keeper
    if dist.is_initialized():
        return dist.PrefixStore("millrace", dist.distributed_c10d._get_default_store()), _keeper_of_torch()
    raise RuntimeError(f"process {process_index()} of {process_count()} has no address of the other processes: start them with torchrun, xmp.spawn, Open MPI's "
                       "mpirun or srun, or set MASTER_ADDR and MASTER_PORT")


def _job_store_and_keeper() -> tuple[Any, _stores.Keeper]:
    with _lock:
        if not _job_store:
            _job_store.append(_find_store())
        return _job_store[0]


def job_store() -> Any:
    """Returns the store that all processes of the program have in common, a torch.distributed.Store. RuntimeError if there is none."""
    return _job_store_and_keeper()[0]


def meet() -> None:
    """Waits until all processes have called this so many times as this one. For where they are no replicas, who would meet in a collective."""
    _meetings[0] += 1
    _stores.TextStore(*_job_store_and_keeper()).meet(f"meeting/{_meetings[0]}", process_index(), process_count(), _seconds_to_connect(), _XLAC._loss)


def use_store(store) -> None:
    """The processes find each other through this store of torch.distributed, if they have not yet."""
    import torch.distributed as dist
    with _lock:
        if not _job_store:
            _job_store.append((dist.PrefixStore("millrace", store), _keeper_of_torch()))


def _say_that_nobody_comes(may_wait: bool) -> None:
    """Others may wait for this process to join them, unless its store is its own."""
    if _job_store or os.environ.get("MILLRACE_STORE") or os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True":
        with contextlib.suppress(Exception):
            store = _stores.TextStore(*_job_store_and_keeper())
            store.put(*_XLAC._left_mark())
            if may_wait and store.keeper.is_here:
                _await_late_comers(store)


def _await_late_comers(store: _stores.TextStore) -> None:
    """The store ends with this process: whoever is still importing would wait for it until its timeout."""
    folder = _XLAC._left_mark()[0].rpartition("/")[0]
    end = min(time.monotonic() + 10, _begin + 60)
    while time.monotonic() < end:
        if all(store.try_get(f"{folder}/{rank}") is not None for rank in range(process_count())):
            time.sleep(1)  # a process that has just connected reads the mark next
            return
        time.sleep(0.1)


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


def _tell_launcher(failure: BaseException) -> None:
    """Leaves the exception for torchrun, whose summary then names the process that failed first. Nothing where @record has done so.

    Its times are in whole seconds: who failed because another process did rounds up, so that the first cause comes first."""
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path or os.path.exists(path) or _is_helper[0]:
        return
    is_echo = isinstance(failure, RuntimeError) and re.search(r"process \d+ \(pid \d+ on host ", str(failure))
    message = {"message": "".join(traceback.format_exception_only(failure)).strip(),
               "extraInfo": {"py_callstack": "".join(traceback.format_exception(failure)),
                             "timestamp": str((math.ceil if is_echo else math.floor)(time.time()))}}
    with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as file:
        json.dump({"message": message}, file)


def _leave() -> None:
    """At the end of the process. What an exception ended does not wait for the others, and they are told of it. An error that nobody has been told of
    makes the process fail."""
    failure = getattr(sys, "last_value", None)
    if failure is not None and process_count() > 1:
        _tell_launcher(failure)
    end = time.monotonic() + _seconds_to_connect()
    while failure is None and _XLAC._is_awaited() and time.monotonic() < end:
        time.sleep(0.02)
    if process_count() > 1 and not _XLAC._is_connected() and not _is_helper[0]:
        _say_that_nobody_comes(not isinstance(failure, KeyboardInterrupt))
    error = _XLAC._leave_world("".join(traceback.format_exception_only(failure)).strip() if failure is not None else "")
    if error and failure is None:  # an error of a step of which no value was read: the job has failed, and the exit status tells its launcher
        print(f"torch_xla: a step failed: {error}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


def install() -> None:
    """Tells the runtime how to find the other processes, and to take leave of them at the end."""
    _XLAC._set_store_maker(lambda: _stores.TextStore(*_job_store_and_keeper()))
    if process_count() > 1:
        note_place()
    atexit.register(_leave)
