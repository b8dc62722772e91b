# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store through which processes find each other: who does not come, does not answer, is stopped or is somebody else is named, in time."""
import contextlib
import os
import signal
import socket
import threading
import time

import pytest
from torch_xla import _stores

def listener(answer=None):
    """A program that is no store: (port, socket)."""
    server = socket.create_server(("localhost", 0))

    def serve():
        kept = []
        while True:
            try:
                connection = server.accept()[0]
            except OSError:
                return
            kept.append(connection)
            if answer is not None:
                connection.sendall(answer)
    threading.Thread(target=serve, daemon=True).start()
    return server.getsockname()[1], server


def free_port():
    with socket.create_server(("localhost", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def keeper():
    """A process 0 that keeps a store, a fork of this one: (port, pid)."""
    port = free_port()
    pid = os.fork()
    if pid == 0:
        try:
            kept = _stores.over_tcp("localhost", port, 0, 3, False, 5)
            time.sleep(60)
            del kept
        finally:
            os._exit(0)
    yield port, pid
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def said_by(call):
    """(what the error says, the seconds until then)."""
    begin = time.monotonic()
    with pytest.raises((RuntimeError, TimeoutError)) as caught:
        call()
    return str(caught.value), time.monotonic() - begin


def test_nobody_listens():
    port = free_port()
    text, seconds = said_by(lambda: _stores.over_tcp("localhost", port, 1, 3, False, 0.5))
    assert text.startswith(f"process 0 of 3, which keeps the job's store at localhost:{port}, has not come within 0.5 s; localhost:{port} (MASTER_ADDR, MASTER_PORT) "
                           "says: [Errno 111] Connection refused") and seconds < 2, text


def test_somebody_else_listens():
    """Whom PyTorch's own store would wait for without end, where it says nothing."""
    port, server = listener()
    text, seconds = said_by(lambda: _stores.over_tcp("localhost", port, 1, 3, False, 0.5))
    server.close()
    assert f"at localhost:{port}, has not answered for 0.5" in text and "it is stopped, or another program listens there" in text and seconds < 2, text
    port, server = listener(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    text, seconds = said_by(lambda: _stores.over_tcp("localhost", port, 1, 3, False, 1))  # which is asked several times
    server.close()
    assert ("has ended or cannot be reached: Ping failed" in text or "another program listens there" in text) and "\n" not in text and seconds < 3, text


def test_the_port_is_in_use():
    port, server = listener()
    text, _ = said_by(lambda: _stores.over_tcp("localhost", port, 0, 3, False, 5))
    server.close()
    assert text.startswith(f"process 0 of 3 cannot keep the job's store at localhost:{port}: the port is in use, by another job or one that has not ended; name another "
                           "one with MASTER_PORT"), text


def test_the_keeper_is_stopped_or_killed(keeper):
    port, pid = keeper
    store = _stores.TextStore(*_stores.over_tcp("localhost", port, 1, 3, False, 5))
    store.put("key", "value")
    assert store.get("key", 1) == "value" and store.try_get("other") is None
    assert said_by(lambda: store.get("other", 0.1))[0] == "no process has set other"
    store.put("first", "1")
    os.kill(pid, signal.SIGSTOP)
    os.waitpid(pid, os.WUNTRACED)  # a keeper that has not stopped yet answers
    text, seconds = said_by(lambda: store.get("first", 30))
    assert text.startswith(f"process 0 of 3 (pid {pid} on host {socket.gethostname()}), which keeps the job's store at localhost:{port}, is stopped (SIGSTOP or "
                           "a debugger; MILLRACE_LIVENESS=0 waits for it) and has not answered for 2") and seconds < 5, text
    assert said_by(lambda: store.put("second", "2"))[1] < 0.1  # nobody waits for it twice
    os.kill(pid, signal.SIGCONT)
    store = _stores.TextStore(*_stores.over_tcp("localhost", port, 2, 3, False, 5))
    assert store.get("first", 5) == "1"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    text, seconds = said_by(lambda: store.get("other", 30))
    assert "which keeps the job's store" in text and "has ended or cannot be reached: " in text and "\n" not in text and seconds < 5, text


def test_ranks_and_sizes_that_contradict(keeper):
    port, _ = keeper
    first, second = (_stores.TextStore(*_stores.over_tcp("localhost", port, rank, 3, False, 5)) for rank in (1, 1))
    first.put("millrace/process/1", "one")
    assert said_by(lambda: second.put("millrace/process/1", "two"))[0].startswith("another process of the job has RANK 1, too: each needs a rank of its own")
    assert said_by(lambda: second.put("millrace/process/1", "left"))[0].startswith("another process") and first.get("millrace/process/1", 1) == "one"
    first.put("millrace/process/1", "left")
    store, place = _stores.over_tcp("localhost", port, 2, 4, False, 5)
    _stores.check_size(store, place, 1, 3, ("unused", "left"))
    text, _ = said_by(lambda: _stores.check_size(store, place, 2, 4, ("millrace/process/2", "left")))
    assert first.try_get("unused") is None and first.try_get("millrace/process/2") == "left" and text == "process 2 was started as one of 4, but another process of the job as one of 3: WORLD_SIZE has to be the same in all"


def test_waits_obey_signals(keeper):
    """PyTorch's own wait holds them up."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in processes that a shell has put into the background
    store = _stores.TextStore(*_stores.over_tcp("localhost", keeper[0], 1, 3, False, 5))
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        store.get("other", 30)
    assert time.monotonic() - begin < 5


def test_meeting(keeper):
    stores = [_stores.TextStore(*_stores.over_tcp("localhost", keeper[0], rank, 3, False, 5)) for rank in (1, 2)]
    other = threading.Thread(target=lambda: stores[1].meet("here", 1, 2, 5, lambda: ""))
    assert said_by(lambda: stores[0].meet("there", 0, 3, 0.1, lambda: ""))[0].startswith("xm.rendezvous: processes 1, 2 of 3 have not come within 0.1 s; set MILLRACE_COLLECTIVE_TIMEOUT")
    assert said_by(lambda: stores[0].meet("then", 0, 2, 5, lambda: "process 1 has left"))[0] == "xm.rendezvous: process 1 has left"
    other.start()
    stores[0].meet("here", 0, 2, 5, lambda: "")
    other.join(5)
    assert not other.is_alive()
