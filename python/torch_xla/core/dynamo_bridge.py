# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.compile(backend="openxla") calls: PyTorch's own registration of that name imports this module."""
from .._dynamo.dynamo_bridge import extract_compiled_graph  # noqa: F401
