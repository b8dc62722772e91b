# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sampling of tokens on the device in transformers' generate()."""
from .._sampling import sample_on_device

__all__ = ["sample_on_device"]
