# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.xla_multiprocessing (xmp): one process, one device."""


def spawn(fn, args=(), nprocs=None, join=True, daemon=False, start_method="spawn"):
    """Runs fn(0, *args) here. More than one process is not there yet."""
    if nprocs not in (None, 1):
        raise NotImplementedError(f"xmp.spawn with nprocs={nprocs}: several processes are not there yet; use nprocs=1")
    fn(0, *args)


class MpModelWrapper:
    """Holds a model that all processes share; .to(device) gives it."""

    def __init__(self, model):
        self._model = model

    def to(self, device):
        return self._model.to(device)


class MpSerialExecutor:
    """Runs a function in one process after the other."""

    def run(self, fn):
        return fn()
