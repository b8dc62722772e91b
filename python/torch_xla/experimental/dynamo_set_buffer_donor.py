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


def dynamo_set_buffer_donor_(t: torch.Tensor, should_donate: bool = True) -> torch.Tensor:
    """Donates the memory of a tensor: the next program that reads it may take the memory for a result.

    Args:
      t: A tensor of the device.
      should_donate: False withdraws the donation.

    Returns:
      `t`.
    """
    torch.ops.xla.dynamo_set_buffer_donor_(t, should_donate)
    return t


dynamo_set_buffer_donor = dynamo_set_buffer_donor_
