# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XlaFullyShardedDataParallel: a model whose parameters, gradients and optimizer state are split among processes (ZeRO-3; ZeRO-2 with
reshard_after_forward=False). _unit.py says how."""
import contextlib
import copy
import dataclasses
import functools
import gc
import math
from typing import Any, Callable, Iterator

import torch
import torch.nn as nn
from torch.utils._pytree import tree_leaves, tree_map

from ... import _world
from ... import runtime as xr
from ...core import _coalesced, _collectives
from ...core import xla_model as xm
from . import _init_utils, _optimizer_state
from ._layout import Layout
from ._unit import COPYING, Order, Shard, Unit, in_backward, split_parameters, watch_optimizers
from .wrap import recursive_wrap
from .xla_flatten_params_wrapper import FlatParameter, XlaFlattenParamsWrapper

FLOAT_DTYPES = [torch.float32, torch.float16, torch.bfloat16]
_SEPARATOR = "_FSDP_SHARD_SEPARATOR_"


def _float_dtype(name, dtype, default):
    if dtype is not None and dtype not in FLOAT_DTYPES:
        raise ValueError(f"{name} must be one of {FLOAT_DTYPES}, not {dtype}")
    return dtype or default


def _tensors(values):
    """Returns the tensors in nested lists, tuples, dicts, and dataclasses."""
    found = []
    for value in tree_leaves(values):
        if isinstance(value, torch.Tensor):
            found.append(value)
        elif dataclasses.is_dataclass(value) and not isinstance(value, type):
            found += _tensors([getattr(value, field.name) for field in dataclasses.fields(value)])
    return found


class XlaFullyShardedDataParallel(nn.Module):
    """A module of whose parameters each rank keeps a shard; they are gathered while its forward pass and its backward pass run.

    Wrap layers first and the model last, or pass `auto_wrap_policy`. Create the optimizer after that and call its step(): the backward pass has
    reduced the gradients.

    Args:
      module: The module.
      reshard_after_forward: Whether parameters are gathered again for the backward pass (ZeRO-3) instead of kept (ZeRO-2).
      flatten_parameters: Whether all trainable parameters become one vector, and all frozen ones another.
      execute_sharding_on_init: Whether a step is executed at once, after which the whole parameters are freed.
      optimization_barrier_in_forward: Whether a gather waits for the module before the previous one, in the forward pass.
      optimization_barrier_in_backward: The same in the backward pass.
      sync_on_finalization: Whether the backward pass ends with a step barrier.
      disable_reshard_on_root: Whether the outermost wrapper keeps its own parameters, which the backward pass needs first.
      compute_dtype: The type of gathered parameters and of inputs, float32 by default. Shards stay float32.
      buffer_dtype: The type of buffers, compute_dtype by default.
      fp32_reduce_scatter: Whether gradients are reduced in float32.
      sharding_groups: Groups of ranks; parameters are sharded among those of one group instead of all. Requires sharding_rank and
        sharding_world_size.
      sharding_rank: The rank of this process in its group.
      sharding_world_size: The size of the group.
      shard_param_on_dim_0: Whether parameters are sharded along their first dimension instead of as vectors; no effect with flatten_parameters.
      pin_layout_in_collective_ops: Has no effect.
      reduce_scatter_bucket_size_mb: Gradients are reduced together up to so many MiB; 0: only small ones.
      coalesce_all_gather_ops: Has no effect; one operation gathers the parameters of a module.
      auto_wrap_policy: Decides which submodules are wrapped by themselves, see wrap.py.
      auto_wrapper_callable: Wraps them, with all arguments of this class; by default this class.
      param_init_fn: Initializes a submodule that is on the device meta; by default its reset_parameters() does.
      mark_step_on_finalization: The former name of sync_on_finalization.

    Raises:
      RuntimeError: The module is wrapped already, shares a parameter with another wrapper, or has no forward(); or SPMD is on.
      TypeError: A parameter is not float32.
      ValueError: Arguments contradict each other.
    """

    def __init__(self, module: nn.Module, reshard_after_forward: bool = True, flatten_parameters: bool = False, execute_sharding_on_init: bool = True,
                 optimization_barrier_in_forward: bool = True, optimization_barrier_in_backward: bool = True, sync_on_finalization: bool = False,
                 disable_reshard_on_root: bool = True, compute_dtype: torch.dtype | None = None, buffer_dtype: torch.dtype | None = None,
                 fp32_reduce_scatter: bool = False, sharding_groups: list[list[int]] | None = None, sharding_rank: int | None = None,
                 sharding_world_size: int | None = None, shard_param_on_dim_0: bool = False, pin_layout_in_collective_ops: bool = True,
                 reduce_scatter_bucket_size_mb: int = 0, coalesce_all_gather_ops: bool = False, auto_wrap_policy: Callable[..., bool] | None = None,
                 auto_wrapper_callable: Callable[..., nn.Module] | None = None, param_init_fn: Callable[[nn.Module], None] | None = None,
                 _shard_size_multiple: int = 128, _use_xla_patched_linear: bool = True, _debug_dummy_forward_pass: bool = False,
                 _debug_msg: str = "xla_fsdp", _debug_print: bool = False, _debug_dummy_all_gather_op: bool = False,
                 _debug_dummy_all_reduce_op: bool = False, _debug_dummy_reduce_scatter_op: bool = False,
                 _debug_dummy_optimization_barrier_op: bool = False, mark_step_on_finalization: bool = False):
        options = {name: value for name, value in locals().items() if name not in ("self", "module", "auto_wrap_policy", "auto_wrapper_callable",
                                                                                   "__class__")}
        _check_module(module)
        if xr.is_spmd():
            raise RuntimeError("XlaFullyShardedDataParallel shards a model over processes that are replicas, and under SPMD there is one replica: use "
                               "torch_xla.experimental.spmd_fully_sharded_data_parallel.SpmdFullyShardedDataParallel")
        super().__init__()
        if (sharding_groups is None) != (sharding_rank is None) or (sharding_groups is None) != (sharding_world_size is None):
            raise ValueError("sharding_groups, sharding_rank and sharding_world_size have to be given together, but got "
                             f"{sharding_groups}, {sharding_rank} and {sharding_world_size}")
        self.compute_dtype = _float_dtype("compute_dtype", compute_dtype, torch.float32)
        self.buffer_dtype = _float_dtype("buffer_dtype", buffer_dtype, self.compute_dtype)
        self.reshard_after_forward, self.disable_reshard_on_root = reshard_after_forward, disable_reshard_on_root
        self.flatten_parameters, self.fp32_reduce_scatter = flatten_parameters, fp32_reduce_scatter
        self.sync_on_finalization = sync_on_finalization or mark_step_on_finalization
        self.optimization_barrier_in_forward = optimization_barrier_in_forward and not _debug_dummy_optimization_barrier_op
        self.sharding_groups = sharding_groups
        self.rank = _world.rank() if sharding_rank is None else sharding_rank
        self.world_size = _world.size() if sharding_world_size is None else sharding_world_size
        if not 0 <= self.rank < self.world_size:
            raise ValueError(f"sharding_rank {self.rank} is not in a group of {self.world_size}")
        self._pins, self._dummies = pin_layout_in_collective_ops, (_debug_dummy_all_gather_op, _debug_dummy_reduce_scatter_op, _debug_dummy_all_reduce_op)
        self._debug_dummy_forward_pass, self._debug_msg, self._debug_print = _debug_dummy_forward_pass, _debug_msg, _debug_print
        self.xla_device = xm.xla_device()
        if auto_wrap_policy is not None:
            _check_unwrapped(module)
            recursive_wrap(module, auto_wrap_policy, auto_wrapper_callable or XlaFullyShardedDataParallel, only_wrap_children=True, **options)
        _init_utils.materialize(module, param_init_fn, lambda part: isinstance(part, XlaFullyShardedDataParallel))
        self._fsdp_wrapped_module = XlaFlattenParamsWrapper(module)
        on_dim_0 = shard_param_on_dim_0 and not flatten_parameters
        self._split(on_dim_0, 1 if on_dim_0 else _shard_size_multiple, reduce_scatter_bucket_size_mb * 1024 * 1024, optimization_barrier_in_backward)
        self._move_buffers()
        self.register_state_dict_post_hook(_describe_shards)
        self.register_load_state_dict_pre_hook(_check_shards)
        self._is_root: bool | None = None  # known when a forward pass begins
        self._in_backward = False
        if execute_sharding_on_init:
            gc.collect()
            xm.mark_step()
        if _debug_print:
            xm.master_print(f"{_debug_msg}: {len(self.sharded_params)} shards, rank {self.rank} of {self.world_size}", flush=True)

    # Construction.
    def _split(self, on_dim_0, multiple, bucket_bytes, waits_in_backward):
        """Replaces the parameters of the module that no inner wrapper has by shards."""
        slots: dict[nn.Parameter, list[tuple[str, nn.Module, str]]] = {}
        for path, part in self.named_modules():
            if isinstance(part, XlaFullyShardedDataParallel):
                continue  # its parameters are shards
            for name, parameter in part.named_parameters(recurse=False):
                slots.setdefault(parameter, []).append((path, part, name))
        for parameter, places in slots.items():
            _check_parameter(parameter, ".".join((places[0][0], places[0][2])))
        watch_optimizers()
        for parameter, places in slots.items():
            parameter._fsdp_owner = _plain(f"{places[0][0]}.{places[0][2]}")
        shards = self._flat_shards(slots, multiple) if self.flatten_parameters else [
            self._shard(parameter, Layout(parameter.size(), self.world_size, multiple, on_dim_0 and parameter.numel() > 0 and parameter.dim() > 0), [places],
                        f"{places[0][0]}.{places[0][2]}")
            for parameter, places in slots.items()]
        for parameter, places in slots.items():
            for _, part, name in places:
                del part._parameters[name]
            parameter.data = torch.empty(0, device=parameter.device)  # A stale reference raises an error instead of giving the old value.
        gather, scatter = self._collectives()
        self._unit = Unit(shards, gather, scatter, self.compute_dtype, torch.float32 if self.fp32_reduce_scatter else self.compute_dtype, bucket_bytes)
        self._unit.waits_in_backward = waits_in_backward
        self._mark_shards()
        # The power of two near the square root that divides the number of ranks.
        before = 2 ** ((self.world_size & -self.world_size).bit_length() // 2)
        self._unit.divides = (float(before), self.world_size / before)

    def _flat_shards(self, slots, multiple):
        """One shard for all trainable parameters, and one for the others."""
        made = []
        flats = []
        for trainable in (True, False):
            parts = [(parameter, places) for parameter, places in slots.items() if parameter.requires_grad == trainable]
            if not parts:
                continue
            whole = torch.cat([parameter.detach().reshape(-1) for parameter, _ in parts])
            whole.requires_grad_(trainable)
            own = len("_fsdp_wrapped_module.")
            names = [f"{places[0][0]}.{places[0][2]}"[own:] for _, places in parts]
            flat = FlatParameter(names, [parameter.size() for parameter, _ in parts])
            made.append(self._shard(whole, Layout(whole.size(), self.world_size, multiple), [places for _, places in parts],
                                    f"_fsdp_wrapped_module.flat_param_{len(flats)}", flat.shapes, names))
            flats.append(flat)
        self._fsdp_wrapped_module.flat_params = flats
        return made

    def _shard(self, whole, layout, places, path, sizes=None, names=None):
        with torch.no_grad():
            parameter = nn.Parameter(layout.cut(whole.detach(), self.rank).to(self.xla_device), requires_grad=whole.requires_grad)
        name = f"_fsdp_shard.{path}".replace(".", _SEPARATOR)
        self.register_parameter(name, parameter)
        own = len("_fsdp_wrapped_module.") if names else 0  # names of parameters in a vector leave out this prefix
        shared = {f"{each[0][0]}.{each[0][2]}"[own:]: [f"{at}.{other}"[own:] for at, _, other in each[1:]] for each in places if each[1:]}
        return Shard(self, name, path, layout, [[(part, own_name) for _, part, own_name in each] for each in places], sizes or [layout.size],
                     [_plain(each) for each in names or [path]], shared)

    def _collectives(self):
        gather = functools.partial(_coalesced.all_gather, groups=self.sharding_groups)
        scatter = functools.partial(xm.reduce_scatter, xm.REDUCE_SUM, scale=1.0, scatter_dim=0, shard_count=self.world_size,
                                    groups=self.sharding_groups, pin_layout=self._pins)
        if self._dummies[0]:
            def gather(tensors):
                return [torch.cat([tensor] * self.world_size) for tensor in tensors]
        if self._dummies[1]:
            def scatter(tensor):
                return tensor[:tensor.size(0) // self.world_size] * self.world_size
        return gather, scatter

    def _move_buffers(self):
        """Buffers go to the device, those of floating point in buffer_dtype; inner wrappers have moved theirs."""
        inner = {part for other in self.modules() if other is not self and isinstance(other, XlaFullyShardedDataParallel) for part in other.modules()}
        for part in self.modules():
            for name, buffer in part.named_buffers(recurse=False) if part not in inner else ():
                moved = buffer.to(self.xla_device, self.buffer_dtype if buffer.is_floating_point() else buffer.dtype)
                if moved.dtype != buffer.dtype:
                    moved._orig_dtype = buffer.dtype
                part._buffers[name] = moved

    @property
    def sharded_params(self) -> list[nn.Parameter]:
        """The shards of what this wrapper itself holds."""
        return self._unit.reduced_parameters()

    @property
    def module(self) -> XlaFlattenParamsWrapper:
        """What is wrapped."""
        return self._fsdp_wrapped_module

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name in ("_fsdp_wrapped_module", "_fpw_module"):
                raise
            return getattr(self._fsdp_wrapped_module, name)

    def __getitem__(self, key: Any) -> Any:
        return self._fsdp_wrapped_module[key]

    def extra_repr(self) -> str:
        """Returns what print(module) shows of the arguments."""
        return (f"world_size={self.world_size}, rank={self.rank}, compute_dtype={self.compute_dtype}, buffer_dtype={self.buffer_dtype}, "
                f"flatten_parameters={self.flatten_parameters}, reshard_after_forward={self.reshard_after_forward}, sharding_groups={self.sharding_groups}")

    def _mark_shards(self):
        """Lightning looks for these attributes of PyTorch/XLA's shards."""
        for shard in self._unit.shards:
            parameter = shard.parameter
            parameter._is_sharded, parameter._orig_size, parameter._orig_name, parameter._name = True, shard.layout.size, shard.path, shard.name

    def _apply(self, fn: Callable[..., Any], recurse: bool = True) -> Any:
        moved = super()._apply(fn, recurse)
        self._mark_shards()  # _apply() may have replaced the parameters
        return moved

    def __deepcopy__(self, memo: dict) -> "XlaFullyShardedDataParallel":
        made = self.__class__.__new__(self.__class__)
        memo[id(self)], memo[COPYING] = made, True
        for name, value in vars(self).items():
            if name not in ("_unit", "_root"):
                made.__dict__[name] = copy.deepcopy(value, memo)
        made._is_root, made._in_backward = None, False
        made._unit = self._unit.copy(made, memo)
        made._mark_shards()
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("an XlaFullyShardedDataParallel cannot be pickled: save {'model': model.state_dict(), 'shard_metadata': model.get_shard_metadata()} "
                        "on every rank, and load that into a model that is wrapped in the same way")

    def _inner(self) -> Iterator["XlaFullyShardedDataParallel"]:
        """This wrapper and those inside of it."""
        return (part for part in self.modules() if isinstance(part, XlaFullyShardedDataParallel))

    # A step.
    def _become_root(self):
        """The first wrapper whose forward pass begins is the outermost one: those inside know from now on that they are not."""
        if self._is_root is not None:
            return
        order = Order()
        for wrapper in self._inner():
            wrapper._is_root, wrapper._unit.order = wrapper is self, order
            wrapper._unit.reshards = wrapper.reshard_after_forward and not (wrapper is self and wrapper.disable_reshard_on_root)
            object.__setattr__(wrapper, "_root", self)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Gathers the parameters, calls the wrapped module, and returns its result.

        The tensors of the result get hooks that gather the parameters again for the backward pass. Floating-point arguments are converted to
        compute_dtype.

        Args:
          *args: Its positional arguments.
          **kwargs: Its keyword arguments.
        """
        self._become_root()
        unit = self._unit
        if self.compute_dtype != torch.float32:
            args, kwargs = tree_map(self._cast, (args, kwargs))
        if self._is_root and not in_backward():
            self._forget_backward()
        inputs = _tensors((args, kwargs)) if self.optimization_barrier_in_forward else []
        unit.gather(unit.order.next(inputs) if self.optimization_barrier_in_forward else [], keeps=torch.is_grad_enabled())
        if in_backward():  # A recomputation: its backward pass follows at once.
            self._will_end_backward()
            return self._run(args, kwargs)
        saving = unit.saving() if torch.is_grad_enabled() else None
        try:
            with saving or contextlib.nullcontext():
                outputs = self._run(args, kwargs)
        finally:
            unit.take()
        if saving is not None:
            for output in _tensors(outputs):
                if output.requires_grad:  # The backward pass of this module begins with the gradient of this tensor.
                    output.register_hook(self._begin_backward)
        return outputs

    def _run(self, args, kwargs):
        return self._dummy_forward(args, kwargs) if self._debug_dummy_forward_pass else self.module(*args, **kwargs)

    def _cast(self, value):
        is_other = isinstance(value, torch.Tensor) and value.is_floating_point() and value.dtype != self.compute_dtype
        return value.to(self.compute_dtype) if is_other else value

    def _begin_backward(self, grad):
        self._will_end_backward()
        self._unit.before_backward([grad])

    def _will_end_backward(self):
        root = self._root
        if not root._in_backward:
            root._in_backward = True
            torch.autograd.Variable._execution_engine.queue_callback(root._end_backward)

    def _end_backward(self):
        for wrapper in self._inner():
            wrapper._unit.reduce_rest()
        self._forget_backward()
        if self.sync_on_finalization:
            xm.mark_step()

    def _forget_backward(self):
        """Also where the last backward pass has failed."""
        self._in_backward = False
        self._unit.order.clear()
        for wrapper in self._inner():
            wrapper._unit.end_backward()

    def _dummy_forward(self, args, kwargs):
        """Returns the mean of all inputs and parameters: what the parameters alone cost."""
        values = [value for value in _tensors((args, kwargs)) if value.is_floating_point()]
        values += [getattr(*slots[0]) for shard in self._unit.shards for slots in shard.slots]
        total = sum((value.float().mean() for value in values), torch.zeros((), device=self.xla_device))
        for wrapper in self._inner():
            if wrapper is not self and self._is_root:
                wrapper._debug_dummy_forward_pass = True
                total = wrapper(total)
        return total

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Returns a context in which backward passes do not reduce gradients; all ranks enter it together.

        The gradients of full parameters are summed on each rank, which takes their memory, and reduced with those of the first backward pass after
        it.

        Raises:
          RuntimeError: This is not the outermost wrapper, or a backward pass runs.
        """
        self._become_root()
        self._check_idle_root("no_sync()")
        before = [(wrapper._unit, wrapper._unit.is_reducing) for wrapper in self._inner()]
        for unit, _ in before:
            unit.is_reducing = False
        try:
            yield
        finally:
            for unit, was_reducing in before:
                unit.is_reducing = was_reducing

    def _check_idle_root(self, what):
        if not self._is_root:
            raise RuntimeError(f"{what} is for the outermost wrapper, but this one is inside of another")
        if self._in_backward:
            raise RuntimeError(f"{what} cannot be called while a backward pass runs")

    def set_gradient_divide_factors(self, pre: float, post: float, recursive: bool) -> None:
        """Sets what gradients are divided by. By default the product of the divisors is the number of ranks.

        Args:
          pre: The divisor before gradients are summed over the ranks.
          post: The divisor after that.
          recursive: Whether the wrappers inside of this one get the divisors, too.
        """
        for wrapper in self._inner() if recursive else [self]:
            wrapper._unit.divides = (pre, post)

    @property
    def params_with_grad(self) -> list[nn.Parameter]:
        """Shards that have a gradient."""
        return [parameter for parameter in self.parameters() if parameter.grad is not None]

    @torch.no_grad()
    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0, groups: list[list[int]] | None = None) -> torch.Tensor:
        """Scales the gradients of the whole model in place so that their norm is at most `max_norm`. All ranks call it.

        Args:
          max_norm: The largest norm.
          norm_type: The order of the norm; infinity: the largest absolute value.
          groups: Groups of ranks whose gradients have a norm of their own; None: all ranks are one group.

        Returns:
          The norm before, a scalar of the device.

        Raises:
          RuntimeError: This is not the outermost wrapper, or a backward pass runs.
        """
        self._become_root()
        self._check_idle_root("clip_grad_norm_()")
        grads = [parameter.grad.detach() for parameter in self.params_with_grad]
        is_max = math.isinf(norm_type)
        if is_max:
            own = torch.stack([grad.abs().max() for grad in grads]).max() if grads else torch.zeros((), device=self.xla_device)
        else:
            own = sum((grad.float().abs().pow(norm_type).sum() for grad in grads), torch.zeros((), device=self.xla_device))
        if not self._dummies[2]:
            own = _collectives.all_reduce(xm.REDUCE_MAX if is_max else xm.REDUCE_SUM, own, groups=groups)
        total = own if is_max else own.pow(1.0 / norm_type)
        factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
        for grad in grads:
            grad.mul_(factor)
        return total

    # Checkpoints.
    def get_original_names_and_sharded_parameters(self) -> list[tuple[str, nn.Parameter]]:
        """Returns the name in the model before it was wrapped, and the shard, of every parameter."""
        named = []
        for path, wrapper in self.named_modules():
            if isinstance(wrapper, XlaFullyShardedDataParallel):
                prefix = f"{path}." if path else ""
                named += [(_plain(prefix + shard.path), shard.parameter) for shard in wrapper._unit.shards]
        return named

    @staticmethod
    def full_optim_state_dict(model: nn.Module, optim: torch.optim.Optimizer, rank0_only: bool = True) -> dict[str, Any]:
        """Returns the state of an optimizer in the form of one for the model before it was wrapped, on the CPU. All ranks call it.

        The result does not depend on the number of processes: {"state": {name of a parameter: {key: value}}, "param_groups": [{..., "params":
        names}]}.

        Args:
          model: The wrapped model.
          optim: The optimizer of its shards.
          rank0_only: Whether the other ranks get {}.

        Raises:
          ValueError: The state has other values than one for each element of a shard, or one for all of them.
        """
        return _optimizer_state.full_optim_state_dict(model, optim, rank0_only)

    @staticmethod
    def shard_full_optim_state_dict(full_optim_state_dict: dict[str, Any], model: nn.Module, optim: torch.optim.Optimizer) -> dict[str, Any]:
        """Returns the state of this rank's shards, for optim.load_state_dict().

        Args:
          full_optim_state_dict: What full_optim_state_dict() returned on rank 0. The model may have been wrapped in another way, and sharded among
            another number of processes.
          model: The wrapped model.
          optim: The optimizer of its shards.

        Raises:
          ValueError: The model has other parameters, or groups of them; the message has the name.
        """
        return _optimizer_state.shard_full_optim_state_dict(full_optim_state_dict, model, optim)

    def get_shard_metadata(self) -> dict[str, Any]:
        """Returns what consolidate_sharded_model_checkpoints() needs to put the shards of all ranks together: save it with state_dict()."""
        shard_info, flatten_info = {}, {}
        for path, part in self.named_modules(remove_duplicate=False):
            path = path.replace("_fpw_module.", "")
            if isinstance(part, XlaFullyShardedDataParallel):
                shard_info[path] = {shard.name: shard.info for shard in part._unit.shards}
            if isinstance(part, XlaFlattenParamsWrapper):
                prefix = f"{path}." if path else ""
                flatten_info.update({f"{prefix}flat_param_{index}": part.metadata(index) for index in range(len(part.flat_params))})
        buffer_info = {name: {"_orig_dtype": buffer._orig_dtype} for name, buffer in self.named_buffers() if hasattr(buffer, "_orig_dtype")}
        return {"shard_info": shard_info, "flatten_info": flatten_info, "buffer_info": buffer_info, "world_size": self.world_size, "rank": self.rank}


def _plain(name):
    """Returns the name in the model that was wrapped."""
    return name.replace("_fsdp_wrapped_module.", "").replace("_fpw_module.", "")


def _describe_shards(wrapper, state_dict, prefix, local_metadata):
    """What load_state_dict() compares."""
    local_metadata["shards"] = {"rank": wrapper.rank, "world_size": wrapper.world_size,
                                "sizes": {shard.name: list(shard.layout.size) for shard in wrapper._unit.shards}}


def _check_shards(wrapper, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, errors):
    """Shards of another rank, or of parameters of other sizes, may have the size of this rank's."""
    own = {shard.name: list(shard.layout.size) for shard in wrapper._unit.shards}
    whole = "the state dict has no shards: that of a whole model is loaded before the model is wrapped"
    if own and state_dict and not any("_fsdp_shard" in key for key in state_dict) and whole not in errors:
        errors.append(whole)
    saved = local_metadata.get("shards")
    if saved is None:
        return
    if (saved["rank"], saved["world_size"]) != (wrapper.rank, wrapper.world_size):
        errors.append(f"{prefix}: expects shards of rank {wrapper.rank} of {wrapper.world_size}, but got those of rank {saved['rank']} of "
                      f"{saved['world_size']}. For another number of processes, consolidate_sharded_model_checkpoints makes the whole model")
    errors.extend(f"{_plain(name.replace(_SEPARATOR, '.').removeprefix('_fsdp_shard.'))}: expects a shard of a parameter of {own[name]}, but got one of a parameter of {size}"
                  for name, size in saved["sizes"].items() if name in own and own[name] != list(size))


def _check_module(module):
    if isinstance(module, XlaFullyShardedDataParallel):
        raise RuntimeError("the module is an XlaFullyShardedDataParallel already: wrap its submodules first, then the module that contains them")
    forward = getattr(module, "forward", None)
    if forward is None or getattr(forward, "__func__", None) in (nn.Module.forward, nn.ModuleList.forward, nn.ModuleDict.forward):
        raise RuntimeError(f"a {type(module).__name__} has no forward(), during which its parameters would be gathered: wrap its submodules, or "
                           "the module that contains it")


    inside = {id(part) for part in module.modules()}
    for name, wrapper in split_parameters(module):
        if wrapper is not None and id(wrapper) not in inside:
            raise RuntimeError(f"{name} is sharded by a wrapper around the module already: wrap its submodules first, then the module that contains them")


def _check_unwrapped(module):
    for path, part in module.named_modules():
        if isinstance(part, XlaFullyShardedDataParallel):
            raise ValueError(f"{path or 'the module'} is an XlaFullyShardedDataParallel already, which does not go together with auto_wrap_policy")


def _check_parameter(parameter, path):
    shown = _plain(path)
    if parameter.dtype != torch.float32:
        raise TypeError(f"expects parameters of float32, but {shown} is of {parameter.dtype}: only fp32 parameters are supported. compute_dtype "
                        "says in which type they are used")
    if hasattr(parameter, "_fsdp_owner"):
        raise RuntimeError(f"{shown} is also a parameter of a submodule that is wrapped already: parameters that modules share have to be in one wrapper")
