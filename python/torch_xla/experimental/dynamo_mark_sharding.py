# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operator torch.ops.xla.dynamo_mark_sharding, under the name that PyTorch/XLA gives its module."""
from ..distributed.spmd._dynamo_operator import dynamo_mark_sharding  # noqa: F401
