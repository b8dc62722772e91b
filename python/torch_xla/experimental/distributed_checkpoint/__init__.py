# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints of sharded tensors with torch.distributed.checkpoint: planners, and a manager of several checkpoints."""
from .manager import CheckpointManager
from .planners import SPMDLoadPlanner, SPMDSavePlanner
from .storage import StepReader
from .util import prime_optimizer

__all__ = ["CheckpointManager", "SPMDLoadPlanner", "SPMDSavePlanner", "StepReader", "prime_optimizer"]
