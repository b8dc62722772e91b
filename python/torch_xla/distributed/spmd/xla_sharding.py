# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding annotations: functions that say which dimensions of a tensor are sharded over which axes of a mesh."""
import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ... import _XLAC
from ...core import xla_model as xm
from ._input_sharding import ShardingSpec, XlaShardingSpec  # noqa: F401
from . import _marking
from ._marking import clear_sharding, unwrap_sharded_tensor  # noqa: F401
from ._places import ShardingError  # noqa: F401
from ._places import describe, error
from .mesh import (HybridMesh, Mesh, OpSharding, ShardingType, get_1d_mesh, get_global_mesh, set_global_mesh,  # noqa: F401
                   PartitionSpec, shift_axes)

_WRAPPERS = ("XLAShard", "XLAShardedTensor")


def __getattr__(name):
    """XLAShardedTensor is a DTensor, whose import takes a second: only who splits tensors waits for it."""
    if name in _WRAPPERS:
        from . import xla_sharded_tensor
        return getattr(xla_sharded_tensor, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def wrap_as_sharded_tensor(t: torch.Tensor, mesh_shape: Sequence[int] | None = None, partition_spec: PartitionSpec | None = None) -> torch.Tensor:
    """Returns an XLAShardedTensor that is an alias of `t`.

    Args:
      t: A tensor.
      mesh_shape: With partition_spec: the shape of a mesh of all devices in their order, over which the tensor is sharded.
      partition_spec: See mark_sharding().
    """
    from .xla_sharded_tensor import XLAShardedTensor
    if mesh_shape is not None and partition_spec is not None:
        return mark_sharding(unwrap_sharded_tensor(t), Mesh(np.arange(np.prod(mesh_shape)), mesh_shape), partition_spec)
    return XLAShardedTensor(t)


def wrap_if_sharded(x: Any) -> Any:
    """Returns a tensor that has a sharding as an XLAShardedTensor, and anything else as it is."""
    if isinstance(x, torch.Tensor) and not _marking.is_wrapped(x) and x.device.type == "xla" and _XLAC._spmd_text(x):
        return wrap_as_sharded_tensor(x)
    return x


def mark_sharding(t: torch.Tensor, mesh: Mesh, partition_spec: PartitionSpec) -> torch.Tensor:
    """Shards a tensor over the devices, in place. It stays sharded when it is written to; a tensor that has a sharding gets the new one.

    Args:
      t: A tensor of the xla device. Its sizes need not be multiples of the axes': the last shards are padded.
      mesh: The devices.
      partition_spec: Per dimension an axis of the mesh (index or name), a tuple of axes (major first), or None for a dimension that is not
        sharded. Along axes that are not named, devices hold copies.

    Returns:
      The tensor as an XLAShardedTensor.

    Raises:
      ShardingError: The arguments do not fit one another, or SPMD is off. It is a ValueError, an AssertionError and a RuntimeError, and names
        the tensor and the line.
    """
    marked = _marking.mark(t, mesh, partition_spec)
    return marked if torch.compiler.is_dynamo_compiling() else wrap_as_sharded_tensor(marked)


def annotate_custom_sharding(t: torch.Tensor, mesh: Mesh, partition_spec: PartitionSpec) -> torch.Tensor:
    """Tells the compiler how the present value of a tensor is sharded where it is used from now on. No data is moved before that, and what is
    written to the tensor later is sharded as mark_sharding() has said, if it has.

    Args:
      t: A tensor of the xla device.
      mesh: The devices.
      partition_spec: See mark_sharding().

    Returns:
      The tensor as an XLAShardedTensor.

    Raises:
      ShardingError: See mark_sharding().
    """
    if torch.compiler.is_dynamo_compiling():  # in a function that Dynamo compiles, every annotation is one of a value
        return mark_sharding(t, mesh, partition_spec)
    sharding = _marking.check(t, mesh, tuple(partition_spec), "annotate_custom_sharding")
    if t.device.type != "xla":
        raise error(f"annotate_custom_sharding of {describe(t)}", "a tensor of the xla device", f"one of {t.device}")
    _XLAC._xla_annotate_custom_sharding(unwrap_sharded_tensor(t), sharding)
    return wrap_as_sharded_tensor(t)


@torch.library.custom_op("xla::aot_mark_sharding", mutates_args=(), schema="(Tensor t, str mesh, str partition_spec) -> Tensor")
def aot_mark_sharding(t: torch.Tensor, mesh: str, partition_spec: str) -> torch.Tensor:
    """Returns a tensor like `t` that is sharded, as an operator that a compiler may trace. Its gradient is sharded in the same way.

    Args:
      t: A tensor of the xla device.
      mesh: str() of a Mesh.
      partition_spec: str() of a tuple, see mark_sharding().

    Raises:
      ShardingError: `mesh` is no such text; or see mark_sharding().
    """
    found = Mesh.from_str(mesh)
    if found is None:
        raise error(f"aot_mark_sharding of {describe(t)}", "str() of a Mesh", repr(mesh))
    return mark_sharding(t.clone(), found, ast.literal_eval(partition_spec)).global_tensor


@aot_mark_sharding.register_fake
def aot_mark_sharding_fake(t: torch.Tensor, mesh: str, partition_spec: str) -> torch.Tensor:
    """Returns a tensor of the sizes and type of aot_mark_sharding()'s result, for tracing without values.

    Args:
      t: The argument of aot_mark_sharding().
      mesh: Has no effect.
      partition_spec: Has no effect.
    """
    return torch.empty_like(t)


def _remember_texts(ctx, inputs, output):
    ctx.texts = inputs[1:]


aot_mark_sharding.register_autograd(lambda ctx, grad: (torch.ops.xla.aot_mark_sharding(grad, *ctx.texts), None, None),
                                    setup_context=_remember_texts)


class MarkShardingFunction(torch.autograd.Function):
    """mark_sharding() of a tensor and, in the backward pass, of its gradient."""

    @staticmethod
    def forward(ctx: Any, torch_tensor: torch.Tensor, mesh: Mesh, partition_spec: Any) -> torch.Tensor:
        """Returns a sharded copy of a tensor.

        Args:
          torch_tensor: A tensor of the xla device.
          mesh: The devices.
          partition_spec: See mark_sharding().
        """
        ctx.texts = str(mesh), str(tuple(partition_spec))
        return torch.ops.xla.aot_mark_sharding(torch_tensor, *ctx.texts)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradient, sharded as the tensor, and None for the other arguments of forward().

        Args:
          grad_output: The gradient of the result.
        """
        return torch.ops.xla.aot_mark_sharding(grad_output, *ctx.texts), None, None


def mark_sharding_with_gradients(t: torch.Tensor, mesh: Mesh, partition_spec: PartitionSpec) -> torch.Tensor:
    """Returns a tensor like `t` that is sharded, and whose gradient is sharded in the same way; `t` stays as it is. Also in functions that
    torch.compile compiles.

    Args:
      t: A tensor of the xla device.
      mesh: The devices.
      partition_spec: See mark_sharding().

    Raises:
      ShardingError: See mark_sharding().
    """
    if torch.compiler.is_compiling():
        return torch.ops.xla.aot_mark_sharding(t, mesh.text, str(tuple(partition_spec)))
    _marking.check(t, mesh, tuple(partition_spec), "mark_sharding_with_gradients")
    return wrap_as_sharded_tensor(MarkShardingFunction.apply(unwrap_sharded_tensor(t), mesh, tuple(partition_spec)))


class _ShardAs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        return tuple(_XLAC._spmd_shard_as([a, b]))

    @staticmethod
    def backward(ctx, grad_a, grad_b):
        return grad_a, grad_b


def shard_as(a: Any, b: Any) -> tuple[Any, Any]:
    """Returns two tensors, or trees of tensors, that are sharded alike, in the way that the compiler finds best.

    Args:
      a: A tensor, or a tree of tensors.
      b: A tensor of equal rank, or a tree of the same structure, with None where `a` has None.

    Raises:
      ShardingError: Structures or ranks differ.
    """
    (parts, structure), (others, other_structure) = torch.utils._pytree.tree_flatten(a), torch.utils._pytree.tree_flatten(b)
    if structure != other_structure:
        raise error("shard_as", f"two trees of one structure, as {structure}", other_structure)
    made = []
    for one, other in zip(parts, others):
        if (one is None) != (other is None):
            raise error("shard_as", "None in both trees or in none", (one, other))
        if one is not None and one.dim() != other.dim():
            raise error(f"shard_as of {describe(one)}", f"two tensors of one rank, {one.dim()}", f"one of {other.dim()}: {list(other.shape)}")
        made.append((None, None) if one is None else _ShardAs.apply(unwrap_sharded_tensor(one), unwrap_sharded_tensor(other)))
    return tuple(torch.utils._pytree.tree_unflatten([pair[k] for pair in made], structure) for k in (0, 1))


@torch.library.custom_op("xla::enable_manual_sharding", mutates_args=(), schema="(Tensor t, str mesh, str partition_spec) -> Tensor")
def _to_part(t, mesh, partition_spec):
    return _XLAC._spmd_full_to_shard_shape(mark_sharding(t.clone(), Mesh.from_str(mesh), ast.literal_eval(partition_spec)).global_tensor)


@torch.library.custom_op("xla::disable_manual_sharding", mutates_args=(), schema="(Tensor t, str mesh, str partition_spec, int[] full_shape) -> Tensor")
def _to_full(t, mesh, partition_spec, full_shape):
    t = t.clone()
    _XLAC._mark_manual_sharding(t, OpSharding([], [], [], ShardingType.MANUAL))
    every, before = Mesh.from_str(mesh).over_all("disable_manual_sharding")
    sharding = every.get_op_sharding(shift_axes(ast.literal_eval(partition_spec), before))
    return _XLAC._spmd_shard_to_full_shape(t, sharding, full_shape, t.dtype)


@_to_part.register_fake
def _(t, mesh, partition_spec):
    tiles = Mesh.from_str(mesh).get_op_sharding(ast.literal_eval(partition_spec)).tiles(t.dim())
    return t.new_empty([size // count for size, count in zip(t.shape, tiles)])


@_to_full.register_fake
def _(t, mesh, partition_spec, full_shape):
    return t.new_empty(full_shape)


def _remember_whole(ctx, inputs, output):
    ctx.texts, ctx.shape = inputs[1:3], list(inputs[0].shape)


_to_part.register_autograd(lambda ctx, grad: (torch.ops.xla.disable_manual_sharding(grad, *ctx.texts, ctx.shape), None, None), setup_context=_remember_whole)
_to_full.register_autograd(lambda ctx, grad: (torch.ops.xla.enable_manual_sharding(grad, *ctx.texts), None, None, None), setup_context=_remember_whole)


def _part_sizes(t, shape, sharding, what):
    """Sizes of the parts of a tensor of that shape, which have to be equal."""
    tiles = sharding.tiles(len(shape))
    if any(size % count for size, count in zip(shape, tiles)):
        raise error(f"{what} of {describe(t)}", f"sizes that are multiples of {tiles}, the numbers of shards", list(shape))
    return [size // count for size, count in zip(shape, tiles)]


def enable_manual_sharding(t: torch.Tensor, partition_spec: PartitionSpec, *, mesh: Mesh | None = None) -> torch.Tensor:
    """Returns the shard that each device holds, as a tensor of the shard's shape. What is computed with it is computed by every device alone, until
    disable_manual_sharding().

    Args:
      t: A tensor of the xla device, whose sizes are multiples of the axes'.
      partition_spec: See mark_sharding().
      mesh: The devices; the global mesh by default.

    Raises:
      ShardingError: See mark_sharding(); or a size is no multiple.
    """
    mesh = get_global_mesh() if mesh is None else mesh
    if mesh is not None and torch.compiler.is_dynamo_compiling():
        return torch.ops.xla.enable_manual_sharding(t, mesh.text, str(tuple(partition_spec)))
    _part_sizes(t, t.shape, _marking.check(t, mesh, tuple(partition_spec), "enable_manual_sharding"), "enable_manual_sharding")
    return wrap_as_sharded_tensor(torch.ops.xla.enable_manual_sharding(unwrap_sharded_tensor(t), str(mesh), str(tuple(partition_spec))))


def disable_manual_sharding(t: torch.Tensor, partition_spec: PartitionSpec, full_shape: Sequence[int], *, mesh: Mesh | None = None) -> torch.Tensor:
    """Returns the whole tensor of which `t` is the shard of each device.

    Args:
      t: A tensor that is computed from one of enable_manual_sharding().
      partition_spec: How the whole tensor is sharded, see mark_sharding().
      full_shape: The shape of the whole tensor.
      mesh: The devices; the global mesh by default.

    Raises:
      ShardingError: `t` has data, or not the shape of a shard; or see mark_sharding().
    """
    mesh = get_global_mesh() if mesh is None else mesh
    if mesh is not None and torch.compiler.is_dynamo_compiling():
        return torch.ops.xla.disable_manual_sharding(t, mesh.text, str(tuple(partition_spec)), list(full_shape))
    expected = _part_sizes(t, full_shape, _marking.check(t, mesh, tuple(partition_spec), "disable_manual_sharding"), "disable_manual_sharding")
    if not _XLAC._check_tensor_need_materialization([unwrap_sharded_tensor(t)])[0]:
        raise error(f"disable_manual_sharding of {describe(t)}", "a shard that is computed from the result of enable_manual_sharding()", "a tensor with data")
    if len(full_shape) != t.dim() or list(t.shape) != expected:
        raise error(f"disable_manual_sharding of {describe(t)}", f"a shard of {expected} of a tensor of {list(full_shape)}", list(t.shape))
    return wrap_as_sharded_tensor(torch.ops.xla.disable_manual_sharding(unwrap_sharded_tensor(t), str(mesh), str(tuple(partition_spec)), list(full_shape)))


def _mark_manual_sharding(t):
    """Returns the tensor, as one whose value is each device's own. Not for data that is there already."""
    _XLAC._mark_manual_sharding(unwrap_sharded_tensor(t), OpSharding([], [], [], ShardingType.MANUAL))
    return wrap_as_sharded_tensor(t)


#===-- Modules ---------------------------------------------------------------===


def _product(a, b, contracted, equation):
    """Returns the sum over pairs of dims of two tensors, without a reshape, in autocast's type where it is on; `equation`: the same for where
    that cannot be recorded."""
    plain = (torch.Tensor, torch.nn.Parameter)
    if a.device.type != "xla" or type(a) not in plain or type(b) not in plain or torch.compiler.is_compiling():
        return torch.einsum(equation, a, b)
    if torch.is_autocast_enabled("xla"):
        a, b = (t.to(torch.get_autocast_dtype("xla")) if t.is_floating_point() else t for t in (a, b))
    return _XLAC._xla_dot_general(a, b, (contracted, ((), ())), preferred_element_type=torch.promote_types(a.dtype, b.dtype))


class XLAPatchedLinear(torch.autograd.Function):
    """A linear layer as an autograd function that merges no leading dimensions of its input.

    A sharding of one of them stays where it is therefore, in the backward pass as well. Under autocast the product has autocast's type."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="xla")
    def forward(ctx: Any, input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """Returns input @ weight.T + bias.

        Args:
          input: A tensor (..., inputs).
          weight: A matrix (outputs, inputs).
          bias: A vector (outputs); None: no bias.
        """
        ctx.save_for_backward(input, weight)
        ctx.has_bias = bias is not None
        product = _product(input, weight, ([input.dim() - 1], [1]), "...n,mn->...m")
        return product if bias is None else product + bias

    @staticmethod
    @torch.amp.custom_bwd(device_type="xla")
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Returns the gradients for input, weight and bias; None where none is needed.

        Args:
          grad_output: The gradient of the result, (..., outputs).
        """
        input, weight = ctx.saved_tensors
        grad_input = grad_weight = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_input = _product(grad_output, weight, ([input.dim() - 1], [0]), "...m,mn->...n")
        if ctx.needs_input_grad[1]:
            grad_weight = _product(grad_output, input, (list(range(input.dim() - 1)),) * 2, "...m,...n->mn")
        if ctx.has_bias and ctx.needs_input_grad[2]:
            grad_bias = grad_output.sum(tuple(range(grad_output.dim() - 1))) if grad_output.dim() > 1 else grad_output
        return grad_input, grad_weight, grad_bias


def xla_patched_nn_linear_forward(m: torch.nn.Linear, input: torch.Tensor) -> torch.Tensor:
    """Computes what nn.Linear.forward() computes, with XLAPatchedLinear.

    Args:
      m: The layer, whose weight and bias are used.
      input: A tensor (..., inputs).
    """
    return XLAPatchedLinear.apply(input, m.weight, m.bias)


class EinsumLinear(torch.nn.Linear):
    """An nn.Linear that computes with XLAPatchedLinear."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Returns input @ weight.T + bias.

        Args:
          input: A tensor (..., inputs).
        """
        return xla_patched_nn_linear_forward(self, input)


def apply_xla_patch_to_nn_linear(module: torch.nn.Module, patched_function: Callable[..., Any] = xla_patched_nn_linear_forward) -> torch.nn.Module:
    """Replaces forward() of every nn.Linear of a module, in place.

    Args:
      module: The module.
      patched_function: The new forward(), called with the layer and its input.

    Returns:
      `module`.
    """
    import types
    for part in module.modules():
        if isinstance(part, torch.nn.Linear):
            part.forward = types.MethodType(patched_function, part)
    return module


def apply_backward_optimization_barrier(m: torch.nn.Module) -> None:
    """Puts optimization barriers around the backward pass of a module, in place: no operation moves between it and those of the modules around it.

    The gradients of the outputs are one group, those of the parameters and inputs another. FSDP needs it: the gathered weights of a layer are
    released after its own backward pass. The groups are made where tensors enter and leave forward(). Full backward hooks of PyTorch would warn for
    every module whose inputs need no gradients, the first of each model, and run before what belongs behind its backward pass. A function that
    torch.compile traces gets no barriers: its backward pass is a program of its own.

    Args:
      m: The module.
    """
    def barrier(grads, others=()):
        # An expanded gradient (that of a sum) cannot be written to; a copy of it can.
        own = [grad.clone() if isinstance(grad, torch.Tensor) and 0 in grad.stride() else grad for grad in grads]
        present = [grad for grad in (*others, *own) if isinstance(grad, torch.Tensor)]
        if present:
            xm.optimization_barrier_(present)
        return tuple(own)

    def behind(of_inputs):
        made = [parameter.grad for parameter in m.parameters() if parameter.grad is not None and 0 not in parameter.grad.stride()]
        return barrier(of_inputs, made)

    def leave(module, arguments, output):
        return _with_gradients_through(barrier, (output,))[0] if isinstance(output, torch.Tensor) else _with_gradients_through(barrier, output)
    m.register_forward_pre_hook(lambda module, arguments: _with_gradients_through(behind, arguments))
    m.register_forward_hook(leave)


class _GradientsThrough(torch.autograd.Function):
    """The same tensors; function(their gradients) are the gradients behind them."""

    @staticmethod
    def forward(ctx, function, *tensors):
        ctx.function = function
        ctx.set_materialize_grads(False)
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def backward(ctx, *gradients):
        return None, *ctx.function(gradients)


def _with_gradients_through(function, values):
    """Returns the tuple, of which tensors that need gradients get them through `function`. Anything else than a tuple is what it was."""
    if not isinstance(values, tuple) or not torch.is_grad_enabled() or torch.compiler.is_dynamo_compiling():
        return values
    places = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor) and value.requires_grad]
    if not places:
        return values
    made = list(values)
    for i, tensor in zip(places, _GradientsThrough.apply(function, *(values[i] for i in places)), strict=True):
        made[i] = tensor
    return tuple(made) if type(values) is tuple else type(values)(*made)


__all__ = [name for name, value in list(globals().items()) if not name.startswith("__")] + list(_WRAPPERS)
