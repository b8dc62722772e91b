# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The context in which the original takes buffer donation from explicit marks instead of finding it."""
from .._donations import alias_with_buffer_donor_config  # noqa: F401
