# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.compile(), which makes the operations of a function or of a region one program."""
import functools
import itertools
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from . import _load, _step

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_sessions = itertools.count(1)


def _barrier(cause: str, counts: bool = True) -> None:
    """Executes the step barrier for a cause that PT_XLA_DEBUG names. The name begins with an underscore as that of _step._barrier()."""
    _XLAC._set_sync_cause(cause)
    try:
        _step._barrier(counts=counts)
    finally:
        _XLAC._set_sync_cause(None)


class _Region:
    """The context manager of compile(), which is a decorator as well. A class and no generator, whose frames would cost more than all but the barriers.

    Args:
      title: The name in messages.
      full_graph: Whether it is an error if a program is run inside.
      limit: How many different graphs may be recorded; None: any number.
    """

    def __init__(self, title: str, full_graph: bool, limit: int | None) -> None:
        self.title, self.full_graph, self.limit = title, full_graph, limit
        self.session = f"{title}_{next(_sessions)}"
        self._outside: list[tuple[bool, bool]] = []  # what _begin() has returned, per `with` block that has not ended

    def _begin(self) -> tuple[bool, bool]:
        """Returns what _end() restores: whether eager mode is on and whether programs may run."""
        eager, allowed = _XLAC._get_use_eager_mode(), _XLAC._get_allow_execution()
        _XLAC._set_use_eager_mode(False)
        try:
            # Operations that were pending before are not part of the region's graph.
            _barrier("torch_xla.compile clear the pending graph prior calling the target function", counts=False)
            if self.limit is not None:
                _XLAC._dynamic_shape_detector_set_max_different_graphs(self.limit)
                _XLAC._dynamic_shape_detector_start_session(self.session, self.title)
            _XLAC._set_allow_execution(not self.full_graph and allowed)
        except BaseException:
            _XLAC._set_use_eager_mode(eager)
            raise
        return eager, allowed

    def _end(self, before: tuple[bool, bool], is_abandoned: bool) -> None:
        eager, allowed = before
        try:
            _XLAC._set_allow_execution(allowed)
            try:
                if self.limit is not None:
                    _XLAC._dynamic_shape_detector_end_session(is_abandoned, self.session)
            finally:
                _barrier("torch_xla.compile")
        finally:
            _XLAC._set_use_eager_mode(eager)

    def __enter__(self) -> None:
        self._outside.append(self._begin())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end(self._outside.pop(), kind is not None)

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that calls `f` in this region. Several threads may call it at a time."""
        @functools.wraps(f, updated=() if not hasattr(f, "__dict__") else ("__dict__",))
        def run(*args: Any, **kwargs: Any) -> Any:
            before, is_abandoned = self._begin(), True
            try:
                results = f(*args, **kwargs)
                is_abandoned = False
                return results
            finally:
                self._end(before, is_abandoned)
        return run


def compile(f: Callable[..., Any] | None = None, full_graph: bool = False, name: str | None = None, max_different_graphs: int | None = None,
            custom_compile_options: Mapping[str, object] | None = None, num_different_graphs_allowed: int | None = None) -> Any:
    """Compiles what a function records as one program, apart from what comes before and after; in eager mode, too.

    Args:
      f: The function. Without it, the result is a context manager, which is a decorator as well.
      full_graph: Whether it is an error if a program is run before the end of the function.
      name: The name in messages; that of `f` by default.
      max_different_graphs: How many different graphs the function may record. One more is an error at the operation that is in none of them.
      custom_compile_options: See torch_xla.set_custom_compile_options().
      num_different_graphs_allowed: The former name of max_different_graphs.

    Returns:
      A function with the arguments and results of `f`, or a context manager.

    Raises:
      TypeError: `f` is no function.
      ValueError: There is no such compile option.
    """
    if f is not None and not callable(f):
        raise TypeError(f"expects a function, but got {type(f).__name__}")
    if custom_compile_options:
        set_custom_compile_options(custom_compile_options)
    limit = max_different_graphs if max_different_graphs is not None else num_different_graphs_allowed
    title = name or getattr(f, "__name__", None) or (type(f).__name__ if f is not None else "the region")
    region = _Region(title, full_graph, limit)
    if f is None:
        return region
    made = region(f)
    if limit is not None:
        weakref.finalize(made, _XLAC._dynamic_shape_detector_remove_session, region.session)
    return made


def step() -> Any:
    """Returns a context manager, which is a decorator as well, whose operations become one program; see compile()."""
    return compile()


def set_custom_compile_options(options: Mapping[str, object]) -> None:
    """Sets options of the compiler.

    Args:
      options: The values by name. XLA's own options (xla_...) are accepted without effect; there are no others.

    Raises:
      ValueError: A name does not begin with xla_.
    """
    for option in options:
        if not str(option).startswith("xla_"):
            raise ValueError(f"no compile option {option!r}: those of XLA, which begin with xla_, are accepted without effect")
