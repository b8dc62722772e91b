# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Importing this registered the init method pjrt:// in PyTorch/XLA 2.0; torch_xla.distributed.xla_backend does it too."""
from ..distributed import xla_backend  # noqa: F401
