# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stores of torch.distributed through which the processes of a job find each other, with reads that never wait without a limit.

A TCPStore has no timeout where its server is stopped, or where another program listens at its port, and holds up signals while it waits. So each question
is asked by a thread of its own."""
import json
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

_TOLD_SECONDS = 5.0      # Unit: seconds. A process that has waited for that long says so on standard error.
_STOPPED_SECONDS = 2.0   # Unit: seconds. After that time it is checked whether the keeper is stopped.
_SILENT_SECONDS = 30.0   # Unit: seconds. A store answers within milliseconds, on an overloaded machine within seconds.
_KEEPER_KEY, _SIZE_KEY = "millrace/keeper", "millrace/size"
_PROCESS_KEY = r"millrace/process/(\d+)"  # runtime/transport/Store.cpp


def _tell(text: str) -> None:
    print(f"millrace: {text}", file=sys.stderr, flush=True)


def _words(error: BaseException) -> str:
    """What an error of torch.distributed says, without the frames of C++ below it."""
    return re.split(r"\n|Exception raised from", str(error))[0].strip().rstrip(".") or type(error).__name__


def _host() -> list[str]:
    """Returns an identifier that is equal for processes that see each other's numbers: until the host boots again, in one container."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return [file.read().strip(), os.readlink("/proc/self/ns/pid")]
    except OSError:
        return []


class Keeper:
    """Who keeps a store: its name for messages, and its process once that is known."""

    def __init__(self, name: str, what: str):
        self.name, self.what = name, what
        self.is_here = False  # whether this process keeps the store
        self.is_of_one_job = False  # each key is set once, by one process
        self.failure: RuntimeError | None = None  # set once the keeper is known to be gone: a request that was abandoned may hold the store's lock
        self._signed, self._place = None, None

    def __str__(self) -> str:
        process = f" (pid {self._place['pid']} on host {self._place['name']})" if self._place else ""
        return f"{self.name}{process}, which keeps {self.what},"

    def sign(self, store) -> None:
        """Leaves in a store which this process keeps who it is."""
        store.set(_KEEPER_KEY, json.dumps({"host": _host(), "pid": os.getpid(), "name": socket.gethostname()}))

    def expect(self, store) -> None:
        """sign() has left, or will leave, something in this store."""
        self._signed = store

    def learn(self) -> None:
        """Looks for what sign() left."""
        if self._signed is not None and self._signed.check([_KEEPER_KEY]):
            self._place, self._signed = json.loads(self._signed.get(_KEEPER_KEY)), None

    def is_stopped(self) -> bool:
        """Returns whether it is a process of this host that a signal or a debugger has stopped."""
        if not self._place or not self._place["host"] or self._place["host"] != _host():
            return False
        try:
            with open(f"/proc/{self._place['pid']}/stat", encoding="utf-8", errors="replace") as file:
                return file.read().rpartition(")")[2].split()[0] in "Tt"
        except (OSError, IndexError):
            return False


def _answer(call: Callable[[], Any], keeper: Keeper, seconds: float) -> Any:
    """call(), by a thread of its own; RuntimeError if its keeper is stopped, or after so many seconds without an answer."""
    answers: list[tuple[Any, BaseException | None]] = []
    has_answered = threading.Event()

    def ask() -> None:
        try:
            answers.append((call(), None))
        except Exception as error:  # an error of the store, which the calling thread raises
            answers.append((None, error))
        has_answered.set()

    try:
        threading.Thread(target=ask, daemon=True, name="millrace-store").start()
    except RuntimeError:  # an interpreter that ends starts no threads
        ask()
    begin, is_told = time.monotonic(), False
    while not has_answered.wait(0.25):
        silent = time.monotonic() - begin
        if os.environ.get("MILLRACE_LIVENESS") != "0":
            if silent >= _STOPPED_SECONDS and keeper.is_stopped():
                raise RuntimeError(f"{keeper} is stopped (SIGSTOP or a debugger; MILLRACE_LIVENESS=0 waits for it) and has not answered for {silent:.2g} s")
            if silent >= seconds:
                raise RuntimeError(f"{keeper} has not answered for {silent:.2g} s: it is stopped, or another program listens there")
        if silent >= _TOLD_SECONDS and not is_told:
            is_told = True
            _tell(f"for {_TOLD_SECONDS:g} s {keeper} has not answered")
    value, error = answers[0]
    if error is not None:
        raise RuntimeError(f"{keeper} has ended or cannot be reached: {_words(error)}") from None
    return value


class TextStore:
    """What the runtime needs of a store of torch.distributed: text under keys of its own. RuntimeError, which names the keeper, where it is gone,
    stopped or silent."""

    def __init__(self, store, keeper: Keeper):
        self._store, self.keeper = store, keeper

    def _ask(self, call: Callable[[], Any]) -> Any:
        if self.keeper.failure is not None:
            raise self.keeper.failure
        try:
            return _answer(call, self.keeper, _SILENT_SECONDS)
        except RuntimeError as error:
            self.keeper.failure = error
            raise

    def put(self, key: str, value: str) -> None:
        """Leaves a value for the other processes. RuntimeError where another process of the same rank has come."""
        rank = re.fullmatch(_PROCESS_KEY, key)
        if not rank or value == "left" or not self.keeper.is_of_one_job:
            self._ask(lambda: self._store.set(key, value))
        elif self._ask(lambda: self._store.compare_set(key, "", value).decode()) != value:
            self.keeper.failure = RuntimeError(f"another process of the job has RANK {rank[1]}, too: each needs a rank of its own, or a job that has ended badly "
                                               "still listens at its MASTER_PORT")
            raise self.keeper.failure

    def try_get(self, key: str) -> str | None:
        """The value if it is there."""
        def look() -> str | None:
            self.keeper.learn()
            return self._store.get(key).decode() if self._store.check([key]) else None
        return self._ask(look)

    def get(self, key: str, seconds: float) -> str:
        """Waits for a value; TimeoutError after so many seconds."""
        begin, pause, is_told = time.monotonic(), 0.001, False
        while (value := self.try_get(key)) is None:
            waited = time.monotonic() - begin
            if waited >= seconds:
                raise TimeoutError(f"no process has set {key}")
            if waited >= _TOLD_SECONDS and not is_told:
                is_told = True
                process = re.fullmatch(_PROCESS_KEY, key)
                _tell(f"for {_TOLD_SECONDS:g} s this process has waited for {'process ' + process[1] + ', which has not come' if process else key}")
            time.sleep(pause)
            pause = min(2 * pause, 0.1)
        return value

    def meet(self, key: str, rank: int, size: int, seconds: float, loss: Callable[[], str]) -> None:
        """Waits until all processes have called this with the same key. RuntimeError as soon as loss() says why one of them will not; TimeoutError, with
        those that have not come, after so many seconds."""
        self.put(f"{key}/{rank}", "1")
        if self._ask(lambda: self._store.add(key, 1)) == size:
            self.put(f"{key}/done", "1")
        begin, pause = time.monotonic(), 0.001
        while self.try_get(f"{key}/done") is None:
            if why := loss():
                if self.try_get(f"{key}/done") is not None:  # a process that has met the others may have left
                    return
                raise RuntimeError(f"xm.rendezvous: {why}")
            if time.monotonic() - begin >= seconds:
                absent = [str(other) for other in range(size) if self.try_get(f"{key}/{other}") is None]
                raise TimeoutError(f"xm.rendezvous: process{'es' * (len(absent) > 1)} {', '.join(absent)} of {size} {'have' if len(absent) > 1 else 'has'} not come "
                                   f"within {seconds:g} s; set MILLRACE_COLLECTIVE_TIMEOUT to wait longer")
            time.sleep(pause)
            pause = min(2 * pause, 0.1)


def _await_listener(host: str, port: int, keeper: Keeper, seconds: float) -> None:
    """Waits until a server listens; RuntimeError after so many seconds. Unlike a TCPStore it obeys signals, and the seconds."""
    begin, pause, is_told = time.monotonic(), 0.01, False
    while True:
        waited = time.monotonic() - begin
        try:
            socket.create_connection((host, port), timeout=max(0.1, min(2.0, seconds - waited))).close()
            return
        except OSError as error:  # an error of name resolution, too: names of a cluster may exist later than its processes
            reason = f"{host}:{port} (MASTER_ADDR, MASTER_PORT) says: {error}"
        waited = time.monotonic() - begin
        if waited >= seconds:
            raise RuntimeError(f"{keeper} has not come within {seconds:g} s; {reason}")
        if waited >= _TOLD_SECONDS and not is_told:
            is_told = True
            _tell(f"for {_TOLD_SECONDS:g} s this process has waited for {keeper} which has not come; {reason}")
        time.sleep(pause)
        pause = min(2 * pause, 0.2)


def check_size(store, keeper: Keeper, rank: int, size: int, left: tuple[str, str]) -> None:
    """RuntimeError where another process of the job has another number of processes; `left` tells the others that this one will not come."""
    agreed = _answer(lambda: store.compare_set(_SIZE_KEY, "", str(size)).decode(), keeper, _SILENT_SECONDS)
    if agreed != str(size):
        store.set(*left)
        raise RuntimeError(f"process {rank} was started as one of {size}, but another process of the job as one of {agreed}: WORLD_SIZE has to be the same in all")


def over_tcp(host: str, port: int, rank: int, size: int, is_agents: bool, seconds: float) -> tuple[Any, Keeper]:
    """Returns (torch.distributed.TCPStore, its keeper) at a port, for process `rank` of `size`. The first one keeps it, or the agent of torchrun.
    RuntimeError, with what to do, if it cannot be had within so many seconds."""
    import datetime
    import torch.distributed as dist
    name, is_here = "torchrun" if is_agents else f"process 0 of {size}", not is_agents and rank == 0
    keeper = Keeper(name, f"the job's store at {host}:{port}")

    def make() -> dist.TCPStore:
        return dist.TCPStore(host, port, world_size=None if is_agents else size, is_master=is_here, timeout=datetime.timedelta(seconds=seconds), wait_for_workers=False,
                             multi_tenant=True)
    if is_here:
        try:
            store = make()
        except dist.DistError as error:
            if "EADDRINUSE" in str(error):
                raise RuntimeError(f"{name} cannot keep the job's store at {host}:{port}: the port is in use, by another job or one that has not ended; name "
                                   "another one with MASTER_PORT (torchrun: --master-port), or let torchrun find one with --standalone") from None
            raise RuntimeError(f"{name} cannot keep the job's store at {host}:{port} (MASTER_ADDR, MASTER_PORT): {_words(error)}") from None
        keeper.is_here = True
        keeper.sign(store)
    else:
        _await_listener(host, port, keeper, seconds)
        store = _answer(make, keeper, min(_SILENT_SECONDS, seconds))
        if not is_agents:
            keeper.expect(store)
    keeper.is_of_one_job = not is_agents  # an agent's store serves several attempts
    return store, keeper
