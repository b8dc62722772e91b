# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.compile(), which makes the operations of a function or of a region one program."""
import contextlib
import functools
import itertools
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from . import _load, _step

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_sessions = itertools.count(1)


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
    session = f"{title}_{next(_sessions)}"

    @contextlib.contextmanager
    def region():
        def barrier(cause, counts=True):
            _XLAC._set_sync_cause(cause)
            try:
                _step._barrier(counts=counts)
            finally:
                _XLAC._set_sync_cause(None)
        eager, allowed = _XLAC._get_use_eager_mode(), _XLAC._get_allow_execution()
        _XLAC._set_use_eager_mode(False)
        try:
            # Operations that were pending before are not part of the region's graph.
            barrier("torch_xla.compile clear the pending graph prior calling the target function", counts=False)
            _XLAC._set_allow_execution(not full_graph and allowed)
            if limit is not None:
                _XLAC._dynamic_shape_detector_set_max_different_graphs(limit)
                _XLAC._dynamic_shape_detector_start_session(session, title)
            is_whole = False
            try:
                yield
                is_whole = True
            finally:
                _XLAC._set_allow_execution(allowed)
                try:
                    if limit is not None:
                        _XLAC._dynamic_shape_detector_end_session(not is_whole, session)
                finally:
                    barrier("torch_xla.compile")
        finally:
            _XLAC._set_use_eager_mode(eager)
    if f is None:
        return region()

    @functools.wraps(f, updated=() if not hasattr(f, "__dict__") else ("__dict__",))
    def run(*args, **kwargs):
        with region():
            return f(*args, **kwargs)
    if limit is not None:
        weakref.finalize(run, _XLAC._dynamic_shape_detector_remove_session, session)
    return run


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
