# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.fsdp.utils."""
from ..spmd.xla_sharding import XLAPatchedLinear, apply_xla_patch_to_nn_linear, xla_patched_nn_linear_forward  # noqa: F401
from .checkpoint import checkpoint_module  # noqa: F401
