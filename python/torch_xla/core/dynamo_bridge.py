# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions that PyTorch's registration of torch.compile(backend="openxla") imports."""
from .._dynamo.dynamo_bridge import GraphInputMatcher, alias_with_buffer_donor_config, extract_compiled_graph  # noqa: F401
