# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.data_parallel (dp): training with one replica of the model per device, all in one process."""
import copy
import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from .. import _devices, _replicas, _world
from .. import runtime as xr
from ..core import xla_model as xm
from . import parallel_loader as pl


class Context:
    """State of one replica that lasts over all epochs; the user sets attributes."""

    def __init__(self, device: torch.device) -> None:
        self.device = device

    def getattr_or(self, name: str, defval: Any) -> Any:
        """Returns an attribute, which is set first if it does not exist.

        Args:
          name: Its name.
          defval: Its value, or a function that returns it.
        """
        if not hasattr(self, name):
            setattr(self, name, defval() if callable(defval) else defval)
        return getattr(self, name)


class DataParallel:
    """Replicas of a model, one per device of this process.

    In the threads of the replicas, xm's and xr's queries and collectives are among these replicas: xm.optimizer_step() averages their gradients. All
    replicas have to execute the same steps.

    Args:
      network: A module, or a function that makes one.
      device_ids: The devices, all of this process by default.
      **kwargs: Arguments of ParallelLoader.

    Raises:
      ValueError: A device is named twice.
      RuntimeError: Several devices in a program of several processes or with SPMD; or a device does not exist.
    """

    def __init__(self, network: Any, device_ids: Iterable[torch.device | str] | None = None, **kwargs: Any) -> None:
        device_ids = list((xm.get_xla_supported_devices() or ()) if device_ids is None else device_ids)
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
    def devices(self) -> list[str]:
        """The names of the devices."""
        return self._devices

    @property
    def models(self) -> list[Any]:
        """The replicas."""
        return self._models

    def __call__(self, loop_fn: Callable[..., Any], loader: Iterable[Any], fixed_batch_size: bool = False, batchdim: int = 0) -> list[Any]:
        """Runs a loop on every replica, each on a thread of its own.

        Args:
          loop_fn: loop_fn(model, loader on the device, device, context).
          loader: An iterable of batches, which go to the devices in turn. Batches that do not suffice for all devices at the end are left out.
          fixed_batch_size: Has no effect.
          batchdim: Has no effect.

        Returns:
          The loops' results, by device.
        """
        if not self._devices:
            return [loop_fn(self._models[0], loader, "cpu", self._contexts[0])]
        parallel = pl.ParallelLoader(loader, self._devices, batchdim=batchdim, **self._options)
        try:
            works = [functools.partial(self._work, loop_fn, index, parallel) for index in range(len(self._devices))]
            return [works[0]()] if len(works) == 1 else _replicas.Replicas(list(map(torch.device, self._devices))).run(works)
        finally:
            parallel.close()

    def _work(self, loop_fn, index, parallel):
        """Returns the loop of one replica, whose device is the one on which its thread makes tensors."""
        outer = xm._XLAC._current_device()
        xm._XLAC._set_current_device(_devices.index_of(self._devices[index]))
        try:
            return loop_fn(self._models[index], parallel.per_device_loader(self._devices[index]), torch.device(self._devices[index]),
                           self._contexts[index])
        finally:
            xm._XLAC._set_current_device(outer)
