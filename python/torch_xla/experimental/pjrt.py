# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The name of torch_xla.runtime in PyTorch/XLA 2.0."""
from ..core.xla_model import broadcast_master_param, rendezvous  # noqa: F401
from ..runtime import *  # noqa: F401,F403
from ..runtime import using_pjrt  # noqa: F401
