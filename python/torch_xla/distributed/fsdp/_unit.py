# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parameters that one XlaFullyShardedDataParallel splits among the ranks of its group: gathered for a computation, reduced after it.

A gather is an operation for autograd, whose gradient is the reduce_scatter: the shards, which are what the optimizer sees, get theirs like any
leaf. What autograd keeps of a gathered parameter between forward and backward is not the parameter, which would stay in memory, but how to view
it (saved_tensors_hooks); the backward pass gathers once more. Behind a barrier, for two reasons: the compiler must not take the second gather for the
first, and a gather should not begin before the unit before the last one is done, or all of them would be in memory at once."""
import copy
import functools
import weakref
from typing import Any, Callable, Iterable

import torch
import torch.nn as nn
import torch.utils.weak
from torch.optim.optimizer import register_optimizer_step_pre_hook

from ...core import _coalesced, _collectives
from ...utils import checkpoint
from ._layout import Layout


COPYING = "XlaFullyShardedDataParallel"  # the key in the memo of a deepcopy that a wrapper handles


class _Refusing(torch.Tensor):
    """Stands where a parameter is while it is split: its size and type, no values. Whether it gets gradients is its shard's to say."""

    @staticmethod
    def __new__(cls, shard, name, size, dtype, device):
        return torch.Tensor._make_wrapper_subclass(cls, size, dtype=dtype, device=device)

    def __init__(self, shard, name, size, dtype, device):
        self._shard, self._name = weakref.ref(shard), name

    @property
    def owner(self):
        """The wrapper that has the shard."""
        shard = self._shard()
        return None if shard is None else shard.owner

    @property
    def requires_grad(self):
        return self.owner is not None and self._shard().parameter.requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        if self.owner is None or value == self.requires_grad:
            return
        shard = self._shard()
        if len(shard.sizes) > 1:
            raise RuntimeError(f"{self._name} and {len(shard.sizes) - 1} other parameters are one vector (flatten_parameters), of which all have the same "
                               "requires_grad: set it before they are wrapped")
        shard.parameter.requires_grad_(value)

    def requires_grad_(self, requires_grad=True):
        self.requires_grad = requires_grad
        return self

    def __repr__(self, *, tensor_contents=None):
        return f"<{self._name}, {tuple(self.shape)}, split among ranks>"

    def __reduce_ex__(self, protocol):
        self._refuse()

    def __deepcopy__(self, memo):
        if COPYING not in memo:
            self._refuse()
        return self  # the copy of the wrapper replaces it by its own object

    def _refuse(self):
        raise RuntimeError(f"the parameter {self._name} of a module in XlaFullyShardedDataParallel is gathered only while that module's forward() runs, "
                           "called through its wrapper; the shards are the parameters of the wrapper")

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        next(value for value in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(value, cls))._refuse()


def split_parameters(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """Returns (name, wrapper that has its shard) of the parameters of a module and its parts that are split."""
    return [(value._name, value.owner) for part in module.modules() for value in vars(part).values() if isinstance(value, _Refusing)]


def _freeze_parts(requires_grad_: Callable) -> Callable:
    """torch.nn.Module.requires_grad_, for parts inside of a wrapper, too: they have no parameters, and it would do nothing."""
    @functools.wraps(requires_grad_)
    def for_parts(self: nn.Module, requires_grad: bool = True) -> nn.Module:
        requires_grad_(self, requires_grad)
        for part in self.modules():
            for value in vars(part).values():
                if isinstance(value, _Refusing):
                    value.requires_grad_(requires_grad)
        return self
    return for_parts


def _check_state(optimizer: torch.optim.Optimizer) -> None:
    """RuntimeError where state that was loaded is of shards of another size. Looks once at each state that is loaded."""
    if getattr(optimizer, "_fsdp_checked", None) is optimizer.state:
        return
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if not getattr(parameter, "_is_sharded", False):
                continue
            for key, value in optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor) and value.dim() == parameter.dim() and value.shape != parameter.shape and value.numel() > 1:
                    name = parameter._orig_name.replace("_fsdp_wrapped_module.", "").replace("_fpw_module.", "")
                    raise RuntimeError(f"{key} of {name} has {tuple(value.shape)}, but the shard of this process has {tuple(parameter.shape)}: the optimizer's state is that "
                                       "of another number of processes. XlaFullyShardedDataParallel.full_optim_state_dict() saves it for any number, and "
                                       "shard_full_optim_state_dict() makes this process's part of that")
    optimizer._fsdp_checked = optimizer.state


def _check_optimizer(optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
    """Called before each optimizer's step: with parameters that were split since, it would do nothing; with the state of other shards, anything."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if name := getattr(parameter, "_fsdp_owner", None):
                raise RuntimeError(f"the optimizer has {name} as it was before XlaFullyShardedDataParallel sharded it: make the optimizer after the model is "
                                   "wrapped, for model.parameters() of the wrapper")
    _check_state(optimizer)


@functools.cache
def watch_optimizers() -> None:
    """From the first model on that is wrapped."""
    register_optimizer_step_pre_hook(_check_optimizer)


nn.Module.requires_grad_ = _freeze_parts(nn.Module.requires_grad_)


class Shard:
    """A parameter that is split, or several as one vector. It is the parameter `name` of `owner`, which a move of the module may exchange.

    path: the name of the whole parameter in `owner`, as checkpoints have it. slots: the (module, name) pairs that have each part. sizes, names: of
    the parts. shared_names: of parts that several modules have, the other names."""

    def __init__(self, owner: nn.Module, name: str, path: str, layout: Layout, slots: list[list[tuple[nn.Module, str]]], sizes: list[torch.Size],
                 names: list[str], shared_names: dict[str, list[str]]):
        self._owner, self.name, self.path, self.layout = weakref.ref(owner), name, path, layout
        self.slots, self.sizes, self.names, self.shared_names = slots, sizes, names, shared_names
        self._refusing: list[torch.Tensor] = []

    @property
    def owner(self) -> Any:
        """The wrapper that has it, if that is still there."""
        return self._owner()

    @property
    def parameter(self) -> nn.Parameter:
        """The shard of this rank."""
        return self.owner._parameters[self.name]

    def copy(self, owner: nn.Module, memo: dict) -> "Shard":
        """Returns the same of a copy of the owner, with whose parts in the memo of that deepcopy."""
        slots = [[(copy.deepcopy(module, memo), name) for module, name in each] for each in self.slots]
        return Shard(owner, self.name, self.path, self.layout, slots, self.sizes, self.names, self.shared_names)

    @property
    def info(self) -> dict[str, Any]:
        """What a checkpoint says of it."""
        shared = {"_shared_names": self.shared_names} if self.shared_names else {}
        return {"_orig_size": self.layout.size, "_orig_name": self.path, **shared}

    def put(self, joined: torch.Tensor) -> None:
        """Gives the modules their parameters, views of all shards joined."""
        whole = self.layout.whole(joined)
        if len(self.sizes) == 1 and whole.shape == self.sizes[0]:
            self._set([whole])
        else:
            self._set([part.view(size) for part, size in zip(whole.split([size.numel() for size in self.sizes]), self.sizes)])

    def take(self, dtype: torch.dtype) -> None:
        """Takes them away again."""
        if not self._refusing:
            self._refusing = [_Refusing(self, name, size, dtype, self.parameter.device) for name, size in zip(self.names, self.sizes)]
        self._set(self._refusing)

    def _set(self, tensors):
        for slots, tensor in zip(self.slots, tensors):
            for module, name in slots:
                setattr(module, name, tensor)  # torch.nn.LSTM overrides setattr to notice the assignment


class Order:
    """The order of the gathers in a model: what each waits for, besides its shards."""

    def __init__(self):
        self._before: list[torch.Tensor] = []
        self._forward: list[Unit] = []  # units in the order in which the forward pass gathered them, which the backward pass reverses

    def next(self, here: Iterable[torch.Tensor]) -> list[torch.Tensor]:
        """What a gather waits for that is wanted when the tensors `here` are there: those of the gather before."""
        waits, self._before = self._before, [tensor.detach() for tensor in here]
        return waits

    def began(self, unit: "Unit") -> None:
        """The forward pass has gathered `unit`."""
        self._forward.append(unit)

    def ahead_of(self, unit: "Unit") -> tuple["Unit | None", list[torch.Tensor]]:
        """Where the backward pass has gathered `unit`: the one that it is going to want next, and what its gather waits for: what `unit`'s was wanted
        with. None if that is unknown."""
        places = [place for place, one in enumerate(self._forward) if one is unit]
        if not places or not self._before:
            return None, []
        # The outermost unit is gathered first, and the backward pass begins and ends with it.
        place = places[-1] - 1 if places[-1] else len(self._forward) - 1
        return (self._forward[place] if place > 0 else None), self._before

    def clear(self) -> None:
        self._before, self._forward = [], []


class _Gather(torch.autograd.Function):
    """Shards of a unit -> all shards joined, a tensor for each; gradients of these -> gradients of the shards."""

    @staticmethod
    def forward(ctx, unit, waits, *shards):
        ctx.unit = unit
        ctx.set_materialize_grads(False)
        joined = unit.join(shards, waits) if unit.ahead is None else unit.ahead
        unit.ahead = None
        ctx.mark_non_differentiable(*[tensor for tensor, shard in zip(joined, shards) if not shard.requires_grad])
        return tuple(joined)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *grads):
        return (None, None, *ctx.unit.reduce(grads))


# From the joined shards to the unit that has gathered them, and the number of the shard in it.
_gathered = torch.utils.weak.WeakTensorKeyDictionary()


class _View:
    """How autograd sees a gathered parameter."""

    def __init__(self, unit, index, tensor):
        self.unit, self.index, self.version = unit, index, unit.versions[index]
        self.size, self.stride, self.offset = tensor.size(), tensor.stride(), tensor.storage_offset()

    def again(self):
        return self.unit.for_backward(self.index, self.version).as_strided(self.size, self.stride, self.offset)


class Unit:
    """The shards of one wrapper. `gather`, `scatter`: xm.all_gather for a list of tensors and xm.reduce_scatter for one, among its group. `compute_dtype`: of
    gathered parameters; `reduce_dtype`: of gradients when they are reduced."""

    def __init__(self, shards: list[Shard], gather: Callable, scatter: Callable, compute_dtype: torch.dtype, reduce_dtype: torch.dtype,
                 bucket_bytes: int):
        self.shards, self._gather, self._scatter = shards, gather, scatter
        self.compute_dtype, self.reduce_dtype, self._bucket_bytes = compute_dtype, reduce_dtype, bucket_bytes
        self.divides = (1.0, 1.0)  # the divisors of gradients before and after they are summed
        self.is_reducing = True  # False: gradients are accumulated on this rank, and reduced with those of a later backward pass
        self.reshards = True
        self.waits_in_backward = True
        self.order = Order()
        self._last: list[torch.Tensor] | None = None  # the parameters that the last forward pass gathered, if the backward pass uses them
        self._joined: list[torch.Tensor] | None = None  # the joined parameters, while the backward pass of this unit runs
        self.ahead: list[torch.Tensor] | None = None  # the parameters that were gathered while the backward pass of another unit runs
        self.versions: list[int] = []  # the version counters of the shards when they were gathered last
        self._missing: set[int] = set()  # shards that have no gradient of this backward pass yet
        self._kept: list[torch.Tensor | None] = [None] * len(shards)  # gradients that are not reduced yet
        _collectives.reducing_in_backward.add(self)
        self.take()

    def copy(self, owner: nn.Module, memo: dict) -> "Unit":
        """Returns the same of a copy of the wrapper; `memo` of that deepcopy. Gradients that wait for a later reduction stay here."""
        made = Unit([shard.copy(owner, memo) for shard in self.shards], self._gather, self._scatter, self.compute_dtype, self.reduce_dtype,
                    self._bucket_bytes)
        made.divides, made.waits_in_backward = self.divides, self.waits_in_backward
        return made

    # Parameters.
    def reduced_parameters(self) -> list[nn.Parameter]:
        """Returns the shards."""
        return [shard.parameter for shard in self.shards]

    def join(self, parameters: Iterable[torch.Tensor], waits: list[torch.Tensor]) -> list[torch.Tensor]:
        """All shards joined, which the compiler gathers when `waits` are there."""
        own = [parameter.detach() for parameter in parameters]
        if own[0].device.type != "xla":
            raise RuntimeError(f"the shard of {self.shards[0].names[0]} is on the device {own[0].device}: move the model to where it computes, "
                               "model.to('xla')")
        self.versions = [0 if shard.parameter.is_inference() else shard.parameter._version for shard in self.shards]
        if waits:
            own = checkpoint.optimization_barrier([*own, *waits])[:len(own)]
        return self._gather([shard.to(self.compute_dtype) for shard in own])

    def gather(self, waits: list[torch.Tensor], keeps: bool = False) -> None:
        """Gives the modules their parameters, whose gradients are the shards'. `keeps`: a backward pass will use them, unless it gathers again."""
        joined = list(_Gather.apply(self, waits, *(shard.parameter for shard in self.shards))) if self.shards else []
        for index, tensor in enumerate(joined):
            _gathered[tensor] = (weakref.ref(self), index)
        self._put(joined)
        self._last = joined if keeps and not self.reshards else None
        if in_backward():
            self._begin(joined)
        elif keeps:
            self.order.began(self)

    def _put(self, joined):
        for shard, tensor in zip(self.shards, joined):
            shard.put(tensor)

    def _begin(self, joined):
        self._joined = joined
        self._missing = {index for index, shard in enumerate(self.shards) if shard.parameter.requires_grad}

    def take(self) -> None:
        """Takes the parameters from the modules."""
        for shard in self.shards:
            shard.take(self.compute_dtype)

    def saving(self) -> Any:
        """Returns a context in which autograd keeps no gathered parameter of this or an outer unit. Nothing where activations are computed again by
        torch.utils.checkpoint, which keeps nothing at all."""
        outer = torch._C._autograd._top_saved_tensors_default_hooks(True)
        if outer is not None and "_checkpoint_hook" in outer[0].__qualname__:
            return None

        def pack(tensor):
            base = tensor._base if tensor._is_view() else tensor
            unit, index = _gathered.get(base, (None, None))
            if unit is not None and unit().reshards:
                return _View(unit(), index, tensor)
            return tensor if outer is None else (outer[1], outer[0](tensor))

        def unpack(kept):
            if isinstance(kept, _View):
                return kept.again()
            return kept if isinstance(kept, torch.Tensor) else kept[0](kept[1])
        return torch.autograd.graph.saved_tensors_hooks(pack, unpack)

    def before_backward(self, here: list[torch.Tensor]) -> None:
        """Gives the modules their parameters in a backward pass: for computations that run again, and for views that autograd has kept. They are
        gathered when the tensors `here` are there."""
        if self._joined is not None:
            return
        with torch.enable_grad():  # gradients of computations that run again reach the shards
            if self._last is None:
                self.gather(self.order.next(here) if self.waits_in_backward else [])
                self._gather_ahead()
            else:
                self._put(self._last)
                self._begin(self._last)

    def _gather_ahead(self) -> None:
        """Gathers what the backward pass is going to want next, before the gradients of this unit are reduced: collectives run in the order in which they
        are called, so one that comes after the reductions could not overlap the computation before them."""
        other, waits = self.order.ahead_of(self)
        if other is not None and other.reshards and other._joined is None and other.ahead is None:
            other.ahead = other.join([shard.parameter for shard in other.shards], waits)

    def for_backward(self, index: int, version: int) -> torch.Tensor:
        """Returns a shard of all ranks joined, in a backward pass. RuntimeError if it has changed since the forward pass, when it had `version`."""
        self.before_backward([])
        if self.versions[index] != version:
            raise RuntimeError(f"{self.shards[index].names[0]} has been changed since the forward pass whose gradients are asked for (by optimizer.step(), or "
                               "a copy into it): its gradients would be those of other values. Call backward() before, or the forward pass once more")
        assert self._joined is not None, "before_backward() has joined the shards"
        return self._joined[index]

    def end_backward(self) -> None:
        """Forgets what was gathered for a backward pass."""
        self._joined = self._last = self.ahead = None
        self.take()

    # Gradients.
    def reduce(self, grads: Iterable[torch.Tensor | None]) -> list[torch.Tensor | None]:
        """Returns the gradients of the shards for those of all shards joined; None where nothing is to be added to a shard's now."""
        self._missing.difference_update(index for index, grad in enumerate(grads) if grad is not None)
        if self._joined is not None and not self._missing and self.reshards:
            self.end_backward()
        grads = [self._sum(kept, grad) for kept, grad in zip(self._kept, grads)]
        self._kept = [None] * len(grads)
        if not self.is_reducing:
            self._kept = grads
            return [None] * len(grads)
        before, after = self.divides
        there = [index for index, grad in enumerate(grads) if grad is not None]
        made: list[torch.Tensor | None] = [None] * len(grads)
        operands = [grad / before if before != 1 else grad for grad in grads if grad is not None]
        for index, reduced in zip(there, _coalesced.reduce_scatter(operands, self.shards[0].layout.world, self._scatter, self._bucket_bytes)):
            reduced = reduced.to(self.shards[index].parameter.dtype)
            made[index] = reduced / after if after != 1 else reduced
        return made

    def reduce_rest(self) -> None:
        """Reduces gradients of earlier backward passes to which the last one had nothing to add."""
        if self.is_reducing and any(grad is not None for grad in self._kept):
            with torch.no_grad():
                for shard, grad in zip(self.shards, self.reduce([None] * len(self.shards))):
                    if grad is not None:
                        shard.parameter.grad = grad if shard.parameter.grad is None else shard.parameter.grad + grad

    def _sum(self, kept, grad):
        grad = None if grad is None else grad.to(self.reduce_dtype)
        if kept is None or grad is None:
            return kept if grad is None else grad
        return kept + grad


def in_backward() -> bool:
    """Returns whether autograd's backward pass runs in this thread."""
    return torch._C._current_graph_task_id() != -1
