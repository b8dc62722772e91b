# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that promise to depend on their arguments only: their operations are recorded once, not in every step."""
import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .. import _load
from ..core import xla_builder as xb
from .scan import Joint, leaf_variables
from ._control_flow import _to_device

_XLAC = _load.sys.modules["torch_xla._XLAC"]


def _seeded_call(seed, function, tensors):
    """What the recorded function gives for these tensors, with random numbers that depend on the seed only, if there is one."""
    if seed is None:
        return _XLAC._call(function, tensors)
    _XLAC._begin_seed(seed)
    try:
        return _XLAC._call(function, tensors)
    finally:
        _XLAC._end_seed()


class _Call(torch.autograd.Function):
    @staticmethod
    def forward(ctx, joint, seed, *tensors):
        made = _seeded_call(seed, joint.forward, [t.detach() for t in tensors])
        ctx.joint = joint
        ctx.save_for_backward(*made[joint.results:])
        ctx.like = [(m.shape, m.dtype) for m in made[:joint.results]]
        ctx.mark_non_differentiable(*[m for m, d in zip(made, joint.differentiable) if not d])
        return tuple(made[:joint.results])

    @staticmethod
    def backward(ctx, *gradients):
        full = [torch.zeros(shape, dtype=dtype, device="xla") if g is None else g
                for g, (shape, dtype) in zip(gradients, ctx.like)]
        made = _XLAC._call(ctx.joint.backward, full + list(ctx.saved_tensors))
        return (None, None, *[g if needed else None for g, needed in zip(made, ctx.joint.needs)])


def _key(leaf):
    if isinstance(leaf, torch.Tensor):
        return (tuple(leaf.shape), leaf.dtype, leaf.requires_grad and torch.is_grad_enabled())
    return leaf


def assume_pure(fn: Callable[..., Any], *, add_rng_seed_argument: bool = False) -> Callable[..., Any]:
    """Returns a function that computes what `fn` computes, and is recorded once per combination of sizes, types and other arguments.

    The promise is that `fn` reads no tensor but its arguments, and changes nothing. Gradients flow to the arguments. Random numbers are drawn anew in
    every call.

    Args:
      fn: A function of pytrees of tensors of the device and other values, which must be hashable.
      add_rng_seed_argument: Whether calls have one more keyword argument, `rng_seed`: an integer, or a tensor that holds one, whose value is
        read. Calls with equal seeds have equal random numbers, and the device's generator does not advance.

    Raises:
      RuntimeError: In a call, if `fn` reads a variable that is not among its arguments.
      TypeError: In a call without rng_seed, if it is expected.
    """
    @functools.wraps(fn)
    def run(*args, **kwargs):
        seed = None
        if add_rng_seed_argument:
            if "rng_seed" not in kwargs:
                raise TypeError(f"{getattr(fn, '__name__', 'the function')}: add_rng_seed_argument expects the keyword argument rng_seed")
            seed = int(kwargs.pop("rng_seed")) & (1 << 64) - 1
        leaves, spec = pytree.tree_flatten((args, kwargs))
        key = (spec, *map(_key, leaves))
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        known = xb._JAX_TO_XLA_COMPUTATION_CACHE.setdefault(run, {})
        if (key, "forward") not in known:
            known[key, "forward"] = made = _record(fn, leaves, spec, tensors)
            if made[0] is not None:
                known[key, "backward"] = made[0].backward
        joint, function, layout = known[key, "forward"]
        if joint is not None:
            made = _Call.apply(joint, seed, *tensors)
        else:
            made = _seeded_call(seed, function, [t.detach() for t in tensors])
        return pytree.tree_unflatten(list(made), layout)
    return run


def _record(fn, leaves, spec, tensors):
    layout = []

    def flat(*given):
        values = iter(given)
        args, kwargs = pytree.tree_unflatten([next(values) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], spec)
        results, layout_now = pytree.tree_flatten(fn(*args, **kwargs))
        layout[:] = [layout_now]
        return [_to_device(result) for result in results]
    if torch.is_grad_enabled() and any(t.requires_grad for t in tensors):
        joint = Joint(flat, [], tensors)
        if joint.variables:
            raise RuntimeError("assume_pure: the function uses a variable that is not among its arguments")
        return joint, None, layout[0]
    scope, stand_ins = _XLAC._body_begin(True, [t.detach() for t in tensors])
    try:
        outputs = flat(*stand_ins)
        if any(leaf_variables(o) for o in outputs):
            raise RuntimeError("assume_pure: the function uses a variable that is not among its arguments")
        return None, _XLAC._body_end(scope, [o.detach() for o in outputs]), layout[0]
    finally:
        _XLAC._body_abort(scope)


class PureModule(torch.nn.Module):
    """A module whose weights are arguments of a function that assume_pure() records once.

    Args:
      module: A module without hidden state, whose forward() changes nothing, no buffer either.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self._module = module
        self._function = assume_pure(lambda state, args, kwargs: torch.func.functional_call(module, state, args, kwargs))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what the module returns for these arguments and its present parameters and buffers.

        Args:
          *args: Its positional arguments.
          **kwargs: Its keyword arguments.
        """
        state = {**dict(self._module.named_parameters()), **dict(self._module.named_buffers())}
        return self._function(state, args, kwargs)
