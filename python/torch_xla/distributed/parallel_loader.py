# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaders that read and upload the next batches while a step runs, with a step barrier every few batches."""
import atexit
import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

from .. import _devices, _replicas
from ..core import xla_model as xm
from ..debug import profiler as xp
from ..utils import keyd_queue


class PerDeviceQueue:
    """The queues between the threads of one device: of batches of the loader, and of batches on the device.

    Args:
      device: The device.
      loader_prefetch_size: The number of batches on the CPU that may wait.
      device_prefetch_size: The number of batches on the device that may wait.
    """

    def __init__(self, device: Any, loader_prefetch_size: int, device_prefetch_size: int) -> None:
        self.device = device
        self.cpu_loader_queue = keyd_queue.Queue(maxsize=loader_prefetch_size)
        self.queue = keyd_queue.Queue(maxsize=device_prefetch_size)
        self.close_queue_count = 0


class PerDeviceLoader:
    """Iterates over the batches of one device, with a step barrier before a batch, once per batches_per_execution, and after the last one.

    Args:
      loader: The loader of all devices.
      device: The device.
    """

    def __init__(self, loader: "ParallelLoader", device: Any) -> None:
        self._loader, self._device = loader, device
        self._pending = 0
        self._most = loader.batches_per_execution

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def __len__(self):
        return self._loader.per_device_samples()

    def next(self) -> Any:
        """Returns the next batch.

        Raises:
          StopIteration: There are no more.
        """
        if place := _replicas.current():  # replicas get their batches one after the other, too
            place[0].give_way(place[1])
        if xp.get_tracer_marked_step():  # a StepTrace has just put a barrier
            xp.set_tracer_marked_step(False)
            self._pending += 1
        elif self._pending + 1 >= self._most:
            xm.mark_step()
            self._pending = 0
        else:
            self._pending += 1
        item = self._loader.next_item(self._device)
        if item is None:
            if not xp.get_tracer_marked_step():
                xm.mark_step()
            raise StopIteration
        return item


class _Failure:
    """Travels through the queues in the place of a batch; the loop raises it."""

    def __init__(self, error):
        self.error = error


def _either_name(function):
    """The loader's name is cpu_loader since PyTorch/XLA 2.5."""
    @functools.wraps(function)
    def run(self, *args, **kwargs):
        if "cpu_loader" in kwargs:
            kwargs["loader"] = kwargs.pop("cpu_loader")
        return function(self, *args, **kwargs)
    return run


_open: weakref.WeakSet[Any] = weakref.WeakSet()  # loaders with threads that may be running


@atexit.register
def _close_all():
    """A thread inside of PyTorch while the interpreter ends takes the process with it (abort): loops that were left early end first."""
    loaders = list(_open)
    for loader in loaders:
        loader.close()
    for loader in loaders:
        for thread in loader._threads:
            thread.join(5)  # a thread that reads may wait forever in Python, which does no harm


class ParallelLoader:
    """Reads batches on one thread and uploads them on others.

    Args:
      loader: An iterable of nested data with CPU tensors.
      devices: The devices that get the batches in turn. Batches that do not suffice for all devices at the end are left out.
      batchdim: Has no effect.
      batches_per_execution: Batches per step barrier.
      loader_prefetch_size: The most batches that wait for their upload.
      device_prefetch_size: The most batches that wait on the device.
      host_to_device_transfer_threads: Threads that upload; with several of them the order of batches may change.
      input_sharding: See xm.send_cpu_data_to_device().

    Raises:
      ValueError: There is no device.
      RuntimeError: A device does not exist.
    """

    @_either_name
    def __init__(self, loader: Any, devices: Sequence[Any], batchdim: int = 0, batches_per_execution: int = 1, loader_prefetch_size: int = 8,
                 device_prefetch_size: int = 4, host_to_device_transfer_threads: int = 1, input_sharding: Any = None) -> None:
        self._cpu_loader = loader
        self._input_sharding = input_sharding
        if not devices:
            raise ValueError("expects at least one device for the batches, but got none")
        for device in devices:
            if device is not None and torch.device(device).type == "xla":
                _devices.index_of(device)
        self._batchdim, self._batches_per_execution, self._done = batchdim, batches_per_execution, False
        self._queues = {str(xm.xla_device() if device is None else device):
                        PerDeviceQueue(device, loader_prefetch_size, device_prefetch_size) for device in devices}
        self._threads = [threading.Thread(target=self._read, name="batches: read", daemon=True)]
        for dqueue in self._queues.values():
            dqueue.close_queue_count = host_to_device_transfer_threads
            self._threads += [threading.Thread(target=self._upload, args=(dqueue,), name="batches: upload", daemon=True)
                              for _ in range(host_to_device_transfer_threads)]
        self._lock = threading.Lock()
        self._as_user: Callable[[], Any] = contextlib.nullcontext
        if input_sharding is not None:  # errors of input_sharding name a line of the program: that of the loop
            from .spmd import _places
            self._as_user = functools.partial(_places.acting_for, _places.user_place())
        for thread in self._threads:
            thread.start()
        _open.add(self)

    def per_device_loader(self, device: Any) -> PerDeviceLoader:
        """Returns the iterator over the batches of one device.

        Raises:
          RuntimeError: The loader does not have this device.
        """
        self._queue_of(device)
        return PerDeviceLoader(self, device)

    def per_device_samples(self) -> int:
        """Returns the number of batches per device."""
        return len(self._cpu_loader) // len(self._queues)

    def next_item(self, device: Any) -> Any:
        """Returns the next batch of a device, or None at the end.

        Args:
          device: The device.

        Raises:
          RuntimeError: The loader does not have this device.
          Exception: The loader, or the copy to the device, raised it.
        """
        item = self._queue_of(device).queue.get()
        if isinstance(item, _Failure):
            raise item.error
        return item

    def close(self) -> None:
        """Ends the threads; batches that were not taken are lost."""
        self._done = True
        for dqueue in self._queues.values():
            dqueue.queue.close()
            dqueue.cpu_loader_queue.close()

    @property
    def batches_per_execution(self) -> int:
        """Batches per step barrier."""
        return self._batches_per_execution

    def send_cpu_data_to_device(self, batches: list[Any], device: Any) -> list[Any]:
        """Returns copies of batches on a device, sharded as the loader's input_sharding says.

        Args:
          batches: Nested data with tensors of the CPU.
          device: The device.
        """
        return xm.send_cpu_data_to_device(batches, device, self._input_sharding)

    def _queue_of(self, device):
        found = self._queues.get(str(device))
        if found is None:
            raise RuntimeError(f"expects one of the devices {list(self._queues)}, but got {device}")
        return found

    def _read(self):
        queues = list(self._queues.values())
        try:
            turn: list[Any] = []  # a batch per device, or none
            for batch in self._cpu_loader:
                turn.append(batch)
                if len(turn) < len(queues):
                    continue
                if self._done or not all(dqueue.cpu_loader_queue.put(one) for dqueue, one in zip(queues, turn)):
                    return
                turn.clear()
        except BaseException as error:  # next_item() raises the error again
            for dqueue in queues:
                dqueue.cpu_loader_queue.put(_Failure(error))
        for dqueue in queues:
            dqueue.cpu_loader_queue.close_write()

    def _upload(self, dqueue):
        while True:
            batch = dqueue.cpu_loader_queue.get()
            if batch is None:
                break
            if not isinstance(batch, _Failure):
                try:
                    with self._as_user():
                        batch = self.send_cpu_data_to_device([batch], dqueue.device)[0]
                except BaseException as error:
                    batch = _Failure(error)
            if not dqueue.queue.put(batch):
                break
        with self._lock:
            dqueue.close_queue_count -= 1
            if dqueue.close_queue_count == 0:
                dqueue.queue.close_write()


class _Unread:
    """In place of a ParallelLoader: reads a batch when it is asked for, in the thread that asks."""

    def __init__(self, loader, device, batches_per_execution=1, input_sharding=None, **unused):
        self._batches, self._device, self.batches_per_execution = iter(loader), device, batches_per_execution
        self._input_sharding = input_sharding

    def next_item(self, device):
        """Returns the next batch, None at the end."""
        for batch in self._batches:
            return xm.send_cpu_data_to_device([batch], self._device, self._input_sharding)[0]
        return None

    def close(self):
        """Nothing runs in the background."""


class MpDeviceLoader:
    """A loader whose batches are read and uploaded in the background; every loop over it starts anew.

    A loader of accelerate (it has a `gradient_state`) is not read ahead: it says of the present batch whether it is the last one, and accelerate
    and Trainer ask while that batch is used.

    Args:
      loader: An iterable of nested data with CPU tensors. Attributes that this class does not have are the loader's.
      device: The device that gets the batches.
      **kwargs: Arguments of ParallelLoader. transformers and accelerate change them before they loop, under the name _parallel_loader_kwargs.
    """

    def __init__(self, loader: Iterable[Any], device: Any, **kwargs: Any) -> None:
        self._loader, self._device, self._parallel_loader_kwargs = loader, device, kwargs
        self._parallel_loader: ParallelLoader | None = None

    def __getattr__(self, name):
        if name == "_loader":  # not made yet
            raise AttributeError(name)
        return getattr(self._loader, name)

    def __iter__(self):
        self.close()
        if hasattr(self._loader, "gradient_state"):
            yield from PerDeviceLoader(_Unread(self._loader, self._device, **self._parallel_loader_kwargs), self._device)
            return
        parallel = self._parallel_loader = ParallelLoader(self._loader, [self._device], **self._parallel_loader_kwargs)
        try:
            yield from parallel.per_device_loader(self._device)
        finally:
            parallel.close()

    def __len__(self):
        return len(self._loader)

    def close(self) -> None:
        """Ends the threads of the last loop."""
        if self._parallel_loader is not None:
            self._parallel_loader.close()
            self._parallel_loader = None
