# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hooks that run before or after a program imports another library."""
import importlib.machinery
import sys
from typing import Any, Callable

_before: dict[str, Callable[[], None]] = {}
_after: dict[str, Callable[[Any], None]] = {}


class _Loader:
    """Another loader, with something done before and after the module runs."""

    def __init__(self, loader: Any, name: str):
        self._loader, self._name = loader, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        _before.get(self._name, lambda: None)()
        self._loader.exec_module(module)
        _after.get(self._name, lambda module: None)(module)


class _Finder:
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in _before and name not in _after:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, name)  # type: ignore[assignment]  # a loader by its methods
        return spec


def add(name: str, before: Callable[[], None] | None = None, after: Callable[[Any], None] | None = None) -> None:
    """For imports of the module `name` from now on; `after` is given the module."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    if before:
        _before[name] = before
    if after:
        _after[name] = after
