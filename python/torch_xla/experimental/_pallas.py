# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of JAX's Pallas as operations of the graph. What trace_pallas() calls a payload is the kernel's StableHLO here, and Mosaic's
bytecode in PyTorch/XLA: one that was made for a TPU does not run."""
import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.utils._pytree as pytree

from .. import _load

_JAX_DTYPES = {torch.float32: "float32", torch.float64: "float64", torch.float16: "float16", torch.bfloat16: "bfloat16", torch.int8: "int8",
               torch.int16: "int16", torch.int32: "int32", torch.int64: "int64", torch.uint8: "uint8", torch.bool: "bool",
               torch.float8_e5m2: "float8_e5m2", torch.float8_e4m3fn: "float8_e4m3fn", torch.float8_e4m3fnuz: "float8_e4m3fnuz"}


def jax_import_guard() -> None:
    """Does nothing: in PyTorch/XLA it keeps JAX from taking the TPU, and a CPU can be shared."""


def requires_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a function that needs JAX: without it, a call raises ImportError and says what to install.

    Args:
      function: The function.
    """
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            import jax  # noqa: F401
        except ImportError:
            raise ImportError(f"{function.__name__} needs the package jax: pip install jax") from None
        return function(*args, **kwargs)
    return wrapper


@requires_jax
def convert_torch_dtype_to_jax(dtype: torch.dtype) -> Any:
    """Returns JAX's scalar type for an element type of PyTorch.

    Args:
      dtype: The type.

    Raises:
      ValueError: JAX does not have it.
      ImportError: JAX is not installed.
    """
    import jax.numpy as jnp
    if dtype not in _JAX_DTYPES:
        raise ValueError(f"Unsupported dtype: {dtype}")
    return getattr(jnp, "bool_" if dtype is torch.bool else _JAX_DTYPES[dtype])


@requires_jax
def to_jax_shape_dtype_struct(tensor: torch.Tensor) -> Any:
    """Returns the jax.ShapeDtypeStruct of a tensor.

    Args:
      tensor: The tensor, on any device.

    Raises:
      ValueError: JAX does not have its element type.
      ImportError: JAX is not installed.
    """
    import jax
    return jax.ShapeDtypeStruct(tuple(tensor.shape), convert_torch_dtype_to_jax(tensor.dtype))


def safe_empty_like(tensor: torch.Tensor | None) -> torch.Tensor | None:
    """Returns torch.empty_like() of a tensor, and None for None.

    Args:
      tensor: The tensor, or None.
    """
    return None if tensor is None else torch.empty_like(tensor)


def generate_ctx_need_grad(*args: Any) -> list[bool]:
    """Returns for each argument whether it is a tensor that requires a gradient.

    Args:
      *args: Any values.
    """
    return [isinstance(arg, torch.Tensor) and arg.requires_grad for arg in args]


@requires_jax
def trace_pallas(kernel: Callable[..., Any], *args: Any, static_argnums: Any = None, static_argnames: Any = None, use_cache: bool = False,
                 **kwargs: Any) -> tuple[str, list[torch.Tensor]]:
    """Lowers a function of JAX that calls Pallas, for torch_xla._XLAC._xla_tpu_custom_call().

    Unlike in PyTorch/XLA, the payload is the kernel's StableHLO, and not Mosaic's bytecode.

    Args:
      kernel: The function.
      *args: Its arguments. Those that are no tensors are constants of the payload.
      static_argnums: Has no effect: the values of arguments that are no tensors are always static.
      static_argnames: Has no effect.
      use_cache: Whether equal arguments give the same payload without tracing.
      **kwargs: Its keyword arguments.

    Returns:
      The payload, and the tensors among the arguments, on which it runs.

    Raises:
      ImportError: JAX is not installed.
    """
    import jax
    from torch_xla.core import _builder_jax
    flat, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
    tensors = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
    statics = [_builder_jax.TENSOR if isinstance(leaf, torch.Tensor) else leaf for leaf in flat]
    if not use_cache:
        return _builder_jax.lowered(jax, kernel, tensors, spec, statics)[0], tensors
    key = (kernel, str(spec), tuple(map(str, statics)), tuple((tuple(leaf.shape), leaf.dtype) for leaf in tensors), _builder_jax.configuration(jax))
    if key in trace_pallas_arg_to_payload:
        _load.sys.modules["torch_xla._XLAC"]._count("trace_pallas_cache_hit")
    else:
        trace_pallas_arg_to_payload[key] = _builder_jax.lowered(jax, kernel, tensors, spec, statics)[0]
    return trace_pallas_arg_to_payload[key], tensors


trace_pallas_arg_to_payload: dict[Any, str] = {}


def run_payload(tensors: Sequence[torch.Tensor], payload: str, shapes: Sequence[Sequence[int]],
                dtypes: Sequence[torch.dtype]) -> list[torch.Tensor]:
    """Returns the results of a payload of trace_pallas(), whose sizes and types are checked."""
    from torch_xla.core import xla_builder as xb
    if not tensors:
        raise RuntimeError("expects at least one tensor")
    if not isinstance(payload, str) or not payload.lstrip().startswith("module"):
        raise RuntimeError("the payload is not a result of trace_pallas() of this torch_xla: kernels that were compiled for a TPU do not run on "
                           "CPUs. Call the function of JAX by make_kernel_from_pallas(kernel, output_shape_dtype_fn), or trace it here")
    made = list(xb.user_computation("xla::pallas", list(tensors), xb.Program("pallas", payload)))
    _check(made, list(zip(shapes, dtypes, strict=True)))
    return made


def _check(made: Sequence[torch.Tensor], expected: Sequence[tuple[Sequence[int], torch.dtype]]) -> None:
    got, want = [(tuple(tensor.shape), tensor.dtype) for tensor in made], [(tuple(shape), dtype) for shape, dtype in expected]
    if got != want:
        raise ValueError(f"expects results of the shapes and types {want}, but the kernel's are {got}")


@requires_jax
def make_kernel_from_pallas(kernel: Callable[..., Any], output_shape_dtype_fn: Callable[..., list[tuple[Sequence[int], torch.dtype]]]
                            ) -> Callable[..., Any]:
    """Returns a function of tensors that runs a function of JAX which calls Pallas.

    Args:
      kernel: The function of JAX arrays.
      output_shape_dtype_fn: Returns for the arguments the list of (shape, torch.dtype) of the results. It is checked against those of the kernel.

    Returns:
      The function. It returns a single result as a tensor, several as a tuple. It raises AssertionError if `output_shape_dtype_fn` returns no list,
      and ValueError if the kernel's results are others.

    Raises:
      ImportError: JAX is not installed.
    """
    def run(*args: Any, static_argnums: Any = None, static_argnames: Any = None, **kwargs: Any) -> Any:
        from torch_xla.core import xla_builder as xb
        expected = output_shape_dtype_fn(*args)
        if not isinstance(expected, list):
            raise AssertionError(f"expects output_shape_dtype_fn to return a list of (shape, dtype), but got {type(expected).__name__}")
        made, _ = pytree.tree_flatten(xb.call_jax(kernel, args, kwargs))
        _check(made, expected)
        return made[0] if len(made) == 1 else tuple(made)
    return functools.wraps(kernel)(run) if hasattr(kernel, "__name__") else run
