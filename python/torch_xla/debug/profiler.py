# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.debug.profiler (xp): recordings of programs, devices and memory, made in this process and written as TensorBoard, XProf and
chrome://tracing read them; and named regions of the host's program, which torch.profiler shows, too. start_server hands
recordings out to other processes, and trace asks for them."""
import atexit
import concurrent.futures
import contextlib
import datetime
import functools
import gzip
import itertools
import os
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch

from .. import _XLAC

_marked_step = False
_lock = threading.Lock()
last_recording: str | None = None  # the file that stop_trace wrote last
_running = None  # (session of the recorder, folder) between start_trace and stop_trace; guarded by _lock
_termination = None  # calls _finish() before SIGTERM ends the process, until the recording is written
_writing = threading.RLock()  # held while a recording ends and is written; a signal's handler may interrupt that in the same thread


def set_tracer_marked_step(value: bool) -> None:
    """Notes that a StepTrace has put a barrier, so that a loader puts none."""
    global _marked_step
    _marked_step = value


def get_tracer_marked_step() -> bool:
    """Whether a StepTrace has put a barrier since the loader's last batch."""
    return _marked_step


class Trace(torch.profiler.record_function):
    """A context manager that names a region, in recordings, in torch.profiler, and in texts of graphs and programs ("name.1").

    A step barrier inside is an error.

    Args:
      name: The name.
      **kwargs: What recordings show beside it.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._details = ", ".join(f"{key}={value}" for key, value in kwargs.items())
        super().__init__(name, self._details or None)

    def __enter__(self):
        _XLAC._push_scope(self.name)
        _XLAC._profile_begin_region(self.name, self._details)
        return super().__enter__()

    def __exit__(self, kind, value, trace):
        left = self._leave(kind, value, trace)
        _XLAC._profile_end_region()
        return left

    def _leave(self, kind, value, trace):
        _XLAC._pop_scope()
        return super().__exit__(kind, value, trace)


class StepTrace(Trace):
    """A region that is a step: a step barrier stands at its end, inside of what recordings show as the step.

    Args:
      name: The name.
      **kwargs: What recordings show beside it; step_num is the number of the step.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        super().__init__(name, **kwargs)
        self._details += (", " if self._details else "") + "_r=1"  # the root of a step, for XProf

    def _leave(self, kind, value, trace):
        left = super()._leave(kind, value, trace)
        if kind is None:
            set_tracer_marked_step(True)
            from ..core import xla_model
            xla_model.mark_step(reset_scope=_XLAC._scope() == "")
        return left


def trace_me(scope: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function whose calls are regions of that name."""
    def decorate(function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            with Trace(scope):
                return function(*args, **kwargs)
        return run
    return decorate


def start_trace(log_dir: str) -> None:
    """Begins to record this process: programs and their kernels, transfers, memory, compilations, the regions of Trace and StepTrace.

    It waits for what runs. Thread-safe.

    Args:
      log_dir: The folder that stop_trace() writes to.

    Raises:
      RuntimeError: A recording has begun already.
      OSError: The folder cannot be made.
    """
    global _running, _termination
    with _lock:
        if _running is not None:
            raise RuntimeError("Profile has already been started. Only one profile may be run at a time.")
        os.makedirs(os.path.join(log_dir, "plugins", "profile"), exist_ok=True)  # what cannot be written is not recorded first
        _XLAC._wait()
        _running = _XLAC._profile_start(), os.fspath(log_dir)
        _termination = _XLAC._profile_before_termination(_finish)


def stop_trace() -> None:
    """Ends the recording and writes it, after what runs has ended. Thread-safe.

    A program that ends before, by SIGTERM or not, has its recording written then, as far as it came. The file for TensorBoard and XProf is
    `log_dir`/plugins/profile/TIME/HOST.xplane.pb, and that for chrome://tracing and Perfetto HOST.trace.json.gz
    beside it. With several processes HOST is followed by the number of the process. TIME is followed by a number where this second has a recording
    already.

    Raises:
      RuntimeError: No recording has begun.
      OSError: A file cannot be written.
    """
    with _writing:
        with _lock:
            if _running is None:
                raise RuntimeError("No profile started")
        messages = _end_recording(_XLAC._wait)
    for message in messages:
        warnings.warn(f"xp.stop_trace: {message}", stacklevel=2)


def _end_recording(wait):
    """Ends the recording of the moment, writes it, and returns what is to be said of it. The caller holds _writing."""
    global _running, _termination, last_recording
    with _lock:
        (session, log_dir), _running = _running, None
    try:
        try:
            wait()
        finally:
            space, trace_json, messages = _XLAC._profile_stop(session)
        base = _unused_name(log_dir)
        _write(base + ".xplane.pb", space)
        last_recording = base + ".xplane.pb"
        _write(base + ".trace.json.gz", gzip.compress(trace_json, compresslevel=5))
    finally:
        with _lock:
            if _running is None:  # otherwise another thread has begun the next one
                _termination = None
    return messages


def _finish():
    """Writes the recording in which the program ends, and awaits one that another thread writes. What runs is not waited for: it may never end."""
    with _writing:
        if _running is None:
            return
        try:
            messages = _end_recording(lambda: None)
            messages.insert(0, f"the program ends without it; what was recorded is in {os.path.dirname(last_recording)}")
        except OSError as error:
            messages = [f"the program ends without it, and the recording is lost: {error}"]
    for message in messages:
        print(f"xp.stop_trace: {message}", file=sys.stderr, flush=True)


def _forget_recording():
    """A forked process has no part in the recording of the one that it comes from, and none of its threads."""
    global _lock, _writing, _running, _termination
    _lock, _writing, _running, _termination = threading.Lock(), threading.RLock(), None, None


atexit.register(_finish)
os.register_at_fork(after_in_child=_forget_recording)


def _unused_name(log_dir):
    """LOG_DIR/plugins/profile/TIME/HOST, which has no recording yet, nor one that another process writes; the folder exists. Processes of a job share the
    folder, hence the look at HOST."""
    root = os.path.join(log_dir, "plugins", "profile", datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S"))
    for number in itertools.count(1):
        base = os.path.join(root if number == 1 else f"{root}_{number}", _host())
        part = base + ".xplane.pb.part"
        os.makedirs(os.path.dirname(base), exist_ok=True)
        with contextlib.suppress(FileExistsError), open(part, "xb"):
            if not os.path.exists(base + ".xplane.pb"):
                return base
            os.unlink(part)


def _write(path, content):
    """Writes a file, whole or not at all."""
    try:
        with open(path + ".part", "wb") as file:
            file.write(content)
        os.replace(path + ".part", path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(path + ".part")
        raise OSError(error.errno, error.strerror, path) from None


def _host():
    """The name of this machine; with several processes, with the number of this one."""
    from .. import runtime as xr
    name = socket.gethostname() or "localhost"
    return f"{name}_{xr.process_index()}" if xr.process_count() > 1 else name


class _Server:
    """Answers captures until it is collected."""

    def __init__(self, port):
        self._server = _XLAC._profile_serve(port)

    @property
    def port(self):
        """The port that it listens at."""
        return _XLAC._profile_server_port(self._server)


def start_server(port: int, only_on_master: bool = True) -> object:
    """Starts a server that records this process when it is asked to, by xp.trace, TensorBoard's and XProf's "Capture profile", or
    `python -m jax.collect_profile`.

    It listens on 127.0.0.1, or on MILLRACE_PROFILER_ADDRESS, and does not check who calls. This process writes the recordings, into its own file
    system.

    Args:
      port: The port; 0: any free one.
      only_on_master: Whether only the process of rank 0 starts a server.

    Returns:
      An object that keeps the server; None in a process that starts none.

    Raises:
      RuntimeError: The port is taken, or the address is none.
    """
    from ..core import xla_model as xm
    if only_on_master and not xm.is_master_ordinal():
        return None
    return _Server(port)


_RETRIED = {14: "UNAVAILABLE", 6: "ALREADY_EXISTS"}  # gRPC's numbers; 2 is UNKNOWN
_FINAL = (3, 12)  # INVALID_ARGUMENT: the address is none; UNIMPLEMENTED: the server is another one


def trace(service_addr: str, logdir: str, duration_ms: int = 1000, num_tracing_attempts: int = 3, host_tracer_level: int = 2,
          device_tracer_level: int = 1, delay_ms: int = 0, timeout_s: int = 120, interval_s: int = 5) -> None:
    """Asks processes with start_server() for a recording, and waits for it.

    Each process writes `logdir`/plugins/profile/TIME/HOST_PORT.xplane.pb in its own file system.

    Args:
      service_addr: "host:port", or several with commas.
      logdir: The folder.
      duration_ms: The length of the recording, in milliseconds.
      num_tracing_attempts: How often it is tried if nobody answers, or nothing of Millrace ran meanwhile.
      host_tracer_level: The level of detail of the host, as in TensorFlow's profiler.
      device_tracer_level: The level of detail of the device.
      delay_ms: The time before the recording, in milliseconds.
      timeout_s: The time for which all attempts are repeated, in seconds.
      interval_s: The time between them, in seconds.

    Raises:
      RuntimeError: There was no recording in this time, or the address is none.
      ValueError: A number is out of range.
    """
    for name, number, least in (("duration_ms", duration_ms, 1), ("num_tracing_attempts", num_tracing_attempts, 1), ("delay_ms", delay_ms, 0),
                                ("timeout_s", timeout_s, 0), ("interval_s", interval_s, 1)):
        if number < least:
            raise ValueError(f"xp.trace expects {name} of at least {least}, but got {number}")
    ends = time.monotonic() + timeout_s
    for _ in range(timeout_s // interval_s + 1):
        failure, is_final = _capture_from_all(service_addr.split(","), logdir, duration_ms, num_tracing_attempts, host_tracer_level,
                                              device_tracer_level, delay_ms)
        if failure is None:
            return
        if is_final or time.monotonic() + interval_s > ends:
            break
        time.sleep(interval_s)
    raise RuntimeError(failure)


def _capture_from_all(addresses, logdir, duration_ms, attempts, host_level, device_level, delay_ms):
    """(None, or what went wrong the last time; whether it would go wrong again)"""
    root = os.path.join(os.fspath(logdir), "plugins", "profile")
    failure = None
    for remaining in reversed(range(attempts)):
        print(f"Starting to trace for {duration_ms} ms. Remaining attempt(s): {remaining}", flush=True)
        session = datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S")
        with concurrent.futures.ThreadPoolExecutor(len(addresses)) as pool:
            answers = list(pool.map(lambda address: _XLAC._profile_capture(address, root, session, duration_ms, delay_ms, host_level, device_level),
                                    addresses))
        wrong = [(status, message) for status, message, _ in answers if status]
        if not wrong and not all(is_empty for _, _, is_empty in answers):
            return None, False
        if wrong:
            status, failure = wrong[0]
            failure = f"{_RETRIED.get(status, f'status {status}')}: {failure}"
            if status not in _RETRIED and not (status == 2 and "Stream removed" in failure):
                return failure, status in _FINAL
        else:
            failure = (f"No trace event is collected after {attempts} attempt(s). Perhaps, you want to try again (with more attempts?). "
                       f"Nothing of Millrace ran at {', '.join(addresses)} meanwhile: is it the process that computes?")
            if remaining:
                print("No trace event is collected. Automatically retrying.", flush=True)
    print(failure, flush=True)
    return failure, False


def trace_detached(*args: Any, **kwargs: Any) -> None:
    """Starts trace() in a thread of its own, and returns at once; an error is printed there.

    Args:
      *args: The arguments of trace().
      **kwargs: Its keyword arguments.
    """
    threading.Thread(target=trace, args=args, kwargs=kwargs).start()
