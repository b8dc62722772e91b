# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The context in which the original takes buffer donation from explicit marks instead of finding it."""
import contextlib


@contextlib.contextmanager
def alias_with_buffer_donor_config(should_alias=True):
    """Buffers that were marked by torch_xla._XLAC._set_buffer_donation are donated inside. Here the memory of every tensor that
    a program overwrites is donated anyway, marked or not."""
    from .. import _bindings
    before = _bindings.state["donor_config"]
    _bindings.state["donor_config"] = bool(should_alias)
    try:
        yield
    finally:
        _bindings.state["donor_config"] = before
