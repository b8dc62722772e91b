# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""More names of torch_xla._XLAC: products, precision, custom calls and computations, sizes and types of tensors."""
import torch

from . import _compile, _load
from ._bindings_table import Table
from .core import _builder
from .core import xla_model as xm

_XLAC = _load.sys.modules["torch_xla._XLAC"]
bound = Table()

_registered = False


def _dot_general_text(lhs, rhs, dim_numbers, dtype):
    contracting, batch = dim_numbers[0], (tuple(dim_numbers[1]) if len(dim_numbers) > 1 else ()) or ((), ())
    left_c, right_c = [d % lhs.dim() for d in contracting[0]], [d % rhs.dim() for d in contracting[1]]
    left_b, right_b = [d % lhs.dim() for d in batch[0]], [d % rhs.dim() for d in batch[1]]
    for left, right in zip(left_c + left_b, right_c + right_b):
        if lhs.size(left) != rhs.size(right):
            raise RuntimeError(f"expects dims of equal sizes, but got dim {left} of {tuple(lhs.shape)} and dim {right} of {tuple(rhs.shape)}")
    sizes = [lhs.size(d) for d in left_b] + [lhs.size(d) for d in range(lhs.dim()) if d not in left_b + left_c]
    sizes += [rhs.size(d) for d in range(rhs.dim()) if d not in right_b + right_c]
    builder = _builder.Builder("dot_general")
    given = [builder.parameter(i, {"type": _builder.NAMES[t.dtype], "sizes": tuple(t.shape)}) for i, t in enumerate((lhs, rhs))]
    made = builder.one("stablehlo.dot_general", given, _builder.NAMES[dtype], sizes, "dot_dimension_numbers = #stablehlo.dot<"
                       f"lhs_batching_dimensions = {left_b}, rhs_batching_dimensions = {right_b}, "
                       f"lhs_contracting_dimensions = {left_c}, rhs_contracting_dimensions = {right_c}>")
    return builder.build("dot_general", made).text()


#===-- Products ----------------------------------------------------------------===


@bound
def _xla_dot_general(lhs, rhs, dim_numbers, precision_config=None, preferred_element_type=None):
    text = _dot_general_text(lhs, rhs, dim_numbers, preferred_element_type or lhs.dtype)
    return _XLAC._embed("xla::dot_general", text, [lhs, rhs])[0]


@bound
def _xla_set_mat_mul_precision(precision):
    from . import backends
    backends.set_mat_mul_precision(precision)


@bound
def _xla_get_mat_mul_precision():
    from . import backends
    return backends.get_mat_mul_precision()


@bound
def _xla_set_use_full_mat_mul_precision(use_full_mat_mul_precision=True):
    _xla_set_mat_mul_precision("highest" if use_full_mat_mul_precision else "default")


#===-- Calls -------------------------------------------------------------------===


@bound
def _xla_custom_call(inputs, target, output_shapes, output_dtypes, has_side_effect=False, backend_config="", api_version=0,
                     frontend_attributes=None):
    from .experimental.stablehlo_custom_call import stablehlo_custom_call
    made = stablehlo_custom_call(inputs, target, output_shapes, output_dtypes, has_side_effect, backend_config, api_version,
                                 frontend_attributes)
    return [made] if isinstance(made, torch.Tensor) else list(made)


@bound
def _xla_register_custom_call_target(fn_name, function_ptr, platform):
    """Makes a function the target of custom calls: `function_ptr` is a capsule of a void (*)(void *result, const void **operands)."""
    import ctypes

    import millrace
    if platform.lower() not in ("cpu", "host"):
        raise RuntimeError(f"expects the platform cpu, but got {platform}")
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(function_ptr, api.PyCapsule_GetName(function_ptr))
    register = millrace.load_library("libmillrace.so").millrace_register_ffi_handler
    register.restype = ctypes.c_char_p
    register.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 4 + [ctypes.c_int, ctypes.c_uint32]
    if wrong := register(fn_name.encode(), None, None, None, address, 0, 0):
        raise RuntimeError(wrong.decode())


@bound
def _xla_computation_text(computation):
    from .core import xla_builder
    return xla_builder.get_computation_hlo(computation)


#===-- Tensors -----------------------------------------------------------------===


@bound
def _get_xla_tensor_dimension_size(tensor, dim):
    return torch.tensor(tensor.size(dim), dtype=torch.int32, device=xm.xla_device())


@bound
def _get_xla_tensor_shape_type(tensor):
    return _builder.NAMES[tensor.dtype]


#===-- The process -------------------------------------------------------------===


@bound
def _xla_set_compile_options(options):
    _compile.set_custom_compile_options(options)


@bound
def _init_xla_lazy_backend():
    global _registered
    if not _registered:
        _XLAC._count("RegisterXLAFunctions")
    _registered = True


def install(xlac):
    """Adds the names to the compiled module."""
    bound.install(xlac)
