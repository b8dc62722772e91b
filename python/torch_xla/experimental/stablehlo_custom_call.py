# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls in recorded and exported programs: stablehlo.custom_call with a target of the user's."""
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
