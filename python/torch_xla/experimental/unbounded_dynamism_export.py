# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exported programs with open sizes, and passes over their graphs that PyTorch/XLA runs before it lowers them.

exported_program_to_stablehlo() takes such programs as they are. The passes are for those who want the graph in their form: each
changes a graph module in place (recompile() it afterwards) and leaves alone what has no open size."""
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch._guards import detect_fake_mode
from torch.utils import _pytree as pytree

from . import xla_dynamic_reshape_ops  # noqa: F401  (defines the operators)
from ..utils.stablehlo_test_utils import wrap_func_as_nn_module  # noqa: F401

_aten = torch.ops.aten
_NO_END = 2 ** 63 - 1


def exported_program_has_symbolic_input_shape(ep: torch.export.ExportedProgram) -> bool:
    """Returns whether a size of an input is dynamic.

    Args:
      ep: The program.
    """
    values = [node.meta.get("val") for node in ep.graph.nodes if node.op == "placeholder"]
    return any(_is_open(value) for value in pytree.tree_leaves(values) if isinstance(value, torch.Tensor))


def _is_open(tensor):
    return any(isinstance(size, torch.SymInt) for size in tensor.shape)


def _value(node):
    """Returns the tensor that stands for a node's result."""
    return node.meta["val"]


def call_function(graph: fx.Graph, target: Callable[..., Any], args: Sequence[Any] | None = None,
                  kwargs: dict[str, Any] | None = None) -> fx.Node:
    """Adds a call to a graph at its insertion point, with the sizes and type of the result.

    Args:
      graph: The graph.
      target: The operator.
      args: Its positional arguments: nodes, and lists of nodes and numbers.
      kwargs: Its keyword arguments, of the same form.

    Returns:
      The node of the call; its meta["val"] is a fake tensor, if those of all operands are known.
    """
    args, kwargs = tuple(args or ()), dict(kwargs or {})
    node = graph.call_function(target, args, kwargs)
    known = fx.map_arg((args, kwargs), lambda n: n.meta.get("val"))
    mode = detect_fake_mode(pytree.tree_leaves(known))
    if mode is not None and all("val" in n.meta for n in node.all_input_nodes):
        with mode:
            node.meta["val"] = target(*known[0], **known[1])
    return node


def _sizes(graph, node):
    """Returns the sizes of a node's tensor as arguments of calls: numbers, and nodes for the open ones."""
    return [call_function(graph, _aten.sym_size.int, (node, dim)) if isinstance(size, torch.SymInt) else int(size)
            for dim, size in enumerate(_value(node).shape)]


def _calls(gm, *targets):
    return [node for node in gm.graph.nodes if node.op == "call_function" and node.target in targets]


def _replace(gm, node, build):
    """`node` by what build(graph) makes in its place."""
    with gm.graph.inserting_before(node):
        made = build(gm.graph)
    node.replace_all_uses_with(made)
    gm.graph.erase_node(node)


def _argument(node, index, name, default=None):
    return node.args[index] if len(node.args) > index else node.kwargs.get(name, default)


#===-- Norms -----------------------------------------------------------------===


def _normalized(call, x, dims, weight, bias, eps):
    mean = call(_aten.mean.dim, x, dims, True)
    centered = call(_aten.sub.Tensor, x, mean)
    variance = call(_aten.mean.dim, call(_aten.mul.Tensor, centered, centered), dims, True)
    made = call(_aten.mul.Tensor, centered, call(_aten.rsqrt.default, call(_aten.add.Scalar, variance, eps)))
    made = made if weight is None else call(_aten.mul.Tensor, made, weight)
    return made if bias is None else call(_aten.add.Tensor, made, bias)


def _group_normalized(call, x, sizes, weight, bias, C, HxW, group, eps):
    """`sizes`: of x. The groups become the last dim but one."""
    rest = [1] * (len(sizes) - 2)
    made = _normalized(call, call(_aten.reshape.default, x, [sizes[0], group, C // group * HxW]), [2], None, None, eps)
    made = call(_aten.reshape.default, made, sizes)
    made = made if weight is None else call(_aten.mul.Tensor, made, call(_aten.reshape.default, weight, [C] + rest))
    return made if bias is None else call(_aten.add.Tensor, made, call(_aten.reshape.default, bias, [C] + rest))


def _now(target, *args):
    return target(*args)


def native_layer_norm_impl(input: torch.Tensor, normalized_shape: Sequence[int], weight: torch.Tensor | None, bias: torch.Tensor | None,
                           eps: float) -> torch.Tensor:
    """Computes the first result of aten.native_layer_norm with means and elementwise operators.

    Args:
      input: A tensor whose last dimensions have the sizes `normalized_shape`.
      normalized_shape: The sizes of the dimensions that are normalized.
      weight: A factor of these sizes; None: none.
      bias: A summand of these sizes; None: none.
      eps: A value that is added to the variance.
    """
    return _normalized(_now, input, list(range(-len(normalized_shape), 0)), weight, bias, eps)


def native_group_norm_impl(input: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, N: int, C: int, HxW: int, group: int,
                           eps: float) -> torch.Tensor:
    """Computes the first result of aten.native_group_norm with means and elementwise operators.

    Args:
      input: A tensor (N, C, ...).
      weight: A factor per channel, (C); None: none.
      bias: A summand per channel, (C); None: none.
      N: Has no effect; the size of the batch is read from `input`.
      C: The number of channels.
      HxW: The product of the other sizes.
      group: The number of groups that the channels are divided into.
      eps: A value that is added to the variance.
    """
    return _group_normalized(_now, input, list(input.shape), weight, bias, C, HxW, group, eps)


def native_layer_norm_pattern(x: torch.Tensor, dim: Sequence[int], weight: torch.Tensor | None, bias: torch.Tensor | None,
                              eps: float) -> torch.Tensor:
    """Calls the operator that decompose_dynamic_native_layer_norm() replaces, and returns its first result.

    Args:
      x: A tensor whose last dimensions have the sizes `dim`.
      dim: The sizes of the dimensions that are normalized.
      weight: A factor of these sizes; None: none.
      bias: A summand of these sizes; None: none.
      eps: A value that is added to the variance.
    """
    return _aten.native_layer_norm.default(x, dim, weight, bias, eps)[0]


def native_group_norm_pattern(x: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, N: int, C: int, HxW: int, group: int,
                              eps: float) -> torch.Tensor:
    """Calls the operator that decompose_dynamic_native_group_norm() replaces, and returns its first result.

    Args:
      x: A tensor (N, C, ...).
      weight: A factor per channel, (C); None: none.
      bias: A summand per channel, (C); None: none.
      N: The size of the batch.
      C: The number of channels.
      HxW: The product of the other sizes.
      group: The number of groups that the channels are divided into.
      eps: A value that is added to the variance.
    """
    return _aten.native_group_norm.default(x, weight, bias, N, C, HxW, group, eps)[0]


def _decompose_norms(gm, target, build):
    for node in _calls(gm, target):
        for user in [user for user in node.users if not user.users]:
            gm.graph.erase_node(user)
        if not _is_open(_value(node.args[0])) or any(user.target is not operator.getitem or user.args[1] != 0 for user in node.users):
            continue  # the mean and the deviation are used, too
        for user in list(node.users):
            _replace(gm, user, lambda graph: build(lambda op, *args: call_function(graph, op, args), graph, node.args))
        gm.graph.erase_node(node)


def decompose_dynamic_native_layer_norm(gm: fx.GraphModule) -> None:
    """Replaces aten.native_layer_norm by means and elementwise operators, where its input has a dynamic size and only its first result is used.

    Args:
      gm: The module, whose graph changes in place.
    """
    _decompose_norms(gm, _aten.native_layer_norm.default, lambda call, graph, args: _normalized(
        call, args[0], list(range(-len(args[1]), 0)), *args[2:5]))


def decompose_dynamic_native_group_norm(gm: fx.GraphModule) -> None:
    """Replaces aten.native_group_norm by means and elementwise operators, where its input has a dynamic size and only its first result is used.

    Args:
      gm: The module, whose graph changes in place.
    """
    _decompose_norms(gm, _aten.native_group_norm.default, lambda call, graph, args: _group_normalized(
        call, args[0], _sizes(graph, args[0]), args[1], args[2], *args[4:8]))


#===-- Shapes ----------------------------------------------------------------===


def decompose_dynamic_shape_select(gm: fx.GraphModule) -> None:
    """Replaces aten.select of a tensor of dynamic size by a slice and a view.

    Args:
      gm: The module, whose graph changes in place.
    """
    for node in _calls(gm, _aten.select.int):
        x, dim, index = node.args
        if not _is_open(_value(x)):
            continue

        def build(graph):
            end = index + 1 if index != -1 else _NO_END
            sizes = _sizes(graph, x)
            del sizes[dim]
            return call_function(graph, _aten.view.default, (call_function(graph, _aten.slice.Tensor, (x, dim, index, end)), sizes))
        _replace(gm, node, build)


def decompose_split_with_sizes(gm: fx.GraphModule) -> None:
    """Replaces aten.split_with_sizes, if all its sizes are static, by slices. The tensor's own sizes may be dynamic or static.

    Args:
      gm: The module, whose graph changes in place.
    """
    for node in _calls(gm, _aten.split_with_sizes.default):
        x, sizes, dim = node.args[0], node.args[1], _argument(node, 2, "dim", 0)
        if not all(isinstance(size, int) for size in sizes) or any(user.target is not operator.getitem for user in node.users):
            continue
        for user in list(node.users):
            start = sum(sizes[:user.args[1]])

            def build(graph):
                part = call_function(graph, _aten.slice.Tensor, (x, dim, start, start + sizes[user.args[1]]))
                part._rename(f"{node.name}_part")
                return part
            _replace(gm, user, build)
        gm.graph.erase_node(node)


def flatten_embedding_indices_tensor(gm: fx.GraphModule) -> None:
    """Gives aten.embedding its indices in one dimension, where they have more, and a dynamic size.

    Args:
      gm: The module, whose graph changes in place.
    """
    for node in _calls(gm, _aten.embedding.default):
        weight, indices = node.args[:2]
        if _value(indices).dim() < 2 or not _is_open(_value(indices)):
            continue

        def build(graph):
            sizes = _sizes(graph, indices)
            count = math.prod(size for size in sizes if isinstance(size, int))
            for size in sizes:
                if not isinstance(size, int):
                    count = call_function(graph, operator.mul, (size, count))
            flat = call_function(graph, _aten.reshape.default, (indices, [count]))
            rows = call_function(graph, _aten.embedding.default, (weight, flat, *node.args[2:]), node.kwargs)
            return call_function(graph, _aten.reshape.default, (rows, [*sizes, int(_value(weight).shape[1])]))
        _replace(gm, node, build)


def remove_no_op_slice(gm: fx.GraphModule) -> None:
    """Removes every aten.slice that returns all elements of its operand.

    Args:
      gm: The module, whose graph changes in place.
    """
    for node in _calls(gm, _aten.slice.Tensor):
        start, end, step = _argument(node, 2, "start"), _argument(node, 3, "end"), _argument(node, 4, "step", 1)
        if start in (None, 0) and end in (None, _NO_END) and step == 1:
            node.replace_all_uses_with(node.args[0])
            gm.graph.erase_node(node)


def dynamic_unsqueeze_to_view(gm: fx.GraphModule) -> None:
    """Replaces aten.unsqueeze of a tensor of dynamic size by a view.

    Args:
      gm: The module, whose graph changes in place.
    """
    for node in _calls(gm, _aten.unsqueeze.default):
        x, dim = node.args
        if not _is_open(_value(x)):
            continue

        def build(graph):
            sizes = _sizes(graph, x)
            sizes.insert(dim if dim >= 0 else dim + len(sizes) + 1, 1)
            return call_function(graph, _aten.view.default, (x, sizes))
        _replace(gm, node, build)


def _source(size):
    """Returns (tensor, dim, factor): where the value of a size's node is read, times a number; None if it comes about otherwise."""
    if size.target is _aten.sym_size.int:
        return (*size.args, 1)
    if size.target is operator.mul:
        for inner, factor in (size.args, size.args[::-1]):
            if isinstance(inner, fx.Node) and isinstance(factor, int):
                source = _source(inner)
                return source and (*source[:2], source[2] * factor)
    return None


def _with_open_size(gm, targets, build):
    for node in _calls(gm, *targets):
        x, sizes = node.args[:2]
        places = [place for place, size in enumerate(sizes) if isinstance(size, fx.Node)]
        if len(places) != 1:
            continue  # no dynamic size, or more than the operator can express
        source = _source(sizes[places[0]])
        if source is None:
            continue
        static = [1 if isinstance(size, fx.Node) else size for size in sizes]
        _replace(gm, node, lambda graph: build(graph, x, static, source, places[0]))
        for size in (sizes[places[0]],):
            while isinstance(size, fx.Node) and not size.users:  # nodes that only this size used
                inner = next((arg for arg in size.args if isinstance(arg, fx.Node)), None)
                gm.graph.erase_node(size)
                size = inner if inner is not None and inner.target in (_aten.sym_size.int, operator.mul) else None


def replace_dynamic_expand_with_xla_op(gm: fx.GraphModule) -> None:
    """Replaces aten.expand to one dynamic size by torch.ops.xla.dynamic_expand.

    Args:
      gm: The module, whose graph changes in place. A size stays as it is if it is not the size of a tensor.
    """
    _with_open_size(gm, [_aten.expand.default], lambda graph, x, sizes, source, place: call_function(
        graph, torch.ops.xla.dynamic_expand.default, (x, sizes, source[0], source[1], place)))


def replace_dynamic_view_with_xla_op(gm: fx.GraphModule) -> None:
    """Replaces aten.view and aten.reshape to one dynamic size by torch.ops.xla.dynamic_view.

    Args:
      gm: The module, whose graph changes in place. A size stays as it is if it is not the size of a tensor times a number.
    """
    _with_open_size(gm, [_aten.view.default, _aten.reshape.default, _aten._unsafe_view.default],
                    lambda graph, x, sizes, source, place: call_function(
                        graph, torch.ops.xla.dynamic_view.default, (x, sizes, source[0], source[1], place, source[2])))


def process_exported_program_with_symbolic_input(ep: torch.export.ExportedProgram,
                                                 extra_passes: Sequence[Callable[[fx.GraphModule], Any]] = ()) -> None:
    """Runs all passes of this module on the graph of a program. Unlike in PyTorch/XLA, the export to StableHLO does not need them.

    Args:
      ep: The program, whose graph changes in place.
      extra_passes: Functions of a graph module that run after them.
    """
    for change in (decompose_dynamic_shape_select, remove_no_op_slice, decompose_dynamic_native_group_norm,
                   decompose_dynamic_native_layer_norm, dynamic_unsqueeze_to_view, decompose_split_with_sizes,
                   flatten_embedding_indices_tensor, replace_dynamic_expand_with_xla_op, replace_dynamic_view_with_xla_op,
                   *extra_passes):
        change(ep.graph_module)
    ep.graph_module.graph.lint()
    ep.graph_module.recompile()
