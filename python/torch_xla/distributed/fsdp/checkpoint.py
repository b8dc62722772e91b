# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradient checkpointing of a module."""
import functools
import types

import torch

from ...utils.checkpoint import checkpoint


def checkpoint_module(module: torch.nn.Module) -> torch.nn.Module:
    """Lets a module compute its activations again in the backward pass instead of keeping them, and returns it. Its parameters get gradients
    whether or not one of its inputs requires one.
    """
    forward = module.forward
    function = forward.__func__ if getattr(forward, "__self__", None) is module else lambda self, *args, **kwargs: forward(*args, **kwargs)

    @functools.wraps(forward)
    def run(self, *args, **kwargs):  # a method, because the module may be copied
        # The reentrant implementation computes gradients of its arguments only.
        is_reentrant = any(isinstance(value, torch.Tensor) and value.requires_grad for value in args)
        return checkpoint(functools.partial(function, self, **kwargs), *args, use_reentrant=is_reentrant)
    module.forward = types.MethodType(run, module)
    return module
