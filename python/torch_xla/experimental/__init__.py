# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of torch_xla.experimental; some are where PyTorch/XLA 2.0 to 2.4 had what is elsewhere now."""
from .._compile import compile  # noqa: F401
from . import pjrt  # noqa: F401
from .eager import eager_mode, eager_mode_context, is_eager_mode  # noqa: F401
