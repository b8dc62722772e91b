# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helper functions for tests of exported programs."""
from collections.abc import Callable
from typing import Any

import torch


def has_tf_package() -> bool:
    """Returns False: Millrace writes no SavedModels of TensorFlow, whether that is installed or not."""
    return False


def wrap_func_as_nn_module(f: Callable[..., Any]) -> torch.nn.Module:
    """Returns a module, in the mode eval, whose forward() is a function.

    Args:
      f: The function.
    """
    class Wrapped(torch.nn.Module):
        def forward(self, *args, **kwargs):
            return f(*args, **kwargs)
    return Wrapped().eval()
