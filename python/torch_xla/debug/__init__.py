# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from . import metrics  # noqa: F401
