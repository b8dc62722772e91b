# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The name of torch_xla._internal.tpu in PyTorch/XLA 2.0."""
from .._internal.tpu import num_available_chips, num_available_devices, version  # noqa: F401
