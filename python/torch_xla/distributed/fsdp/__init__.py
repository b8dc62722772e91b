# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.fsdp: what FSDPv2 (torch_xla.experimental.spmd_fully_sharded_data_parallel) takes from it."""
from .checkpoint import checkpoint_module

__all__ = ["checkpoint_module"]
