# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounded queues that can be closed, through which the threads of loaders pass batches."""
import collections
import threading
from collections.abc import Callable, Hashable
from typing import Any


class QueueBase:
    """The base class of bounded queues that can be closed. All methods are thread-safe.

    Args:
      maxsize: The largest number of items.
    """

    def __init__(self, maxsize: int = 1024) -> None:
        self._maxsize = maxsize
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._closed = self._write_closed = False

    def max_size(self) -> int:
        """Returns the largest number of items."""
        return self._maxsize

    def close(self) -> None:
        """Closes the queue: waiting and later get() return None, and put() drops its item and returns False."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()

    def close_write(self) -> None:
        """Closes the queue for put(), which raises RuntimeError from now on; get() returns None once the queue is empty."""
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
    """A bounded queue, first in, first out.

    Args:
      maxsize: The largest number of items.
    """

    def __init__(self, maxsize: int = 1024) -> None:
        super().__init__(maxsize)
        self._items: collections.deque[Any] = collections.deque()

    def put(self, item: Any) -> bool:
        """Waits until the queue is not full, and adds an item.

        Args:
          item: The item.

        Returns:
          False if the queue was closed, and the item dropped.

        Raises:
          RuntimeError: The queue is closed for writing.
        """
        return self._add(lambda: len(self._items) < self._maxsize, lambda: self._items.append(item))

    def get(self) -> Any:
        """Waits for an item and removes it; returns None when the queue is closed."""
        return self._take(lambda: bool(self._items), self._items.popleft)


class KeydQueue(QueueBase):
    """A bounded queue whose items are taken by their keys, in any order.

    Args:
      maxsize: The largest number of items.
    """

    def __init__(self, maxsize: int = 1024) -> None:
        super().__init__(maxsize)
        self._items: dict[Hashable, Any] = {}

    def put(self, key: Hashable, item: Any) -> bool:
        """Waits until the queue is not full, and adds an item.

        Args:
          key: Its key; an item with the same key is replaced.
          item: The item.

        Returns:
          False if the queue was closed, and the item dropped.

        Raises:
          RuntimeError: The queue is closed for writing.
        """
        return self._add(lambda: len(self._items) < self._maxsize, lambda: self._items.__setitem__(key, item))

    def get(self, key: Hashable) -> Any:
        """Waits for the item of a key and removes it; returns None when the queue is closed.

        Args:
          key: The key.
        """
        return self._take(lambda: key in self._items, lambda: self._items.pop(key))
