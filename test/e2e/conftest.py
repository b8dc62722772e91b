# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all end-to-end tests share."""
import sys

import pytest


@pytest.fixture(autouse=True)
def jax_precision(request):
    """JAX's 64-bit mode is a switch of the process, but a choice of each test file: `X64 = True` asks for it."""
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_enable_x64", getattr(request.module, "X64", False))
    yield
