# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.ops.xla.dynamo_set_buffer_donor_: donates the memory of an input of a program that torch.compile makes."""
import torch

from .. import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


@torch.library.custom_op("xla::dynamo_set_buffer_donor_", mutates_args={"t"})
def _set(t: torch.Tensor, should_donate: bool) -> None:
    if t.device.type == "xla":
        _XLAC._set_buffer_donation(t, should_donate)


@_set.register_fake
def _(t, should_donate):
    return None


def dynamo_set_buffer_donor_(t, should_donate=True):
    """Marks the tensor, whose memory the next program may then take for a result; returns it."""
    torch.ops.xla.dynamo_set_buffer_donor_(t, should_donate)
    return t


dynamo_set_buffer_donor = dynamo_set_buffer_donor_
