# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.compile(), which makes the operations of a function or of a region one program."""
import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from . import _load, _step

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_sessions = itertools.count(1)
_thread = threading.get_ident


def _barrier(cause: str, counts: bool = True) -> None:
    """Executes the step barrier for a cause that PT_XLA_DEBUG names. The name begins with an underscore as that of _step._barrier()."""
    _XLAC._set_sync_cause(cause)
    try:
        _step._barrier(counts=counts)
    finally:
        _XLAC._set_sync_cause(None)


class _Call:
    """One execution of a region, from its first barrier to its last."""
    __slots__ = ("thread", "eager", "allowed", "forbids")

    def __init__(self, thread: int, eager: bool, allowed: bool) -> None:
        self.thread = thread
        self.eager, self.allowed = eager, allowed  # as it found them
        self.forbids = False  # whether programs may not run because of this call


class _Calls:
    """The calls of regions that have not ended. Eager mode and the permission to run programs belong to the process, not to a thread: what the first of
    these calls has found is restored when the last one ends, in whatever order threads end theirs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[_Call] = []  # in the order in which they began; guarded by _lock, as are the switches of the process

    def begin(self) -> _Call:
        """Turns eager mode off. Programs may still run, as the barrier before the region does."""
        with self._lock:
            call = _Call(_thread(), _XLAC._get_use_eager_mode(), _XLAC._get_allow_execution())
            _XLAC._set_use_eager_mode(False)
            self._open.append(call)
        return call

    def forbid(self, call: _Call) -> None:
        """Forbids to run programs until permit()."""
        with self._lock:
            call.forbids = True
            _XLAC._set_allow_execution(False)

    def permit(self, call: _Call) -> None:
        """Lets programs run as before the call, for its last barrier, unless another call forbids it."""
        with self._lock:
            call.forbids = False
            _XLAC._set_allow_execution(self._open[0].allowed and not any(each.forbids for each in self._open))

    def end(self, call: _Call) -> None:
        """Restores eager mode as the call has found it, or leaves that to the next call if one has begun later and goes on."""
        with self._lock:
            if self._open[-1] is call:
                self._open.pop()
                _XLAC._set_use_eager_mode(call.eager)
            else:
                place = self._open.index(call)
                self._open[place + 1].eager, self._open[place + 1].allowed = call.eager, call.allowed
                del self._open[place]


_calls = _Calls()


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
        self._entered: list[_Call] = []  # per `with` block that has not ended
        if limit is not None:
            weakref.finalize(self, _XLAC._dynamic_shape_detector_remove_session, self.session)

    def _begin(self) -> _Call:
        """Returns the call for _end()."""
        call = _calls.begin()
        try:
            # Operations that were pending before are not part of the region's graph.
            _barrier("torch_xla.compile clear the pending graph prior calling the target function", counts=False)
            if self.limit is not None:
                _XLAC._dynamic_shape_detector_set_max_different_graphs(self.limit)
                _XLAC._dynamic_shape_detector_start_session(self.session, self.title)
            if self.full_graph:
                _calls.forbid(call)
        except BaseException:
            _calls.end(call)
            raise
        return call

    def _end(self, call: _Call, is_abandoned: bool) -> None:
        try:
            if call.forbids:
                _calls.permit(call)
            try:
                if self.limit is not None:
                    _XLAC._dynamic_shape_detector_end_session(is_abandoned, self.session)
            finally:
                _barrier("torch_xla.compile")
        finally:
            _calls.end(call)

    def __enter__(self) -> None:
        self._entered.append(self._begin())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        # Threads may have entered one region at a time: each of them ends its own call.
        call, thread = self._entered[-1], _thread()
        if call.thread != thread:
            call = next((each for each in reversed(self._entered) if each.thread == thread), call)
        self._entered.remove(call)
        self._end(call, kind is not None)

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Returns a function that calls `f` in this region. Several threads may call it at a time."""
        @functools.wraps(f, updated=() if not hasattr(f, "__dict__") else ("__dict__",))
        def run(*args: Any, **kwargs: Any) -> Any:
            call, is_abandoned = self._begin(), True
            try:
                results = f(*args, **kwargs)
                is_abandoned = False
                return results
            finally:
                self._end(call, is_abandoned)
        return run


def compile(f: Callable[..., Any] | None = None, full_graph: bool = False, name: str | None = None, max_different_graphs: int | None = None,
            custom_compile_options: Mapping[str, object] | None = None, num_different_graphs_allowed: int | None = None) -> Any:
    """Compiles what a function records as one program, apart from what comes before and after; in eager mode, too.

    Args:
      f: The function. Without it, the result is a context manager, which is a decorator as well.
      full_graph: Whether it is an error if a program is run before the end of the function, on whatever thread.
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
    return region if f is None else region(f)


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
