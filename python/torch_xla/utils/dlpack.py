# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchanges tensors of the device with other libraries without copies, for the device's memory is the host's."""
from typing import Any

import torch

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def to_dlpack(xla_tensor: torch.Tensor) -> Any:
    """Returns a DLPack capsule of a tensor's memory, as memory of the CPU, without a copy; a pending value is computed first.

    The capsule shares the memory, which must not be written while the device uses the tensor.

    Args:
      xla_tensor: A tensor of the device.

    Raises:
      ValueError: It is no tensor of the device.
    """
    if not isinstance(xla_tensor, torch.Tensor) or xla_tensor.device.type != "xla":
        raise ValueError("expects a tensor of the xla device")
    return torch.utils.dlpack.to_dlpack(_XLAC._to_cpu_alias(xla_tensor.detach()))


def from_dlpack(ext_tensor: Any) -> torch.Tensor:
    """Returns a tensor of the device over the memory of another library; it is a copy unless the memory is the CPU's, dense and aligned to 64 bytes.

    Args:
      ext_tensor: A DLPack capsule, or an object with __dlpack__.
    """
    cpu = torch.utils.dlpack.from_dlpack(ext_tensor)
    if cpu.device.type != "cpu":
        cpu = cpu.cpu()
    return _XLAC._from_cpu_alias(cpu)
