# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which parts of a module are wrapped on their own. A policy is asked twice for each: whether to look inside (`recurse`), and whether to
wrap it; `unwrapped_params` is how many elements its parameters have that no part of it holds wrapped."""
import torch.nn as nn


def always_wrap_policy(*args, **kwargs):
    """Everything."""
    return True


def transformer_auto_wrap_policy(module, recurse, unwrapped_params, transformer_layer_cls):
    """Modules of the classes `transformer_layer_cls` (a set)."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(module, recurse, unwrapped_params, min_num_params=int(1e8), force_leaf_modules=None,
                                exclude_wrap_modules=None):
    """Modules with at least `min_num_params` elements of parameters, but for those of the classes `exclude_wrap_modules` (containers by
    default). Nothing inside of `force_leaf_modules` (attention by default)."""
    leaves = tuple((nn.MultiheadAttention,) if force_leaf_modules is None else force_leaf_modules)
    excluded = tuple((nn.ModuleList, nn.ModuleDict) if exclude_wrap_modules is None else exclude_wrap_modules)
    if unwrapped_params < min_num_params:
        return False
    return not isinstance(module, leaves if recurse else excluded)
