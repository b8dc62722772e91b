# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.spmd (xs). SPMD over several devices is not there yet; transformers' Trainer imports the module all the same."""

_NAMES = {"Mesh", "HybridMesh", "ShardingSpec", "XLAShardedTensor", "XLAShard", "mark_sharding", "clear_sharding", "set_global_mesh",
          "get_global_mesh", "get_1d_mesh", "auto_policy", "xla_distribute_tensor", "xla_distribute_module", "xla_patched_nn_linear_forward",
          "wrap_if_sharded", "apply_backward_optimization_barrier", "enable_manual_sharding", "disable_manual_sharding"}


def __getattr__(name):
    if name in _NAMES:
        raise NotImplementedError(f"torch_xla.distributed.spmd.{name}: SPMD on several devices is not there yet")
    raise AttributeError(f"module 'torch_xla.distributed.spmd' has no attribute '{name}'")
