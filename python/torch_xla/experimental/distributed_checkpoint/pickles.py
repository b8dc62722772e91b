# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the pickles of checkpoints without executing anything that they contain, for a checkpoint may come from elsewhere."""
import datetime
import pathlib
import pickle
import types
from typing import IO, Any

import torch
from torch.distributed.checkpoint import filesystem, metadata

_MANAGERS = {("datetime", "datetime"): datetime.datetime,
             ("torch_xla.experimental.distributed_checkpoint.manager", "_CheckpointMetadata"): types.SimpleNamespace}
_METADATA = {(each.__module__, each.__qualname__): each for each in (
    metadata.BytesStorageMetadata, metadata.ChunkStorageMetadata, metadata.Metadata, metadata.MetadataIndex, metadata.StorageMeta,
    metadata.TensorProperties, metadata.TensorStorageMetadata, metadata._MEM_FORMAT_ENCODING, filesystem._StorageInfo, filesystem._StoragePrefix)}
_METADATA.update({("torch", "Size"): torch.Size, ("torch.serialization", "_get_layout"): torch.serialization._get_layout,
                  ("pathlib", "PosixPath"): pathlib.PurePosixPath, ("pathlib", "WindowsPath"): pathlib.PureWindowsPath,
                  ("pathlib._local", "PosixPath"): pathlib.PurePosixPath, ("pathlib._local", "WindowsPath"): pathlib.PureWindowsPath})
_METADATA.update({("torch", name): value for name, value in vars(torch).items() if isinstance(value, torch.dtype)})


class _Unpickler(pickle.Unpickler):
    """Makes what is `known`, by the module and the name that the pickle has; UnpicklingError for all else, before anything is called."""

    def __init__(self, stream: IO[bytes], known: dict[tuple[str, str], Any], writer: str):
        super().__init__(stream)
        self._known, self._writer = known, writer

    def find_class(self, module: str, name: str) -> Any:
        """What a pickle means by a name."""
        if (module, name) not in self._known:
            raise pickle.UnpicklingError(f"{module}.{name} is not what {self._writer} writes")
        return self._known[module, name]


def load_managers(stream: IO[bytes]) -> types.SimpleNamespace:
    """Returns what PyTorch/XLA's CheckpointManager wrote: an object with `step`, and `ts`, a datetime.datetime.

    Args:
      stream: The file.

    Raises:
      pickle.UnpicklingError: there is anything else in it.
    """
    return _Unpickler(stream, _MANAGERS, "a checkpoint manager").load()


def load_metadata(stream: IO[bytes]) -> metadata.Metadata:
    """Returns the metadata in a file .metadata of torch.distributed.checkpoint.

    Args:
      stream: The file.

    Raises:
      pickle.UnpicklingError: there is anything else in it.
    """
    found = _Unpickler(stream, _METADATA, "torch.distributed.checkpoint into .metadata").load()
    if not isinstance(found, metadata.Metadata):
        raise pickle.UnpicklingError(f"expects torch.distributed.checkpoint's Metadata, but got {type(found).__name__}")
    return found


def _harmless() -> list[Any]:
    """What torch.load(weights_only=True) does not know, and programs save: NumPy's arrays and numbers, times, paths."""
    known = [datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone,
             *((kind, f"{module}.{name}") for (module, name), kind in _METADATA.items() if module.startswith("pathlib"))]
    try:
        import _codecs

        import numpy
    except ImportError:
        return known
    multiarray = getattr(numpy, "_core").multiarray
    known += [_codecs.encode, numpy.dtype, numpy.ndarray, *{type(numpy.dtype(code)) for code in numpy.typecodes["All"]}]
    for name in ("_reconstruct", "scalar"):
        known += [(getattr(multiarray, name), f"{module}.multiarray.{name}") for module in ("numpy.core", "numpy._core")]
    return known


def load_value(name: str, stream: IO[bytes], weights_only: bool) -> Any:
    """Returns a value of a checkpoint that is no tensor.

    Args:
      name: Its name, for the message of an error.
      stream: The bytes that torch.save() wrote.
      weights_only: Whether only types that are built into Python, and those of torch, NumPy, pathlib and datetime are restored.

    Raises:
      pickle.UnpicklingError: with `weights_only`, the bytes have another type; the message names it.
    """
    if not weights_only:
        return torch.load(stream, weights_only=False)
    with torch.serialization.safe_globals(_harmless()):
        try:
            return torch.load(stream, weights_only=True)
        except pickle.UnpicklingError as error:
            unknown = ", ".join(_unknown(stream)) or str(error)
            raise pickle.UnpicklingError(f"{name}: reading it would call {unknown}, which may be anything. Where you trust who wrote the checkpoint: "
                                         "torch.serialization.add_safe_globals([...]), or weights_only=False of CheckpointManager.restore() and "
                                         "SPMDLoadPlanner()") from None


def _unknown(stream):
    stream.seek(0)
    try:
        return torch.serialization.get_unsafe_globals_in_checkpoint(stream)
    except Exception:  # the file is damaged as well: the caller shows the first error
        return []
