# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.data_parallel (dp): training with one replica of the model per device, all in one process."""
import copy
import functools

import torch

from .. import _devices, _replicas, _world
from .. import runtime as xr
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
    """One replica of `network` (a module or a function that makes one) per device of `device_ids`: by default all that this process has.

    Calling it with (loop_fn, loader) runs loop_fn(model, loader on the device, device, context) for each, on threads of their own, and returns the
    list of results. Batches go to the devices in turns; those of a last turn that is not full are left out. In the threads xm's and xr's queries and
    collectives are among these replicas: xm.optimizer_step() averages their gradients. Steps have to be the same in all."""

    def __init__(self, network, device_ids=None, **kwargs):
        device_ids = xm.get_xla_supported_devices() if device_ids is None else list(device_ids)
        if len(set(map(str, device_ids))) < len(device_ids):
            raise ValueError(f"expects different devices, but got {list(map(str, device_ids))}")
        if len(device_ids) > 1 and (_world.process_count() > 1 or xr.is_spmd()):
            raise RuntimeError("data_parallel on several devices is for a program of one process without SPMD: with several processes each has one device")
        for device in device_ids:
            _devices.index_of(device)
        self._options, self._devices = kwargs, [str(device) for device in device_ids]
        made = network if not callable(network) or hasattr(network, "parameters") else network()
        self._models = [copy.deepcopy(made).to(device) for device in self._devices] or [made]
        self._contexts = [Context(torch.device(device)) for device in self._devices or ["cpu"]]

    @property
    def devices(self):
        """The devices as strings."""
        return self._devices

    @property
    def models(self):
        """The replicas."""
        return self._models

    def __call__(self, loop_fn, loader, fixed_batch_size=False, batchdim=0):
        """Runs loop_fn over the loader. `fixed_batch_size`: no effect, `batchdim`: see ParallelLoader."""
        if not self._devices:
            return [loop_fn(self._models[0], loader, "cpu", self._contexts[0])]
        parallel = pl.ParallelLoader(loader, self._devices, batchdim=batchdim, **self._options)
        try:
            works = [functools.partial(self._work, loop_fn, index, parallel) for index in range(len(self._devices))]
            return [works[0]()] if len(works) == 1 else _replicas.Replicas(list(map(torch.device, self._devices))).run(works)
        finally:
            parallel.close()

    def _work(self, loop_fn, index, parallel):
        """The loop of one replica, whose device is the one on which its thread makes tensors."""
        outer = xm._XLAC._current_device()
        xm._XLAC._set_current_device(_devices.index_of(self._devices[index]))
        try:
            return loop_fn(self._models[index], parallel.per_device_loader(self._devices[index]), torch.device(self._devices[index]),
                           self._contexts[index])
        finally:
            xm._XLAC._set_current_device(outer)
