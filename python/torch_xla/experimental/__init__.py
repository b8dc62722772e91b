# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from .. import runtime as pjrt  # noqa: F401  (the name of torch_xla 2.0)
