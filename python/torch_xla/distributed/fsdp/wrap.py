# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Policies that decide which submodules XlaFullyShardedDataParallel wraps by themselves.

A policy is called twice for each submodule: with recurse=True it says whether to look inside, and with recurse=False whether to wrap it.
`unwrapped_params` is the number of elements of its parameters that no wrapped submodule holds.
"""
from collections.abc import Callable, Iterable
from typing import Any

import torch.nn as nn


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Returns True: a policy that wraps every submodule.

    Args:
      *args: Have no effect.
      **kwargs: Have no effect.
    """
    return True


def lambda_auto_wrap_policy(module: nn.Module, recurse: bool, unwrapped_params: int, lambda_fn: Callable[[nn.Module], bool]) -> bool:
    """A policy that wraps the submodules which a function selects; it looks inside of every one.

    Args:
      module: The submodule.
      recurse: Whether the question is whether to look inside.
      unwrapped_params: Has no effect.
      lambda_fn: Returns for a submodule whether it is wrapped; bind it with functools.partial.
    """
    return recurse or lambda_fn(module)


def transformer_auto_wrap_policy(module: nn.Module, recurse: bool, unwrapped_params: int, transformer_layer_cls: Iterable[type[nn.Module]]) -> bool:
    """A policy that wraps the submodules of some classes; it looks inside of every one.

    Args:
      module: The submodule.
      recurse: Whether the question is whether to look inside.
      unwrapped_params: Has no effect.
      transformer_layer_cls: The classes; bind them with functools.partial.
    """
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(module: nn.Module, recurse: bool, unwrapped_params: int, min_num_params: int = int(1e8),
                                force_leaf_modules: Iterable[type[nn.Module]] | None = None,
                                exclude_wrap_modules: Iterable[type[nn.Module]] | None = None) -> bool:
    """Wraps submodules with many parameters.

    Args:
      module: The submodule.
      recurse: Whether the question is whether to look inside.
      unwrapped_params: The number of elements of parameters that it would hold.
      min_num_params: The least number with which a submodule is wrapped.
      force_leaf_modules: Classes inside of which nothing is wrapped, nn.MultiheadAttention by default.
      exclude_wrap_modules: Classes that are not wrapped, nn.ModuleList and nn.ModuleDict by default.
    """
    leaves = tuple((nn.MultiheadAttention,) if force_leaf_modules is None else force_leaf_modules)
    excluded = tuple((nn.ModuleList, nn.ModuleDict) if exclude_wrap_modules is None else exclude_wrap_modules)
    if unwrapped_params < min_num_params:
        return False
    return not isinstance(module, leaves if recurse else excluded)


def recursive_wrap(module: nn.Module, auto_wrap_policy: Callable[..., bool], wrapper_cls: Callable[..., nn.Module],
                   ignored_modules: Iterable[nn.Module] = (), ignored_params: Iterable[nn.Parameter] = (),
                   only_wrap_children: bool = False, **kwargs: Any) -> tuple[nn.Module, int]:
    """Wraps the submodules that a policy selects, from the inside out, and then the module itself.

    Args:
      module: The module.
      auto_wrap_policy: The policy.
      wrapper_cls: The wrapper, called as wrapper_cls(submodule, **kwargs). Its instances are not wrapped again.
      ignored_modules: Submodules that are left alone.
      ignored_params: Parameters that do not count.
      only_wrap_children: Whether the module itself is left alone.
      **kwargs: Arguments of the wrapper.

    Returns:
      The module, or its wrapper, and the number of elements of parameters that are wrapped.
    """
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
