# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors whose memory the user gives up by _XLAC._set_buffer_donation(): after the next compiled graph of torch.compile that has
them as arguments and, where hashes of graphs tell donated inputs apart, after the next step that reads them."""
import contextlib
import weakref

import torch

from . import _load

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class _Donations:
    """Marks belong to values: a tensor that has been written since has another one."""

    def __init__(self):
        self.marked = {}  # id of the value -> a weak reference to the tensor
        self.is_active = False  # whether hashes of graphs tell donated inputs apart

    def __bool__(self):
        return bool(self.marked)

    def mark(self, tensor, should_donate):
        """False if the tensor has no value that could be donated."""
        if not isinstance(tensor, torch.Tensor) or tensor.device.type != "xla" or \
                _XLAC._check_tensor_need_materialization([tensor])[0]:
            return False
        number = _XLAC._unique_id_for_ir_and_data(tensor)
        if should_donate:
            self.marked[number] = weakref.ref(tensor, lambda _: self.marked.pop(number, None))
        else:
            self.marked.pop(number, None)
        _XLAC._count("XlaSetBufferDonation")
        return True

    def has(self, tensor):
        self.forget_overwritten()
        return bool(self.marked) and _XLAC._unique_id_for_ir_and_data(tensor) in self.marked

    def forget_overwritten(self):
        """The ids of values that are gone may be those of other values soon."""
        for number, reference in list(self.marked.items()):
            tensor = reference()
            if tensor is None or _XLAC._unique_id_for_ir_and_data(tensor) != number:
                self.marked.pop(number, None)

    def read_by_pending(self):
        """The marked tensors that the graph of what is still to be computed reads."""
        self.forget_overwritten()
        live = _XLAC._live_tensors() if self.is_active and self.marked else []
        pending = [tensor for tensor, needed in zip(live, _XLAC._check_tensor_need_materialization(live)) if needed]
        if not pending:
            return []
        leaves = {_XLAC._unique_id_for_ir_and_data(leaf) for leaf in _XLAC._get_tensors_xla_device_data_node(pending)[1]}
        return [tensor for number, reference in self.marked.items() if number in leaves and (tensor := reference()) is not None]

    def is_released(self, tensor):
        """Whether its memory was given up."""
        return _XLAC._is_placeholder(tensor) and self.has(tensor)

    def release(self, args):
        """Gives up the memory of the marked ones; those that were overwritten have another value already."""
        self.forget_overwritten()
        for arg in args:
            if isinstance(arg, torch.Tensor) and arg.device.type == "xla" and self.has(arg):
                del self.marked[_XLAC._unique_id_for_ir_and_data(arg)]
                _XLAC._release(arg)
                number = _XLAC._unique_id_for_ir_and_data(arg)
                self.marked[number] = weakref.ref(arg, lambda _, number=number: self.marked.pop(number, None))


donations = _Donations()


@contextlib.contextmanager
def alias_with_buffer_donor_config(should_alias=True):
    """Inside, the hash of a graph depends on which of its inputs are marked."""
    before = donations.is_active
    donations.is_active = should_alias
    try:
        yield before
    finally:
        donations.is_active = before
