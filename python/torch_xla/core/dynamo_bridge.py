# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch.compile(backend="openxla") calls: PyTorch's own registration of that name imports this module."""
from .._dynamo.dynamo_bridge import GraphInputMatcher, alias_with_buffer_donor_config, extract_compiled_graph  # noqa: F401
