# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.fsdp.utils."""
from ..spmd.xla_sharding import apply_xla_patch_to_nn_linear  # noqa: F401
from .checkpoint import checkpoint_module  # noqa: F401
