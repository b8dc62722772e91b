# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pytest

torch = pytest.importorskip("torch")
import torch_xla.debug.metrics as met  # noqa: E402


@pytest.fixture
def no_fallback():
    """Fails the test if an operator ran on the CPU."""
    met.clear_all()
    yield
    assert met.executed_fallback_ops() == []
