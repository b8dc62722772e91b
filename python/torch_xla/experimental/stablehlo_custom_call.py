# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls in recorded and exported programs: stablehlo.custom_call with a target of the user's."""
import torch

from .. import _load
from ._control_flow import _to_device

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def stablehlo_custom_call(args, call_target, output_shapes, output_dtypes, has_side_effect=False, backend_config="",
                          api_version=0, frontend_attributes=None):
    """Records a call of `call_target`; one result per shape and type, alone if there is one.

    Running it needs a handler of that name (docs/custom-calls.md); an exported program only names it."""
    made = _XLAC._custom_call([_to_device(arg) for arg in args], call_target, [tuple(map(int, shape)) for shape in output_shapes],
                              list(output_dtypes), bool(has_side_effect), backend_config, int(api_version),
                              dict(frontend_attributes or {}))
    return made[0] if len(made) == 1 else tuple(made)


def extract_custom_call_outputs_shape_dtype(n):
    """Sizes and types of the results of an FX node, for stablehlo_custom_call()."""
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
    """The tensor in the memory of the host, for devices that have one of their own; its gradient comes back to the device. This
    device's memory is the host's: the annotation is for those who read or run the program elsewhere."""
    return _placed(t, "pinned_host")


@torch.library.custom_op("xla::place_to_device", mutates_args=())
def place_to_device(t: torch.Tensor) -> torch.Tensor:
    """The tensor in the memory of the device, see place_to_host(); its gradient goes to the host."""
    return _placed(t, "device")


def to_host_backward(ctx, grad):
    """The gradient of place_to_host()."""
    return place_to_device(grad)


def to_device_backward(ctx, grad):
    """The gradient of place_to_device()."""
    return place_to_host(grad)


for _operator, _gradient in ((place_to_host, to_host_backward), (place_to_device, to_device_backward)):
    _operator.register_fake(torch.empty_like)
    _operator.register_autograd(_gradient)
