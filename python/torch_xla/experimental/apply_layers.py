# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The former name of torch_xla.experimental.scan_layers."""
from .scan_layers import scan_layers


def apply_layers(layers, input_data):
    """See scan_layers()."""
    return scan_layers(layers, input_data)
