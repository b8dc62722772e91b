# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchanges tensors of the device with other libraries without copies, for the device's memory is the host's."""
from typing import Any

import torch

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def to_dlpack(xla_tensor: torch.Tensor) -> Any:
    """A DLPack capsule of the tensor's memory, as memory of the CPU. Computes the tensor first. The capsule shares the memory:
    it must not be written while the device uses the tensor."""
    if not isinstance(xla_tensor, torch.Tensor) or xla_tensor.device.type != "xla":
        raise ValueError("expects a tensor of the xla device")
    return torch.utils.dlpack.to_dlpack(_XLAC._to_cpu_alias(xla_tensor.detach()))


def from_dlpack(ext_tensor: Any) -> torch.Tensor:
    """A tensor of the device over the memory of `ext_tensor`, a capsule or an object with __dlpack__. Without a copy where the
    memory is the CPU's, dense and aligned to 64 bytes."""
    cpu = torch.utils.dlpack.from_dlpack(ext_tensor)
    if cpu.device.type != "cpu":
        cpu = cpu.cpu()
    return _XLAC._from_cpu_alias(cpu)
