# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors whose memory the user gives up by _XLAC._set_buffer_donation(): it becomes a result's in the next step that reads them, and
where hashes of graphs tell donated inputs apart in whatever program does; a graph of torch.compile gives it back when it has been called.
Marks belong to values: a tensor that has been written since has another one."""
import contextlib
from collections.abc import Iterator

from . import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


@contextlib.contextmanager
def alias_with_buffer_donor_config(should_alias: bool = True) -> Iterator[bool]:
    """Returns a context in which every program donates the inputs that are marked, not only those of step barriers; the hash of a graph depends on
    the marks.

    Args:
      should_alias: False restores what is usual: only the programs of step barriers donate.

    Returns:
      The context, whose value is the setting before it.
    """
    before = _XLAC._get_donates_given_up()
    _XLAC._set_donates_given_up(should_alias)
    try:
        yield before
    finally:
        _XLAC._set_donates_given_up(before)
