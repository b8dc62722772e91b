# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The context in which PyTorch/XLA takes buffer donation from explicit marks."""
from .._donations import alias_with_buffer_donor_config  # noqa: F401
