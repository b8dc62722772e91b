# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the closures of xm.add_step_closure: at once, or one after the other on a thread of their own."""
import queue
import threading


class ClosureHandler:
    """Runs closures at once, in the order given."""

    def run(self, closure):
        """closure()."""
        closure()

    def run_all(self, closures):
        """All of them."""
        for closure in closures:
            self.run(closure)


class AsyncClosureHandler(ClosureHandler):
    """Runs closures in the background. What one of them raises is raised by the next call of run()."""

    def __init__(self, max_queue_size=100):
        super().__init__()
        self._queue = queue.Queue(max_queue_size)
        self._errors = queue.Queue()
        self._lock, self._thread = threading.Lock(), None

    def start_event_loop(self):
        """Starts the thread, unless it runs."""
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._loop, name="step closures", daemon=True)
            self._thread.start()

    def _loop(self):
        while True:
            try:
                closure = self._queue.get(timeout=3)
            except queue.Empty:
                with self._lock:
                    if not self._queue.empty():
                        continue
                    self._thread = None
                    return
            try:
                closure()
            except BaseException as error:
                self._errors.put(error)
            finally:
                self._queue.task_done()

    def run(self, closure):
        """Queues the closure; waits only if the queue is full."""
        self._raise()
        with self._lock:
            self.start_event_loop()
        self._queue.put(closure)

    def wait(self):
        """Waits for all that were queued."""
        self._queue.join()
        self._raise()

    def _raise(self):
        try:
            raise self._errors.get_nowait()
        except queue.Empty:
            pass
