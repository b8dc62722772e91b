# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.runtime (xr): the process's place in the world and the devices it has. A world is the processes that torchrun or xmp.spawn
started, each with CPU_NUM_DEVICES devices; under SPMD all devices of all of them are one."""
import logging
import os
from typing import Any

from . import _load, _world
from ._devices import xla_device  # noqa: F401
from .utils.utils import check_env_flag

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_auto_sharding = [False]  # the argument `auto` of the last use_spmd()
_auto_by_user = [False]  # whether the user has set XLA_AUTO_SPMD, and not use_spmd()


def device_type() -> str | None:
    """Returns the kind of the device, "CPU".

    PJRT_DEVICE may say so. Where it is not set, a line of the log says that the CPU was chosen, and it is set.

    Returns:
      "CPU"; None where PJRT_DEVICE is not set and PJRT_SELECT_DEFAULT_DEVICE=0 forbids the choice.

    Raises:
      RuntimeError: PJRT_DEVICE names another device.
    """
    if not os.environ.get("PJRT_DEVICE"):
        if os.environ.get("PJRT_SELECT_DEFAULT_DEVICE") == "0":
            return None
        if not _XLAC._default_device_was_said():
            logging.getLogger("torch_xla").warning("torch_xla: PJRT_DEVICE is not set, so the device is CPU")
        os.environ["PJRT_DEVICE"] = "CPU"
    return _XLAC._device_type()


def set_device_type(pjrt_device: str) -> None:
    """Chooses the device, as PJRT_DEVICE does.

    Args:
      pjrt_device: Only "CPU" exists.

    Raises:
      RuntimeError: Another device is in use.
    """
    if _XLAC._xla_runtime_is_initialized() and os.environ.get("PJRT_DEVICE") not in (None, "", pjrt_device):
        raise RuntimeError(f"the device {os.environ['PJRT_DEVICE']} is in use: {pjrt_device} cannot be chosen any more")
    os.environ["PJRT_DEVICE"] = pjrt_device


def is_bf16_supported() -> bool:
    """Returns whether the device computes with bfloat16: it does."""
    return True


def using_pjrt() -> bool:
    """Returns True: the runtime is PJRT. (PyTorch/XLA once had another one.)"""
    return True


def local_process_count() -> int:
    """Returns the number of processes of the program on this host."""
    return _world.local_size()


def process_count() -> int:
    """Returns the number of processes of the program."""
    return _world.process_count()


def process_index() -> int:
    """Returns the index of this process among all."""
    return _world.process_index()


def host_index() -> int:
    """Returns the index of this host among all: torchrun's GROUP_RANK, else 0."""
    return int(os.environ.get("GROUP_RANK") or 0)


def local_device_count() -> int:
    """Returns the number of devices of all processes on this host."""
    return addressable_device_count() * local_process_count()


def addressable_device_count() -> int:
    """Returns the number of devices on which this process can put tensors: CPU_NUM_DEVICES, or one under SPMD."""
    return _XLAC._device_count()


def global_device_count() -> int:
    """Returns the number of devices of all processes."""
    return addressable_device_count() * process_count()


def addressable_runtime_device_count() -> int:
    """Returns the number of devices that the runtime of this process has: CPU_NUM_DEVICES."""
    return _XLAC._runtime_device_count()


def global_runtime_device_count() -> int:
    """Returns the number of devices that the runtimes of all processes have."""
    return addressable_runtime_device_count() * process_count()


def world_size() -> int:
    """Returns the number of replicas that take part in collectives: one per process, although a process may have several devices; one in all
    under SPMD.
    """
    return _world.size()


def global_ordinal() -> int:
    """Returns the index of this replica among all; 0 under SPMD."""
    return _world.rank()


def local_ordinal() -> int:
    """Returns the index of this replica on its host; 0 under SPMD."""
    return 0 if is_spmd() else _world.local_rank()


def get_master_ip() -> str:
    """Returns the address of the host of the first process."""
    return os.environ.get("MASTER_ADDR", "localhost")


def runtime_device_attributes(device: str) -> dict[str, Any]:
    """Returns what the runtime tells about a device, by name.

    Args:
      device: The device's name in the runtime, such as "CPU:0".

    Raises:
      RuntimeError: No device has this name.
    """
    for known in global_runtime_device_attributes():
        if known["name"] == device:
            return known
    raise RuntimeError(f"expects one of {[known['name'] for known in global_runtime_device_attributes()]}, but got {device!r}")


def global_runtime_device_attributes() -> list[dict[str, Any]]:
    """Returns runtime_device_attributes() of all devices; waits until the processes are connected.

    Returns:
      Per device a dict with its name and process_index and, where there are several hosts, its slice_index, which is equal for the devices of one
      host.
    """
    slices, each = _XLAC._slices(), addressable_runtime_device_count()
    known = [{"name": f"CPU:{device}", "process_index": device // each} for device in range(len(slices) * each)]
    if len(set(slices)) > 1:
        for attributes in known:
            attributes["slice_index"] = slices[attributes["process_index"]]
    return known


def use_spmd(auto: bool = False, enable: bool = True) -> None:
    """Turns SPMD on: the device is then all devices (CPU_NUM_DEVICES of each process), and a program with sharded tensors is compiled once and run on
    all of them. Several processes (torchrun) have to run the same program. Tensors that exist stay valid. See torch_xla.distributed.spmd.

    XLA_USE_SPMD and XLA_AUTO_SPMD in the environment say the same to processes that this one starts.

    Args:
      auto: Whether to shard automatically: the first program that uses tensors of at least 1024 elements without an annotation is planned as a whole,
        and they are sharded as the plan says (docs/auto-sharding.md). XLA_AUTO_SPMD_MESH ("2,4") is the grid of the devices; without it they stand in
        one row. XLA_AUTO_SPMD_MACHINE is the machine that plans are for ("h100", or a file; by default this process's virtual devices), and a compiled
        program takes at most XLA_AUTO_SPMD_MEMORY ("16G") on a device; if no plan does, running it is an error. XLA_AUTO_SPMD=1 in the environment says
        the same of a program that calls use_spmd().
      enable: Whether to turn SPMD on. False turns it off, and sharded tensors are put together where they are used.
    """
    _auto_by_user[0] = check_env_flag("XLA_AUTO_SPMD") and (_auto_by_user[0] or not _auto_sharding[0])
    auto = auto or _auto_by_user[0]
    _XLAC._sync(False)
    _XLAC._spmd_use(bool(enable), bool(auto))
    _auto_sharding[0] = bool(enable and auto)
    for name, is_on in (("XLA_USE_SPMD", enable), ("XLA_AUTO_SPMD", enable and auto)):
        if is_on:
            os.environ[name] = "1"
        else:
            os.environ.pop(name, None)


def is_spmd() -> bool:
    """Returns whether use_spmd() is on."""
    return _XLAC._spmd_partitions() > 0


vars(is_spmd)["_dynamo_marked_constant"] = True  # Dynamo evaluates it while it traces.


def initialize_cache(path: str | os.PathLike, readonly: bool = False) -> None:
    """Keeps compiled programs in a folder, for this and other processes.

    XLA_PERSISTENT_CACHE_PATH and XLA_PERSISTENT_CACHE_READ_ONLY in the environment do the same; they are set here, for the processes that this one
    starts.

    Args:
      path: The folder.
      readonly: Whether to read programs only.

    Raises:
      RuntimeError: The first computation has taken place.
    """
    _XLAC._initialize_cache(os.fspath(path), bool(readonly))
    os.environ.update(XLA_PERSISTENT_CACHE_PATH=os.fspath(path), XLA_PERSISTENT_CACHE_READ_ONLY="1" if readonly else "0")


def get_num_cached_compilation_graph() -> int:
    """Returns the number of programs that this process keeps ready to run: at most XLA_COMPILATION_CACHE_SIZE (1024)."""
    return _XLAC._xla_get_num_cached_compilation_graph()


def clear_computation_cache() -> None:
    """Forgets the programs that are ready to run, and deletes those in the folder of initialize_cache(), if it may be written to.

    Raises:
      RuntimeError: A file of the folder cannot be deleted.
    """
    _XLAC._xla_computation_cache_clear()


def _follow_environment() -> None:
    """Begins as after use_spmd() where XLA_USE_SPMD or XLA_AUTO_SPMD is set."""
    automatic = check_env_flag("XLA_AUTO_SPMD")
    if automatic or check_env_flag("XLA_USE_SPMD"):
        use_spmd(auto=automatic)
