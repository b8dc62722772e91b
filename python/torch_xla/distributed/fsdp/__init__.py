# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.fsdp: models whose parameters are sharded among processes. docs/guide/torch-fsdp.md shows it."""
from .checkpoint import checkpoint_module
from .state_dict_utils import consolidate_sharded_model_checkpoints, consolidate_sharded_state_dicts
from .xla_fully_sharded_data_parallel import XlaFullyShardedDataParallel

__all__ = ["checkpoint_module", "XlaFullyShardedDataParallel", "consolidate_sharded_model_checkpoints", "consolidate_sharded_state_dicts"]
