# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of JAX as operations on tensors: torch_xla.core.xla_builder.call_jax."""
import contextlib
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ._builder_programs import Program, user_computation

# The programs of functions of JAX, and of functions that are assumed to be pure: by function, then by arguments.
_JAX_TO_XLA_COMPUTATION_CACHE: Any = weakref.WeakKeyDictionary()


def _jax_to_xla_computation_cache_elements():
    return sum(len(known) for known in _JAX_TO_XLA_COMPUTATION_CACHE.values())


def lowered(jax, jax_func, leaves, spec, statics):
    """Returns (StableHLO text, structure of the results) of a function of JAX."""
    shapes = [jax.ShapeDtypeStruct(tuple(leaf.shape), jax.numpy.dtype(str(leaf.dtype).removeprefix("torch."))) for leaf in leaves]
    layout = []

    def flat(*given):
        values = iter(given)
        args, kwargs = pytree.tree_unflatten([next(values) if static is TENSOR else static for static in statics], spec)
        made, structure = jax.tree_util.tree_flatten(jax_func(*args, **kwargs))
        layout[:] = [structure]
        return made
    is_wide = any(leaf.dtype.itemsize == 8 and leaf.dtype != torch.complex64 for leaf in leaves)
    with jax.enable_x64(True if is_wide else jax.config.jax_enable_x64), _pallas_rule():
        text = jax.jit(flat, keep_unused=True).lower(*shapes).as_text()
    return text, layout[0]


def _pallas_rule():
    """Returns a context in which kernels of Pallas are lowered: where the program uses Pallas, and the package millrace-jax is there."""
    if "jax._src.pallas.pallas_call" in sys.modules:
        try:
            from millrace_jax import pallas_hook
            return pallas_hook.registered()
        except ImportError:
            pass  # functions without kernels need no rule; for the others JAX's own rule raises an error
    return contextlib.nullcontext()


TENSOR = object()


def configuration(jax):
    """All settings of JAX, with those of context managers of this thread: they decide about what a function becomes."""
    return tuple(value if isinstance(value, (bool, int, float, str, type(None))) else repr(value) for value in jax.config.values.values())


def call_jax(jax_func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any] | None = None, name: str | None = None) -> Any:
    """Records a call of a function of JAX on tensors; its operations become part of the graph.

    The function is traced once per combination of sizes, element types, other arguments and settings of JAX (jax.config, and context managers
    such as jax.default_matmul_precision of the calling thread). Random numbers of JAX depend on their key: a key that the function creates
    gives the same numbers in every call, a key among the arguments (its words: a tensor of the type uint32) those of its value.

    Args:
      jax_func: A function that JAX can trace.
      args: Its positional arguments: tensors of the device and other values in lists, tuples and dicts of any depth.
      kwargs: Its keyword arguments, of the same form.
      name: The name of the operation in the graph; None: the name of the function.

    Returns:
      What `jax_func` returns, with a tensor of the device in the place of each array.

    Raises:
      RuntimeError: The package jax is not installed.
    """
    try:
        import jax
    except ImportError:
        raise RuntimeError("call_jax needs the package jax: pip install jax") from None
    flat, spec = pytree.tree_flatten((tuple(args), dict(kwargs or {})))
    leaves = [leaf for leaf in flat if isinstance(leaf, torch.Tensor)]
    statics = [TENSOR if isinstance(leaf, torch.Tensor) else leaf for leaf in flat]
    key = (str(spec), tuple(statics), tuple((tuple(leaf.shape), leaf.dtype) for leaf in leaves), configuration(jax))
    known = _JAX_TO_XLA_COMPUTATION_CACHE.setdefault(jax_func, {})
    if key not in known:
        known[key] = lowered(jax, jax_func, leaves, spec, statics)
    text, layout = known[key]
    made = user_computation(f"xla::{name or getattr(jax_func, '__name__', 'jax')}", leaves, Program(name or "jax", text))
    return jax.tree_util.tree_unflatten(layout, made)
