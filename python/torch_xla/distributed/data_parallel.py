# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.data_parallel (dp): the oldest way of training, a replica of the model per device in one process."""
import copy

from ..core import xla_model as xm
from . import parallel_loader as pl


class Context:
    """What belongs to one replica over all epochs; set attributes as you like."""

    def __init__(self, device):
        self.device = device

    def getattr_or(self, name, defval):
        """The attribute; if it is not there, it is made of `defval`, which is called if it can be."""
        if not hasattr(self, name):
            setattr(self, name, defval() if callable(defval) else defval)
        return getattr(self, name)


class DataParallel:
    """One replica of `network` (a module or a function that makes one) per device of `device_ids`, one at most today: the first.

    Calling it with (loop_fn, loader) runs loop_fn(model, loader on the device, device, context) and returns [its result]."""

    def __init__(self, network, device_ids=None, **kwargs):
        device_ids = xm.get_xla_supported_devices()[:1] if device_ids is None else list(device_ids)
        if len(device_ids) > 1:
            raise NotImplementedError(f"replicas on {len(device_ids)} devices of one process are not there yet")
        self._options, self._devices = kwargs, [str(device) for device in device_ids]
        made = network if not callable(network) or hasattr(network, "parameters") else network()
        self._models = [copy.deepcopy(made).to(device) for device in self._devices] or [made]
        self._contexts = [Context(device) for device in self._devices or ["cpu"]]

    @property
    def devices(self):
        """The devices as strings."""
        return self._devices

    @property
    def models(self):
        """The replicas."""
        return self._models

    def __call__(self, loop_fn, loader, fixed_batch_size=False, batchdim=0):
        """Runs loop_fn over the loader. `fixed_batch_size`, `batchdim`: no effect on one device."""
        if not self._devices:
            return [loop_fn(self._models[0], loader, "cpu", self._contexts[0])]
        parallel = pl.ParallelLoader(loader, self._devices, batchdim=batchdim, **self._options)
        try:
            return [loop_fn(self._models[0], parallel.per_device_loader(self._devices[0]), self._devices[0], self._contexts[0])]
        finally:
            parallel.close()
