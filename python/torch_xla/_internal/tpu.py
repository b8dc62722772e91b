# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What libraries ask about accelerators before they choose torch_xla.

Millrace drives no TPU: everything that describes one raises OSError, as the original does on a machine without. The one exception is
num_available_devices(), by which Lightning and others decide whether torch_xla may be used at all."""
import os
from typing import NoReturn


def _no_tpu(what: str) -> NoReturn:
    raise EnvironmentError(f"{what} describes a TPU, and Millrace drives none. Devices are named by PJRT_DEVICE (CPU).")


def num_available_chips() -> int:
    """Returns the number of TPU chips, 0: Millrace drives none."""
    return 0


def num_available_devices() -> int:
    """Returns the number of devices that a process may use: CPU_NUM_DEVICES with PJRT_DEVICE=CPU, and 0 otherwise.

    A user who sets PJRT_DEVICE=CPU asks for torch_xla, and Lightning's Trainer(accelerator="auto") then uses it; without the variable libraries keep
    to PyTorch's own devices. The call does not start the runtime."""
    if os.environ.get("PJRT_DEVICE", "").upper() != "CPU":
        return 0
    return int(os.environ.get("CPU_NUM_DEVICES", "1"))


def num_local_processes():
    """How many processes xmp.spawn starts here: one."""
    return 1


def num_tpu_workers():
    """How many hosts take part: one."""
    return 1


def get_worker_ips():
    """Returns the hosts that take part."""
    return ["localhost"]


def discover_master_worker_ip(use_localhost=True):
    """Returns the host of the first device."""
    return "localhost"


def process_bounds_size():
    """Processes across all TPU hosts: unknown."""
    return None


def task_id():
    """The index of this process among the TPU's: there is none."""
    return None


def worker_id():
    """The index of this host among the TPU's."""
    _no_tpu("worker_id()")


def version() -> NoReturn:
    """Raises an error: there is no TPU whose generation it could return.

    Raises:
      OSError: Always.
    """
    _no_tpu("version()")


def get_tpu_type():
    """The TPU's type."""
    _no_tpu("get_tpu_type()")


def get_tpu_env():
    """The TPU's environment."""
    _no_tpu("get_tpu_env()")


def num_logical_cores_per_chip():
    """Devices of one TPU chip."""
    _no_tpu("num_logical_cores_per_chip()")


def configure_one_chip_topology():
    """One process on one TPU chip."""
    _no_tpu("configure_one_chip_topology()")


def configure_topology(local_rank, local_world_size, base_port=8476):
    """One process for each TPU chip."""
    _no_tpu("configure_topology()")
