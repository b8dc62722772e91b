# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls in recorded and exported programs: stablehlo.custom_call with a target of the user's."""
from collections.abc import Sequence
from typing import Any

import torch

from .. import _load
from ._control_flow import _to_device

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def stablehlo_custom_call(args: Sequence[Any], call_target: str, output_shapes: Sequence[Sequence[int]], output_dtypes: Sequence[torch.dtype],
                          has_side_effect: bool = False, backend_config: str = "", api_version: int = 0,
                          frontend_attributes: dict[str, str] | None = None) -> torch.Tensor | tuple[torch.Tensor, ...]:
    """Records the operation stablehlo.custom_call.

    A program that runs needs a handler of the target's name (docs/custom-calls.md); an exported program only names it.

    Args:
      args: The operands: tensors, which are copied to the device, and numbers.
      call_target: The name of the handler.
      output_shapes: The sizes of each result.
      output_dtypes: The type of each result.
      has_side_effect: Whether the call must stay although nothing reads its results.
      backend_config: A text for the handler.
      api_version: The number of StableHLO's attribute api_version.
      frontend_attributes: StableHLO's attribute mhlo.frontend_attributes, by name.

    Returns:
      The result, or a tuple if there are several.

    Raises:
      RuntimeError: There are more shapes than types, or fewer.
    """
    made = _XLAC._custom_call([_to_device(arg) for arg in args], call_target, [tuple(map(int, shape)) for shape in output_shapes],
                              list(output_dtypes), bool(has_side_effect), backend_config, int(api_version),
                              dict(frontend_attributes or {}))
    return made[0] if len(made) == 1 else tuple(made)


def extract_custom_call_outputs_shape_dtype(n: torch.fx.Node) -> tuple[list[tuple[int, ...]], list[torch.dtype]]:
    """Returns the sizes and types of an FX node's results, as stablehlo_custom_call() takes them.

    Args:
      n: The node, whose meta["val"] is a tensor or a tuple of tensors.
    """
    values = n.meta["val"]
    values = values if isinstance(values, (tuple, list)) else (values,)
    return [tuple(value.shape) for value in values], [value.dtype for value in values]


def _placed(t, where):
    if t.device.type != "xla":
        return t.clone()
    return stablehlo_custom_call([t], "annotate_device_placement", [t.shape], [t.dtype], has_side_effect=True,
                                 frontend_attributes={"_xla_buffer_placement": where})


@torch.library.custom_op("xla::place_to_host", mutates_args=())
def place_to_host(t: torch.Tensor) -> torch.Tensor:
    """Returns a copy of a tensor in the memory of the host, as an operator that a compiler may trace.

    The memory of this device is the host's: the annotation in the program is for those who read it or run it elsewhere. The gradient comes back to
    the device.

    Args:
      t: A tensor; on the CPU it is copied.
    """
    return _placed(t, "pinned_host")


@torch.library.custom_op("xla::place_to_device", mutates_args=())
def place_to_device(t: torch.Tensor) -> torch.Tensor:
    """Returns a copy of a tensor in the memory of the device, see place_to_host(); the gradient goes to the host.

    Args:
      t: A tensor; on the CPU it is copied.
    """
    return _placed(t, "device")


def to_host_backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    """Returns the gradient for the argument of place_to_host(): place_to_device(grad).

    Args:
      ctx: The context of autograd, which is not used.
      grad: The gradient of the result.
    """
    return place_to_device(grad)


def to_device_backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
    """Returns the gradient for the argument of place_to_device(): place_to_host(grad).

    Args:
      ctx: The context of autograd, which is not used.
      grad: The gradient of the result.
    """
    return place_to_host(grad)


for _operator, _gradient in ((place_to_host, to_host_backward), (place_to_device, to_device_backward)):
    _operator.register_fake(torch.empty_like)
    _operator.register_autograd(_gradient)
