# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp: autocast for the device, gradient scaling, and optimizers that skip a step without asking the host."""
from . import syncfree  # noqa: F401
from .autocast_mode import autocast  # noqa: F401
from .grad_scaler import GradScaler  # noqa: F401
