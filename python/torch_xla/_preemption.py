# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A machine that is taken away says so with SIGTERM: the step after it is the one to save."""
import signal
from types import FrameType
from typing import Any


class _Notice:
    def __init__(self) -> None:
        self.previous: Any = None
        self.active = self.told = False
        self.step: int | None = None  # the first step that is asked about after the signal

    def _tell(self, number: int, frame: FrameType | None) -> None:
        self.told = True


_notice = _Notice()


def activate() -> None:
    """From now on SIGTERM does not end the process; idempotent. RuntimeError outside of the main thread (only it may set handlers)."""
    if _notice.active:
        return
    try:
        _notice.previous = signal.signal(signal.SIGTERM, _notice._tell)
    except ValueError as error:
        raise RuntimeError("the preemption sync manager must be activated in the main thread") from error
    _notice.active, _notice.told, _notice.step = True, False, None


def deactivate() -> None:
    """SIGTERM does again what it did before."""
    if _notice.active:
        # None stands for a handler that was not set from Python.
        signal.signal(signal.SIGTERM, _notice.previous if _notice.previous is not None else signal.SIG_DFL)
        _notice.active = False


def is_told() -> bool:
    """True after the signal. RuntimeError if not activated."""
    if not _notice.active:
        raise RuntimeError("expects the preemption sync manager to be active, but it is not: _activate_preemption_sync_manager()")
    return _notice.told


def reached(step: int) -> bool:
    """True for the first step that is asked about after the signal, in this process. RuntimeError if not activated."""
    if is_told() and _notice.step is None:
        _notice.step = step
    return step == _notice.step if _notice.step is not None else False
