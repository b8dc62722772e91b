# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.utils.serialization (xser): one file for the structure and a folder beside it with a file per tensor, written one
after the other. At no time are all tensors in the host's memory."""
import os
import shutil

import torch

from ..core import _files
from ..core import xla_model as xm


class TensorReference:
    """Stands for tensor number `tid` in the saved structure."""

    def __init__(self, tid):
        self.tid = tid


def _folder(path):
    return path + ".tensors"


def _file(folder, number):
    return os.path.join(folder, f"tensor_{number}.pt")


def save(data, path, master_only=True, global_master=False):
    """Writes `data` (nested lists, dicts, objects with tensors) to `path` and `path`.tensors/.

    `master_only`: only the first process writes, of this host or, with `global_master`, of all; else every process needs
    a path of its own. Tensors are copied from the device one at a time. Both get their names when all files are written: what had these names stays
    until then, and where a disk is full (OSError, which names the file)."""
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


def load(path):
    """What save() wrote, with its tensors on the CPU."""
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
