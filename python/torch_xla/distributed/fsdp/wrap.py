# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which parts of a module are wrapped on their own. A policy is asked twice for each: whether to look inside (`recurse`), and whether to
wrap it; `unwrapped_params` is how many elements its parameters have that no part of it holds wrapped."""
import torch.nn as nn


def always_wrap_policy(*args, **kwargs):
    """Everything."""
    return True


def lambda_auto_wrap_policy(module, recurse, unwrapped_params, lambda_fn):
    """Modules for which `lambda_fn(module)` is true."""
    return recurse or lambda_fn(module)


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


def recursive_wrap(module, auto_wrap_policy, wrapper_cls, ignored_modules=(), ignored_params=(), only_wrap_children=False, **kwargs):
    """(module, elements of its parameters that are wrapped now): its parts, and the module itself unless `only_wrap_children`, become
    wrapper_cls(part, **kwargs) where the policy says so, from the inside out. `ignored_modules` and `ignored_params` stay out of it, and what is a
    `wrapper_cls` already."""
    ignored = {*ignored_params, *(parameter for each in ignored_modules for parameter in each.parameters())}
    total = sum(parameter.numel() for parameter in module.parameters() if parameter not in ignored)
    if isinstance(wrapper_cls, type) and isinstance(module, wrapper_cls):
        return module, total
    if not auto_wrap_policy(module=module, recurse=True, unwrapped_params=total):
        return module, 0
    wrapped = 0
    for name, child in list(module.named_children()):
        if child not in ignored_modules:
            made, count = recursive_wrap(child, auto_wrap_policy, wrapper_cls, ignored_modules, ignored_params, **kwargs)
            wrapped += count
            if made is not child:
                setattr(module, name, made)
    if not only_wrap_children and auto_wrap_policy(module=module, recurse=False, unwrapped_params=total - wrapped):
        return wrapper_cls(module, **kwargs), total
    return module, wrapped
