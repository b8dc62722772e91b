# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.fsdp: what FSDPv2 (torch_xla.experimental.spmd_fully_sharded_data_parallel) takes from it."""
import torch

from .checkpoint import checkpoint_module

__all__ = ["checkpoint_module", "XlaFullyShardedDataParallel", "consolidate_sharded_model_checkpoints", "consolidate_sharded_state_dicts"]


def _refuse(name):
    raise NotImplementedError(f"{name}, which splits a model among processes that are replicas, is not there yet; FSDPv2 "
                              "(torch_xla.experimental.spmd_fully_sharded_data_parallel) splits it among devices")


class XlaFullyShardedDataParallel(torch.nn.Module):
    """NotImplementedError: see FSDPv2."""

    def __init__(self, module, *args, **kwargs):
        _refuse("XlaFullyShardedDataParallel")


def consolidate_sharded_model_checkpoints(ckpt_prefix, ckpt_suffix="*.pth", save_path="", save_model=True):
    """NotImplementedError."""
    _refuse("consolidate_sharded_model_checkpoints")


def consolidate_sharded_state_dicts(state_dict_list, shard_metadata_list):
    """NotImplementedError."""
    _refuse("consolidate_sharded_state_dicts")
