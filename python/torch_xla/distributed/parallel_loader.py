# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loaders that move batches to the device while the last one is worked on, with a step barrier per batch."""
import queue
import threading

from ..core import xla_model as xm

_END = object()


class MpDeviceLoader:
    """Iterates `loader` with its tensors on `device`. A barrier follows every `batches_per_execution` batches."""

    def __init__(self, loader, device, loader_prefetch_size=16, device_prefetch_size=8, host_to_device_transfer_threads=1,
                 input_sharding=None, batches_per_execution=1, **kwargs):
        if input_sharding is not None:
            raise NotImplementedError("input_sharding is not there yet")
        self._loader, self._device = loader, device
        self._depth, self._per_execution = device_prefetch_size, batches_per_execution

    def __len__(self):
        return len(self._loader)

    def __iter__(self):
        ready, stopped = queue.Queue(self._depth), threading.Event()

        def put(item):
            while not stopped.is_set():
                try:
                    return ready.put(item, timeout=0.1)
                except queue.Full:
                    pass

        def work():
            try:
                for batch in self._loader:
                    if stopped.is_set():
                        return
                    put((xm.send_cpu_data_to_device(batch, self._device), None))
            except BaseException as error:  # raised again where the batch is asked for
                put((None, error))
            put((_END, None))

        threading.Thread(target=work, daemon=True).start()
        try:
            count = 0
            while True:
                if count and count % self._per_execution == 0:
                    xm.mark_step()
                batch, error = ready.get()
                if error is not None:
                    raise error
                if batch is _END:
                    break
                count += 1
                yield batch
            xm.mark_step()
        finally:
            stopped.set()


class ParallelLoader:
    """The loaders of several devices; here there is one."""

    def __init__(self, cpu_loader, devices, **kwargs):
        if len(devices) != 1:
            raise NotImplementedError(f"{len(devices)} devices in one process are not there yet")
        self._loader = MpDeviceLoader(cpu_loader, devices[0], **kwargs)

    def per_device_loader(self, device):
        return self._loader

    def close(self):
        """Nothing to do: the thread of a loader ends with its iteration."""
