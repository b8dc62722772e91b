# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Devices of other PJRT libraries, as PyTorch/XLA registers them. Millrace compiles and runs programs itself and loads no such library:
a plug-in can be described and registered, and choosing its device (PJRT_DEVICE) is the error that any unknown device is."""
import importlib.metadata
import os
import warnings

from .. import _load
from ..core import xla_env_vars as xenv
from ..utils import utils as xu

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_registered = {}


class DevicePlugin:
    """What a plug-in says about its device; the defaults describe one device and one process."""

    def library_path(self):
        """Returns the path of the PJRT library."""
        raise NotImplementedError("a plug-in has to implement library_path(), which returns the path of its library")

    def host_index(self):
        """Index of this host among all."""
        return 0

    def configure_single_process(self):
        """Prepares this process to be the only one."""
        raise NotImplementedError("a plug-in must implement configure_single_process()")

    def configure_multiprocess(self, local_rank, local_world_size):
        """Prepares this process to be number `local_rank` of `local_world_size` on this host."""

    def physical_chip_count(self):
        """Devices of this host, and so processes that xmp.spawn() starts."""
        return 1

    def client_create_options(self):
        """Options for the library's client, by name."""
        return {}

    def requires_xla_coordinator(self):
        """Whether the processes meet before the client is made."""
        return False


def use_dynamic_plugins():
    """From now on using_dynamic_plugins(); RuntimeError once a device was used."""
    if _XLAC._xla_runtime_is_initialized() and not using_dynamic_plugins():
        raise RuntimeError("plug-ins cannot be enabled any more: a device was used already")
    os.environ[xenv.PJRT_DYNAMIC_PLUGINS] = "1"


def using_dynamic_plugins():
    """Whether PJRT_DYNAMIC_PLUGINS says so."""
    return xu.check_env_flag(xenv.PJRT_DYNAMIC_PLUGINS)


def register_plugin(name, device_plugin):
    """Keeps a DevicePlugin under the name by which PJRT_DEVICE would choose it. Its library is not loaded, which a warning says."""
    _registered[name.upper()] = device_plugin
    warnings.warn(f"the plug-in {name.upper()} is known, but PJRT_DEVICE cannot choose it: Millrace runs programs itself, on the CPU",
                  stacklevel=2)


def default():
    """The plug-in of the device in use; KeyError where it has none, as Millrace's own has not."""
    from .. import runtime
    return _registered[runtime.device_type()]


def register_installed_plugins():
    """register_plugin() for what installed distributions offer (entry points torch_xla.plugins)."""
    for entry in importlib.metadata.entry_points(group="torch_xla.plugins"):
        register_plugin(entry.name, entry.load()())
