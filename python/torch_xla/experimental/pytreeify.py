# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.autograd.Function with nested lists, tuples and dicts of tensors as arguments and results."""
import torch
from torch.utils import _pytree as pytree


def pytreeify(cls: type[torch.autograd.Function]) -> type[torch.autograd.Function]:
    """Decorates an autograd function, so that the arguments and the result of forward() may be pytrees of tensors.

    Args:
      cls: The class. Its backward() gets the gradients in the structure of the result, and returns one per argument: in the argument's structure, or
        None.

    Returns:
      `cls`, whose apply() is replaced.
    """
    forward, backward = cls.forward, cls.backward

    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, made, specs, *leaves):
            ctx.specs = specs
            rest = list(leaves)
            args = []
            for spec in specs:
                args.append(pytree.tree_unflatten(rest[:spec.num_leaves], spec))
                del rest[:spec.num_leaves]
            results, ctx.result_spec = pytree.tree_flatten(forward(ctx, *args))
            made.append(ctx.result_spec)
            return tuple(results)

        @staticmethod
        def backward(ctx, *gradients):
            whole = pytree.tree_unflatten(gradients, ctx.result_spec)
            given = backward(ctx, *whole) if type(whole) is tuple else backward(ctx, whole)
            given = given if type(given) is tuple else (given,)
            flat = []
            for gradient, spec in zip(given, ctx.specs, strict=True):
                flat += [None] * spec.num_leaves if gradient is None else pytree.tree_leaves(gradient)
            return (None, None, *flat)

    def apply(*args):
        leaves, specs = [], []
        for arg in args:
            flat, spec = pytree.tree_flatten(arg)
            leaves += flat
            specs.append(spec)
        made = []
        results = Flat.apply(made, specs, *leaves)
        return pytree.tree_unflatten(results, made[0])
    cls.apply = staticmethod(apply)
    return cls
