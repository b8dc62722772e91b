# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finished computations of torch_xla.core.xla_builder: given as StableHLO, printed as HLO, and called on tensors."""
from collections.abc import Sequence

import torch

from .. import _load
from . import _builder

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class Program:
    """A computation that was given as StableHLO text; its function `main` is the one that is called.

    Args:
      name: The name of the computation.
      text: The text of the StableHLO module.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name, self._text = name, text

    def text(self) -> str:
        """Returns the text of the StableHLO module."""
        return self._text


def computation_from_module_proto(name: str, proto: bytes | str) -> Program:
    """Returns a computation for a StableHLO module.

    Args:
      name: The name of the computation.
      proto: The text of the module, or the bytes of a portable artifact. Unlike PyTorch/XLA, no HloModuleProto is read.

    Raises:
      RuntimeError: The bytes are no portable artifact.
    """
    text = proto if isinstance(proto, str) else _XLAC._artifact_text(bytes(proto))
    return Program(name, text)


def get_computation_hlo(computation: _builder.Computation | Program) -> str:
    """Returns the HLO text of a computation.

    Args:
      computation: The result of create_computation() or computation_from_module_proto().

    Raises:
      RuntimeError: Its StableHLO text does not parse, or an operation has no form in HLO.
    """
    return _XLAC._program_hlo(computation.text())


def user_computation(name: str, tensors: Sequence[torch.Tensor], computation: _builder.Computation | Program) -> list[torch.Tensor]:
    """Records a call of a computation on tensors; nothing is computed before the next step barrier.

    Args:
      name: The name of the operation in the graph, such as "xla::my_op".
      tensors: The arguments; tensors on the CPU are copied to the device.
      computation: The result of create_computation(), computation_from_module_proto() or a function of xla_op_registry.

    Returns:
      The results, tensors of the device, one per result of the function.
    """
    from ..experimental._control_flow import _to_device
    return _XLAC._embed(name, computation.text(), [_to_device(tensor) for tensor in tensors])


def create_placeholder_tensor(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Returns a tensor of the device that has no elements in memory: graphs can be recorded and printed with it, but not run.

    Args:
      shape: The sizes.
      dtype: PyTorch's element type.
    """
    return _XLAC._create_placeholder_tensor(tuple(shape), dtype)
