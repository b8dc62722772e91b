# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.distributed.spmd (xs): programs for one device that run on many. Annotate a few tensors; the compiler splits the rest."""
from .xla_sharding import (HybridMesh, Mesh, MarkShardingFunction, OpSharding, ShardingSpec, ShardingType, XLAPatchedLinear,
                           _mark_manual_sharding, annotate_custom_sharding, apply_backward_optimization_barrier,
                           apply_xla_patch_to_nn_linear, clear_sharding, disable_manual_sharding, enable_manual_sharding, get_1d_mesh,
                           get_global_mesh, mark_sharding, mark_sharding_with_gradients, set_global_mesh, shard_as,
                           unwrap_sharded_tensor, wrap_as_sharded_tensor, wrap_if_sharded, xla_patched_nn_linear_forward)
from .api import auto_policy, xla_distribute_module, xla_distribute_tensor
from .debugging import visualize_sharding, visualize_tensor_sharding
from .explain import explain, partitioned
from ._places import ShardingError
from . import api, debugging, xla_sharding
from . import _dynamo_operator as _dynamo_operator  # registers torch.ops.xla.dynamo_mark_sharding


def __getattr__(name):
    if name == "xla_sharded_tensor":
        import importlib
        return importlib.import_module(".xla_sharded_tensor", __name__)
    return getattr(xla_sharding, name) if name in ("XLAShard", "XLAShardedTensor") else _unknown(name)


def _unknown(name):
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [name for name in dir() if not name.startswith("_")] + ["XLAShard", "XLAShardedTensor", "xla_sharded_tensor"]
