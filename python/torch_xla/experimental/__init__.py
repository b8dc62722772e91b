# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from .. import runtime as pjrt  # noqa: F401  (the name of torch_xla 2.0)
from .._compile import compile  # noqa: F401
from .eager import eager_mode, eager_mode_context, is_eager_mode  # noqa: F401
