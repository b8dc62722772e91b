# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices of other PJRT libraries, as PyTorch/XLA registers them. Millrace compiles and runs programs itself and loads no such library:
a plug-in can be described and registered, and choosing its device (PJRT_DEVICE) is the error that any unknown device is."""
import importlib.metadata
import os
import warnings
from typing import Any

from .. import _load
from ..core import xla_env_vars as xenv
from ..utils import utils as xu

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_registered: dict[str, "DevicePlugin"] = {}


class DevicePlugin:
    """A description of a device of another PJRT library; the defaults describe one device and one process."""

    def library_path(self) -> str:
        """Returns the path of the PJRT library.

        Raises:
          NotImplementedError: The subclass does not define this method.
        """
        raise NotImplementedError("a plug-in has to implement library_path(), which returns the path of its library")

    def host_index(self) -> int:
        """Returns the index of this host among all."""
        return 0

    def configure_single_process(self) -> None:
        """Prepares this process to be the only one.

        Raises:
          NotImplementedError: The subclass does not define this method.
        """
        raise NotImplementedError("a plug-in must implement configure_single_process()")

    def configure_multiprocess(self, local_rank: int, local_world_size: int) -> None:
        """Prepares this process to be one of several on this host; it does nothing by default.

        Args:
          local_rank: The number of this process on this host.
          local_world_size: The number of processes on this host.
        """

    def physical_chip_count(self) -> int:
        """Returns the number of devices of this host, which is that of the processes of xmp.spawn()."""
        return 1

    def client_create_options(self) -> dict[str, Any]:
        """Returns the options of the library's client by name."""
        return {}

    def requires_xla_coordinator(self) -> bool:
        """Returns whether the processes need a coordinator before the client is created."""
        return False


def use_dynamic_plugins() -> None:
    """Sets PJRT_DYNAMIC_PLUGINS, so that using_dynamic_plugins() holds.

    Raises:
      RuntimeError: A device has been used already.
    """
    if _XLAC._xla_runtime_is_initialized() and not using_dynamic_plugins():
        raise RuntimeError("plug-ins cannot be enabled any more: a device was used already")
    os.environ[xenv.PJRT_DYNAMIC_PLUGINS] = "1"


def using_dynamic_plugins() -> bool:
    """Returns whether the environment variable PJRT_DYNAMIC_PLUGINS is set to a true value."""
    return xu.check_env_flag(xenv.PJRT_DYNAMIC_PLUGINS)


def register_plugin(name: str, device_plugin: DevicePlugin) -> None:
    """Keeps a description under the name by which PJRT_DEVICE would choose its device.

    Unlike PyTorch/XLA, Millrace does not load the library, and a warning says so.

    Args:
      name: The name; its letters become upper case.
      device_plugin: The description.
    """
    _registered[name.upper()] = device_plugin
    warnings.warn(f"the plug-in {name.upper()} is known, but PJRT_DEVICE cannot choose it: Millrace runs programs itself, on the CPU",
                  stacklevel=2)


def default() -> DevicePlugin:
    """Returns the description of the device in use.

    Raises:
      KeyError: It has none; Millrace's own device has none.
    """
    from .. import runtime
    return _registered[str(runtime.device_type())]


def register_installed_plugins() -> None:
    """Calls register_plugin() for every entry point torch_xla.plugins of the installed distributions."""
    for entry in importlib.metadata.entry_points(group="torch_xla.plugins"):
        register_plugin(entry.name, entry.load()())
