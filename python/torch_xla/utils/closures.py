# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the closures of xm.add_step_closure(), either at once or one after the other on a thread of their own."""
import queue
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any


class ClosureHandler:
    """Runs closures at once, in the calling thread."""

    def run(self, closure: Callable[[], Any]) -> None:
        """Calls a closure.

        Args:
          closure: A function without parameters.
        """
        closure()

    def run_all(self, closures: Iterable[Callable[[], Any]]) -> None:
        """Calls run() for closures, one after the other.

        Args:
          closures: Functions without parameters.
        """
        for closure in closures:
            self.run(closure)


class AsyncClosureHandler(ClosureHandler):
    """Runs closures one after the other in a thread of its own. An exception of one is raised by the next call of run().

    The program does not end before they have run: the thread is no daemon, and goes on until the queue is empty. If run() is not called any more, an
    exception is reported as the error of a thread.

    Args:
      max_queue_size: The largest number of closures that wait.
    """

    _IDLE_SECONDS = 3  # the thread ends after that time without a closure
    _POLL_SECONDS = 0.05  # the longest time until an idle thread notices that the program ends

    def __init__(self, max_queue_size: int = 100) -> None:
        super().__init__()
        self._queue: queue.Queue[Callable[[], Any]] = queue.Queue(max_queue_size)
        self._errors: queue.Queue[BaseException] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._promised = 0  # closures that run() is about to queue

    def start_event_loop(self) -> None:
        """Starts the thread, unless it runs."""
        if self._thread is None or not self._thread.is_alive():
            thread = threading.Thread(target=self._loop, name="step closures", daemon=False)
            thread.start()
            self._thread = thread

    def _next(self) -> Callable[[], Any] | None:
        """Returns the next closure; None if the thread may end."""
        idle = 0.0
        while True:
            try:
                return self._queue.get(timeout=self._POLL_SECONDS)
            except queue.Empty:
                idle += self._POLL_SECONDS
            if idle < self._IDLE_SECONDS and threading.main_thread().is_alive():
                continue
            with self._lock:
                if self._queue.empty() and not self._promised:
                    self._thread = None
                    return None

    def _loop(self) -> None:
        while (closure := self._next()) is not None:
            try:
                closure()
            except BaseException as error:
                self._errors.put(error)
            finally:
                self._queue.task_done()
        if not threading.main_thread().is_alive():
            self._report()

    def run(self, closure: Callable[[], Any]) -> None:
        """Queues a closure; waits only if the queue is full.

        A closure of a daemon thread after the end of the main thread is not run, for the program waits for no daemon: one that goes on giving
        closures would keep it alive.

        Args:
          closure: A function without parameters.

        Raises:
          Exception: An earlier closure raised it.
        """
        if threading.current_thread().daemon and not threading.main_thread().is_alive():
            return
        self._raise()
        with self._lock:
            # The end of the interpreter does not wait for a thread that is started after the main thread's end.
            is_queued = threading.main_thread().is_alive() or self._thread is not None
            if is_queued:
                self.start_event_loop()
                self._promised += 1
        if not is_queued:
            closure()
            return
        try:
            self._queue.put(closure)
        finally:
            with self._lock:
                self._promised -= 1

    def wait(self) -> None:
        """Waits until all closures in the queue have run.

        Raises:
          Exception: A closure raised it.
        """
        self._queue.join()
        self._raise()

    def _raise(self) -> None:
        try:
            raise self._errors.get_nowait()
        except queue.Empty:
            pass

    def _report(self) -> None:
        while not self._errors.empty():
            error = self._errors.get_nowait()
            sys.stderr.write("torch_xla: a step closure that ran while the program ended raised:\n")
            sys.excepthook(type(error), error, error.__traceback__)
