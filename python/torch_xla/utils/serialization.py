# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.utils.serialization (xser): one file for the structure and a folder beside it with a file per tensor, written one
after the other. At no time are all tensors in the host's memory."""
import os
import shutil
from typing import Any

import torch

from ..core import _files
from ..core import xla_model as xm


class TensorReference:
    """A reference to the tensor with index `tid` in the saved structure."""

    def __init__(self, tid: int) -> None:
        self.tid = tid


def _folder(path):
    return path + ".tensors"


def _file(folder, number):
    return os.path.join(folder, f"tensor_{number}.pt")


def save(data: Any, path: str | os.PathLike, master_only: bool = True, global_master: bool = False) -> None:
    """Saves nested data to `path`, and its tensors to the folder `path`.tensors, one file per tensor.

    Tensors are copied from the device one at a time. File and folder get their names when all files are written; what had these names stays
    until then, and also where the disk is full.

    Args:
      data: Nested lists, dicts and objects with tensors.
      path: The path of the file.
      master_only: Whether only the first process of this host writes; otherwise every process needs a path of its own.
      global_master: Whether, with master_only, the first process of all writes.

    Raises:
      OSError: A file cannot be written; the error names it.
    """
    path = os.fspath(path)
    if not master_only or xm.is_master_ordinal(local=not global_master):
        new = _files.unfinished(_folder(path))
        old = f"{new}-old"
        os.makedirs(new)
        try:
            structure = _rewrite(new, data)
            is_replaced = os.path.exists(_folder(path))
            if is_replaced:
                os.rename(_folder(path), old)
            try:
                os.rename(new, _folder(path))
                _files.save(structure, path)
            except BaseException:
                if is_replaced:
                    shutil.rmtree(_folder(path), ignore_errors=True)
                    os.rename(old, _folder(path))
                raise
            shutil.rmtree(old, ignore_errors=True)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            raise
    xm.rendezvous(f"xser_save:{path}")


def _rewrite(folder, data):
    numbers = {}

    def convert(tensors):
        xm.unlazy([tensor for tensor in tensors if xm.is_xla_tensor(tensor)])
        references = []
        for tensor in tensors:
            if id(tensor) not in numbers:
                numbers[id(tensor)] = len(numbers)
                _files.save(xm._to_cpu_tensor(tensor), _file(folder, numbers[id(tensor)]))
            references.append(TensorReference(numbers[id(tensor)]))
        return references

    return xm.ToXlaTensorArena(convert, lambda value: isinstance(value, torch.Tensor)).transform(data)


def load(path: str | os.PathLike) -> Any:
    """Returns what save() has written, with its tensors on the CPU.

    The structure may contain any object, as with pickle: load only files that you trust.
    """
    path = os.fspath(path)
    loaded = {}

    def tensor_of(reference):
        if reference.tid not in loaded:
            loaded[reference.tid] = torch.load(_file(_folder(path), reference.tid), map_location="cpu")
        return loaded[reference.tid]

    # The structure may hold any object of the program that wrote it, as with pickle.
    structure = torch.load(path, weights_only=False)
    convert = lambda references: [tensor_of(reference) for reference in references]  # noqa: E731
    return xm.ToXlaTensorArena(convert, lambda value: isinstance(value, TensorReference)).transform(structure)
