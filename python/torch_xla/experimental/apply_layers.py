# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The former name of torch_xla.experimental.scan_layers."""
from collections.abc import Iterable
from typing import Any

import torch

from .scan_layers import scan_layers


def apply_layers(layers: Iterable[torch.nn.Module], input_data: Any) -> Any:
    """Applies layers of equal structure one after the other, as scan_layers() does.

    Args:
      layers: The layers.
      input_data: The arguments of the first layer: a tensor, or a tuple of tensors.
    """
    return scan_layers(layers, input_data)
