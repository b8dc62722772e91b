# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helper functions for tests of exported programs."""
from collections.abc import Callable
from typing import Any

import torch


def has_tf_package() -> bool:
    """False: TensorFlow's SavedModels are not written, installed or not (torch_xla.tf_saved_model_integration)."""
    return False


def wrap_func_as_nn_module(f: Callable[..., Any]) -> torch.nn.Module:
    """A module whose forward is `f`."""
    class Wrapped(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return f(*args, **kwargs)
    return Wrapped().eval()
