# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pallas kernels get their lowering when a program imports Pallas: JAX without it starts a second sooner."""
import contextlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterator
from typing import Any

_MODULE, _INFO = "jax._src.pallas.pallas_call", "jax._src.pallas.mosaic.tpu_info"


class _Loader(importlib.abc.Loader):
    """The loader of one of Pallas' modules, with `after` for the module when it ran."""

    def __init__(self, loader: Any, after: Callable[[Any], None]):
        self._loader, self._after = loader, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        """As the loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Runs the module, then changes it."""
        self._loader.exec_module(module)
        self._after(module)


class _Finder:
    """Finds those two modules."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Returns the module's spec, with a loader that changes the module."""
        if name not in _CHANGES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, _CHANGES[name])
        return spec


def _register(module: Any) -> None:
    """The rule imports what it needs of Pallas when a kernel is lowered: the module may be half of an import that goes on."""
    from functools import partial

    from jax._src.interpreters import mlir

    original = module._pallas_call_lowering
    if not isinstance(original, partial):
        # pl.kernel calls this function on a CPU; for other platforms it calls the original.
        module._pallas_call_lowering = partial(_lowered, original)
    mlir.register_lowering(module.pallas_call_p, module._pallas_call_lowering, platform="cpu")


def _describe(module: Any) -> None:
    """pltpu.get_tpu_info(), by which kernels choose their blocks, says of this machine what it says of a TPU v5e: kernels want some TPU's."""
    registry, make = getattr(module, "registry", None), getattr(module, "_get_tpu_info_impl", None)
    if registry is not None and make is not None:
        registry.setdefault("cpu", lambda: make(module.ChipVersion.TPU_V5E, 1))


_CHANGES = {_MODULE: _register, _INFO: _describe}


def _lowered(original: Any, context: Any, *nodes: Any, **parameters: Any) -> Any:
    if parameters["interpret"] or tuple(context.platforms or context.module_context.platforms) != ("cpu",):
        return original(context, *nodes, **parameters)
    from millrace_jax import pallas

    return pallas.lowered(context, *nodes, **parameters)


def install() -> None:
    """Registers the lowering of Pallas kernels, now if Pallas has been imported, and otherwise when it is; millrace_jax calls it once."""
    for name, change in _CHANGES.items():
        if sys.modules.get(name) is not None:
            change(sys.modules[name])
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@contextlib.contextmanager
def registered() -> Iterator[None]:
    """Returns a context in which JAX lowers Pallas kernels with Millrace's rule, although JAX itself runs on XLA:CPU.

    torch_xla's call_jax() uses it for programs that JAX lowers and does not run. Not thread-safe: the rule is global."""
    from jax._src.interpreters import mlir
    from jax._src.pallas import pallas_call

    rules, primitive = mlir._platform_specific_lowerings["cpu"], pallas_call.pallas_call_p
    before, function = rules.get(primitive), pallas_call._pallas_call_lowering
    _register(pallas_call)
    try:
        yield
    finally:
        pallas_call._pallas_call_lowering = function
        if before is None:
            del rules[primitive]
        else:
            rules[primitive] = before
