# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounded queues that can be closed, through which the threads of loaders pass batches."""
import collections
import threading
from collections.abc import Callable, Hashable
from typing import Any


class QueueBase:
    """Holds up to `maxsize` items. close_write(): no more items will come; close(): no more items will be taken."""

    def __init__(self, maxsize: int = 1024) -> None:
        self._maxsize = maxsize
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._closed = self._write_closed = False

    def max_size(self) -> int:
        """The capacity."""
        return self._maxsize

    def close(self) -> None:
        """Wakes all waiting threads: get() returns None, put() gives the item up."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()

    def close_write(self) -> None:
        """get() returns None once the queue is empty."""
        with self._lock:
            self._write_closed = True
            self._changed.notify_all()

    def _add(self, has_room: Callable[[], bool], add: Callable[[], None]) -> bool:
        with self._lock:
            if self._write_closed:
                raise RuntimeError("the queue is closed for writing")
            while not self._closed and not has_room():
                self._changed.wait()
            if self._closed:
                return False
            add()
            self._changed.notify_all()
            return True

    def _take(self, has_item: Callable[[], bool], take: Callable[[], Any]) -> Any:
        with self._lock:
            while not self._closed and not self._write_closed and not has_item():
                self._changed.wait()
            if self._closed or not has_item():
                return None
            item = take()
            self._changed.notify_all()
            return item


class Queue(QueueBase):
    """First in, first out."""

    def __init__(self, maxsize: int = 1024) -> None:
        super().__init__(maxsize)
        self._items: collections.deque[Any] = collections.deque()

    def put(self, item: Any) -> bool:
        """Waits for room; False if the queue was closed."""
        return self._add(lambda: len(self._items) < self._maxsize, lambda: self._items.append(item))

    def get(self) -> Any:
        """Waits for an item; None when the queue is closed."""
        return self._take(lambda: bool(self._items), self._items.popleft)


class KeydQueue(QueueBase):
    """Items are taken by their key, in any order."""

    def __init__(self, maxsize: int = 1024) -> None:
        super().__init__(maxsize)
        self._items: dict[Hashable, Any] = {}

    def put(self, key: Hashable, item: Any) -> bool:
        """Waits for room; False if the queue was closed."""
        return self._add(lambda: len(self._items) < self._maxsize, lambda: self._items.__setitem__(key, item))

    def get(self, key: Hashable) -> Any:
        """Waits for the item of that key; None when the queue is closed."""
        return self._take(lambda: key in self._items, lambda: self._items.pop(key))
