# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradient checkpointing of a module."""
import functools

from ...utils.checkpoint import checkpoint


def checkpoint_module(module):
    """The same module, with activations that are computed again in the backward pass instead of kept."""
    forward = module.forward

    @functools.wraps(forward)
    def run(*args, **kwargs):
        return checkpoint(forward, *args, use_reentrant=True, **kwargs) if not kwargs else checkpoint(
            functools.partial(forward, **kwargs), *args, use_reentrant=True)
    module.forward = run
    return module
