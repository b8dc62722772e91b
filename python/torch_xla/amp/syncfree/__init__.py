# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.amp.syncfree: SGD, Adam and AdamW whose step(found_inf=...) changes nothing where `found_inf`, a tensor of the device,
is not 0. Nobody waits for its value. Their step counters are tensors of the device too."""
from . import _functional  # noqa: F401
from .adam import Adam
from .adamw import AdamW
from .sgd import SGD

SYNCFREE = (Adam, AdamW, SGD)
