# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes recorded graphs to files, so that runs can be compared."""
import os
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import _load

if TYPE_CHECKING:
    import torch

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_counts: dict[tuple[str, str], int] = {}
_lock = threading.Lock()
_FORMATS = {"text": "_get_xla_tensors_text", "dot": "_get_xla_tensors_dot", "hlo": "_get_xla_tensors_hlo",
            "stablehlo": "_get_xla_tensors_stablehlo"}


def save_tensors_graph(save_dir: str, name: str, tensors: Iterable["torch.Tensor"]) -> str:
    """Writes the pending graph of tensors to a file `save_dir`/`name`-<thread>-<number>.<format>. Thread-safe.

    The format is text, or what the environment variable SAVE_GRAPH_FMT names: dot, hlo or stablehlo.

    Args:
      save_dir: The folder, which is made.
      name: The beginning of the file's name.
      tensors: The tensors.

    Returns:
      The path of the file.

    Raises:
      RuntimeError: SAVE_GRAPH_FMT is another text.
    """
    format = os.environ.get("SAVE_GRAPH_FMT", "text")
    if format not in _FORMATS:
        raise RuntimeError(f"SAVE_GRAPH_FMT is {format!r}, but expects one of {', '.join(_FORMATS)}")
    key = (name, threading.current_thread().name)
    with _lock:
        number = _counts[key] = _counts.get(key, -1) + 1
    os.makedirs(save_dir, exist_ok=True)
    path = os.path.join(save_dir, f"{name}-{key[1]}-{number}.{format}".replace(" ", "_"))
    with open(path, "w") as file:
        file.write(getattr(_XLAC, _FORMATS[format])(list(tensors)))
    return path
