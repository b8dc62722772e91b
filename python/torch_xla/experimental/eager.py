# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eager mode: every operation is a program of its own that runs at once. torch_xla.compile() makes the operations of a region one program."""
import contextlib
import os
from collections.abc import Iterator

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def eager_mode(enable: bool) -> None:
    """Turns eager mode on or off for this process; what was recorded before is executed first.

    Args:
      enable: Whether every operation runs at once from now on.
    """
    if enable and not is_eager_mode():
        _XLAC._sync(False)  # operations that were recorded before are executed first
    _XLAC._set_use_eager_mode(bool(enable))


def is_eager_mode() -> bool:
    """Returns whether operations run at once."""
    return _XLAC._get_use_eager_mode()


@contextlib.contextmanager
def eager_mode_context(enable: bool) -> Iterator[None]:
    """Returns a context in which eager mode is on or off for this process; the mode before is restored at its end.

    Args:
      enable: Whether every operation runs at once.
    """
    before = is_eager_mode()
    eager_mode(enable)
    try:
        yield
    finally:
        eager_mode(before)


if os.environ.get("XLA_USE_EAGER_DEBUG_MODE", "0").lower() not in ("", "0", "false"):
    eager_mode(True)
