# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch_xla.utils.checkpoint: activations of a function are computed again in the backward pass instead of being kept.

Forward and backward are one program, in which the compiler would find that the second computation repeats the first, and keep the
first one's results. An optimization barrier makes the second one depend on the gradients that arrive."""
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
import torch.utils.checkpoint as torch_checkpoint

from ..core import xla_model as xm


def get_device_states(*args: Any) -> tuple[list[str], list[torch.Tensor]]:
    """Returns the devices of the tensors among the arguments, and their random states."""
    devices = sorted({str(a.device) for a in args if isinstance(a, torch.Tensor) and xm.is_xla_tensor(a)})
    return devices, [torch.xla.get_rng_state() for _ in devices]


def set_device_states(devices: Sequence[str], states: Sequence[torch.Tensor]) -> None:
    """Restores the random states that get_device_states() returned.

    Args:
      devices: The devices.
      states: Their states.
    """
    for _, state in zip(devices, states):
        torch.xla.set_rng_state(state)


def optimization_barrier(tensors: Iterable[Any]) -> list[Any]:
    """Returns the tensors as new values, behind an optimization barrier: the compiler does not find that they equal the old ones.

    Args:
      tensors: Tensors and other values; tensors of the CPU and other values stay as they are.
    """
    made = list(tensors)
    places = [place for place, tensor in enumerate(made) if isinstance(tensor, torch.Tensor) and xm.is_xla_tensor(tensor)]
    for place, tensor in zip(places, xm.optimization_barrier([made[place] for place in places])):
        made[place] = tensor
    return made


class CheckpointFunction(torch.autograd.Function):
    """An autograd function that keeps only the arguments of a function for the backward pass, which calls it again."""

    @staticmethod
    def forward(ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Calls a function without recording its gradient.

        Args:
          run_function: The function.
          preserve_rng_state: Whether the second call draws the same random numbers.
          *args: Its arguments.

        Returns:
          The result of the function.
        """
        ctx.run_function, ctx.preserve_rng_state = run_function, preserve_rng_state
        ctx.autocast = {kind: {"enabled": torch.is_autocast_enabled(kind), "dtype": torch.get_autocast_dtype(kind),
                               "cache_enabled": torch.is_autocast_cache_enabled()} for kind in ("xla", "cpu")}
        if preserve_rng_state:
            ctx.cpu_state, ctx.device_states = torch.get_rng_state(), get_device_states(*args)
        ctx.inputs = [None if isinstance(a, torch.Tensor) else a for a in args]
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        with torch.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        """Calls the function again, behind an optimization barrier, and returns the gradients for the arguments of forward().

        Args:
          *grads: The gradients of the results.

        Raises:
          RuntimeError: The backward pass is for chosen inputs (torch.autograd.grad), or no result requires a gradient.
        """
        if not torch.autograd._is_checkpoint_valid():
            raise RuntimeError("Checkpointing is not compatible with .grad() or when an `inputs` parameter is passed to .backward(). "
                               "Please use .backward() and do not pass its `inputs` argument.")
        saved = ctx.saved_tensors
        moved = optimization_barrier([*saved, *grads])
        tensors, grads = moved[:len(saved)], tuple(moved[len(saved):])
        inputs = list(ctx.inputs)
        for place, tensor, original in zip(ctx.places, tensors, saved):
            inputs[place] = tensor.detach().requires_grad_(original.requires_grad)
        with torch.random.fork_rng(devices=[], enabled=ctx.preserve_rng_state):
            before = get_device_states(*saved)
            if ctx.preserve_rng_state:
                torch.set_rng_state(ctx.cpu_state)
                set_device_states(*ctx.device_states)
            with torch.enable_grad(), torch.autocast("xla", **ctx.autocast["xla"]), torch.autocast("cpu", **ctx.autocast["cpu"]):
                outputs = ctx.run_function(*inputs)
            if ctx.preserve_rng_state:
                set_device_states(*before)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        pairs = [(out, grad) for out, grad in zip(outputs, grads) if isinstance(out, torch.Tensor) and out.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([out for out, _ in pairs], [grad for _, grad in pairs])
        return (None, None, *[value.grad if isinstance(value, torch.Tensor) else None for value in inputs])


def checkpoint(function: Callable[..., Any], *args: Any, use_reentrant: bool | None = True, **kwargs: Any) -> Any:
    """Returns function(*args), and computes the activations again in the backward pass.

    Args:
      function: The function.
      *args: Its arguments.
      use_reentrant: False chooses torch.utils.checkpoint's implementation without an autograd function of its own.
      **kwargs: `preserve_rng_state` (True by default): whether the second computation draws the same random numbers. Others are arguments of the
        function, with use_reentrant=False only.

    Raises:
      ValueError: There are other keyword arguments, with use_reentrant=True.
    """
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        return CheckpointFunction.apply(function, preserve, *args)
    return torch_checkpoint.checkpoint(function, *args, use_reentrant=False, preserve_rng_state=preserve, **kwargs)


class _BarrierFunction(torch.autograd.Function):
    """Its arguments behind a barrier; gradients pass as they are."""

    @staticmethod
    def forward(ctx, *args):
        return tuple(optimization_barrier(args))

    @staticmethod
    def backward(ctx, *grads):
        return grads


def _again(function):
    """The function as it is called for the second computation."""
    @functools.wraps(function)
    def run(*args, **kwargs):
        if any(isinstance(a, torch.Tensor) and xm.is_xla_tensor(a) for a in args):
            args = _BarrierFunction.apply(*args)
        return function(*args, **kwargs)
    return run


def install() -> None:
    """Makes torch.utils.checkpoint put a barrier before the second computation, too; torch_xla calls it once.

    The two implementations of PyTorch end in the two names that are replaced, whoever has imported the module already."""
    reentrant, other = torch_checkpoint.CheckpointFunction, torch_checkpoint._checkpoint_without_reentrant_generator

    class CheckpointFunction(reentrant):  # type: ignore[misc, valid-type]
        @classmethod
        def apply(cls, function, *args):
            calls: list[Any] = []

            def run(*inputs):
                calls.append(None)
                return (function if len(calls) == 1 else _again(function))(*inputs)
            return reentrant.apply(run, *args)

    @functools.wraps(other)
    def generator(function, *args, **kwargs):
        return other(_again(function), *args, **kwargs)  # the generator runs the function in the backward pass only

    torch_checkpoint.CheckpointFunction, torch_checkpoint._checkpoint_without_reentrant_generator = CheckpointFunction, generator
