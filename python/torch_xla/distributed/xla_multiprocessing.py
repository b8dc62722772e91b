# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.xla_multiprocessing (xmp): one process, one device."""
import os


def spawn(fn, args=(), nprocs=None, join=True, daemon=False, start_method="spawn"):
    """Runs fn(index, *args) once per device, each in a process of its own; with one device in this process, and returns None.

    `nprocs`: 1, or the number of devices (CPU_NUM_DEVICES), which is the default. Several processes are not there yet."""
    devices = int(os.environ.get("CPU_NUM_DEVICES") or "1")
    wanted = devices if nprocs is None else nprocs
    if wanted != 1:
        raise NotImplementedError(f"xmp.spawn with nprocs={nprocs} (CPU_NUM_DEVICES={devices}): several processes are not there yet; use "
                                  "nprocs=1")
    fn(0, *args)


class MpModelWrapper:
    """Holds a model that is made once for all processes; .to(device) gives it."""

    def __init__(self, model):
        self._model = model

    def to(self, device):
        """The model, moved to the device."""
        return self._model.to(device)


class MpSerialExecutor:
    """Runs a function in one process after the other, for example a download that only the first one has to do."""

    def run(self, fn):
        """fn()."""
        return fn()


def create_optimized_replica_groups():
    """Groups of replicas that are quick among themselves: None, all are alike."""
    return None
