# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Eager mode: every operation is a program of its own that runs at once. torch_xla.compile() makes the operations of a region one program."""
import contextlib
import os

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def eager_mode(enable):
    """Turns eager mode on or off for this process."""
    if enable and not is_eager_mode():
        _XLAC._sync(False)  # what was recorded before
    _XLAC._set_use_eager_mode(bool(enable))


def is_eager_mode():
    """Whether operations run at once."""
    return _XLAC._get_use_eager_mode()


@contextlib.contextmanager
def eager_mode_context(enable):
    """Eager mode on or off within the region."""
    before = is_eager_mode()
    eager_mode(enable)
    try:
        yield
    finally:
        eager_mode(before)


if os.environ.get("XLA_USE_EAGER_DEBUG_MODE", "0").lower() not in ("", "0", "false"):
    eager_mode(True)
