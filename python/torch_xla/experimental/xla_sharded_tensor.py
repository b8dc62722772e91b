# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The name of torch_xla.distributed.spmd.xla_sharded_tensor in PyTorch/XLA 2.0 and 2.1."""
from ..distributed.spmd.xla_sharded_tensor import *  # noqa: F401,F403
