# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From a graph of torch.compile to a program that is called without tracing.

PyTorch's backend `openxla` calls extract_compiled_graph() with the graph and its first arguments. The graph is run once on
stand-ins for them, which records it; the recording is compiled, and every later call starts that program. Arguments of
another size make one more program. An operator that runs on the CPU cuts the graph: what is before and after it becomes
programs of their own, and a warning says so."""
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from .. import _load
from .._donations import alias_with_buffer_donor_config  # noqa: F401
from .._frames import call_at
from . import config
from .matcher import GraphInputMatcher  # noqa: F401
from .dynamic import REFUSALS, DynamicProgram, is_refusal, open_sizes

_XLAC = _load.sys.modules["torch_xla._XLAC"]
_debugging = os.environ.get("XLA_DYNAMO_DEBUG", "0").lower() not in ("", "0", "false")


def _debug(text):
    if _debugging:
        print(f"[XLA_DYNAMO_DEBUG] {text}", flush=True)


def _describe(values):
    return ", ".join(f"{str(v.dtype)[6:]}[{','.join(map(str, v.shape))}]@{v.device}" if isinstance(v, torch.Tensor) else repr(v)
                     for v in values)


class _Untraceable(Exception):
    """The operator that keeps a graph from becoming one program."""


class _Interpreter(fx.Interpreter):
    """Runs a graph with other values for the tensors that it holds."""

    def __init__(self, graph, held):
        super().__init__(graph)
        self.held = held

    def get_attr(self, target, args, kwargs):
        return self.held[target] if target in self.held else super().get_attr(target, args, kwargs)

    def run(self, *args, **kwargs):
        before = _XLAC._follow_frames(True)
        try:
            return super().run(*args, **kwargs)
        finally:
            _XLAC._follow_frames(before)

    def run_node(self, n):
        """Runs a node from the user's line that it comes from, so that kernels, errors and reports name the line."""
        return call_at(n.meta.get("stack_trace"), super().run_node, n)

    def call_function(self, target, args, kwargs):
        """Calls an operator. A tensor of the CPU that the graph overwrites with one of the device, such as a collective's, stays on the device
        until the graph returns it."""
        if target is torch.ops.aten.copy.default and args[0].device.type == "cpu" and args[1].device.type == "xla":
            args = (torch.empty_like(args[0], device=args[1].device), *args[1:])
        return super().call_function(target, args, kwargs)


def _held_tensors(graph):
    """Tensors of the device that the graph refers to by name: arguments like all others, because they may change."""
    held = {}
    for node in graph.graph.nodes:
        if node.op == "get_attr":
            value = graph
            for name in node.target.split("."):
                value = getattr(value, name)
            if isinstance(value, torch.Tensor) and value.device.type == "xla":
                held[node.target] = value
    return held


def _is_static(tensor):
    """Returns whether the tensor belongs to a module, so that Dynamo expects it in every call."""
    return isinstance(tensor, torch.nn.Parameter) or getattr(tensor, "_dynamo_static_input_type", None) is not None


def _is_trained(graph):
    """Returns whether the graph is the forward or backward part of one that AOTAutograd has cut in two: its parameters change from step to step."""
    return any(node.op == "placeholder" and str(node.target).startswith(("primals_", "tangents_")) for node in graph.graph.nodes)


def _wanted_on_cpu(graph, count):
    """Per result, whether the graph promises it on the CPU: all of it runs on the device."""
    output = next(node for node in reversed(graph.graph.nodes) if node.op == "output")
    nodes = pytree.tree_leaves(output.args[0])
    if len(nodes) != count:
        return [False] * count

    def is_cpu(node):
        value = node.meta.get("val", node.meta.get("example_value")) if isinstance(node, fx.Node) else None
        return isinstance(value, torch.Tensor) and value.device.type == "cpu"
    return [is_cpu(node) for node in nodes]


def _take_donations(graph):
    """Returns {index of an argument: whether its memory is given up}, of torch.ops.xla.dynamo_set_buffer_donor_, which leaves the graph."""
    arguments = [node for node in graph.graph.nodes if node.op == "placeholder"]
    made = {}
    for node in list(graph.graph.nodes):
        if node.op != "call_function" or not node.args or str(node.args[0]) != "xla.dynamo_set_buffer_donor_.default":
            continue
        bases = node.kwargs.get("_all_bases") or [node.kwargs.get("t")]
        if len(bases) != 1 or bases[0] not in arguments:
            continue
        made[arguments.index(bases[0])] = node.kwargs["should_donate"]
        for user in list(node.users):
            user.replace_all_uses_with(bases[0])
            graph.graph.erase_node(user)
        graph.graph.erase_node(node)
    if made:
        graph.recompile()
    return made


_ASSERTIONS = (torch.ops.aten._assert_async.default, torch.ops.aten._assert_async.msg)


def _take_assertions(graph):
    """Returns the messages of the graph's assertions about values of the device, which leave the graph: whether they hold is one more result,
    a vector. The operator itself reads a value, and would cut the graph."""
    output = next(node for node in reversed(graph.graph.nodes) if node.op == "output")
    taken = [node for node in graph.graph.nodes if node.op == "call_function" and node.target in _ASSERTIONS and not node.users
             and getattr(node.args[0].meta.get("val"), "device", torch.device("cpu")).type == "xla"]
    if not taken or not isinstance(output.args[0], (tuple, list)):
        return []

    def add(target, args, value):
        node = graph.graph.call_function(target, args)
        node.meta["val"] = value  # parts of a graph that is cut look it up for their results
        return node
    with graph.graph.inserting_before(output):
        holds = []
        for node in taken:
            value = node.args[0].meta["val"]
            number = add(torch.ops.aten.reshape.default, (node.args[0], []), value.new_empty(()))
            holds.append(add(torch.ops.aten.ne.Scalar, (number, 0), value.new_empty((), dtype=torch.bool)))
        all_of = add(torch.ops.aten.stack.default, (holds,), taken[0].args[0].meta["val"].new_empty(len(taken), dtype=torch.bool))
    output.args = ((*output.args[0], all_of),)
    for node in taken:
        graph.graph.erase_node(node)
    graph.recompile()
    return [node.args[1] if len(node.args) > 1 else "Expected Tensor with single nonzero value, but got zero" for node in taken]


# Sizes that recur often get programs of their own in place of the program for all sizes, at most so many.
_FEW_CALLS, _MOST_OWN_PROGRAMS, _MOST_COUNTED = 3, 16, 1000


class _Graph:
    """One graph of torch.compile and its programs."""

    def __init__(self, graph):
        self.graph = graph
        self.donated = _take_donations(graph)
        self.assertions = _take_assertions(graph)
        self.is_trained = _is_trained(graph)
        self.was_called = False
        self.held = _held_tensors(graph)
        self.parts = None
        self.calls, self.own_programs = {}, 0  # for a program for all sizes, the number of runs with each size
        self.spec = None
        self.sizes, self.is_static = open_sizes(graph), False
        self.compiled = _XLAC.CompiledGraph(self.trace)

    def record(self, stand_ins):
        count = len(stand_ins) - len(self.held)
        held = dict(zip(self.held, stand_ins[count:]))
        with torch.no_grad():
            return _Interpreter(self.graph, held).run(*stand_ins[:count])

    def trace(self, *args):
        """Returns the program for arguments like these; of a graph in parts, or of a program for all sizes, a tuple of its results."""
        if self.sizes is not None:
            self.make_dynamic(args)
        is_dynamic = isinstance(self.parts, DynamicProgram)
        if self.parts is not None and not is_dynamic:
            return (self.parts(*args),)
        found = self.parts.find(args) if is_dynamic else None
        if found is not None and (found[2] or not self.comes_often(args)):
            return (self.parts.call(found, args),)
        if self.is_static or (is_dynamic and found is None):
            _XLAC._count("DynamoStaticShapes")
        _XLAC._set_sync_cause("mark_step when dynamo processing input graphs")
        _XLAC._sync(False)  # pending operations are not part of the graph
        _XLAC._set_sync_cause(None)
        _XLAC._count("DynamoExtractCompiledGraph")
        before = _XLAC._compilations()
        scope, stand_ins = _XLAC._graph_begin(args)
        try:
            made = self.record(stand_ins)
            results, spec = pytree.tree_flatten(made)
            self.spec = None if type(made) in (list, tuple) and len(results) == len(made) else spec
        except Exception as error:
            refused = _XLAC._graph_end(scope)
            if not refused:
                raise
            _debug(f"{refused} cannot be part of the graph: {error}")
            self.parts = _Parts(self.graph, self.held, args, refused)
            return (self.parts(*args),)
        made = _XLAC._graph_compile(scope, results, _wanted_on_cpu(self.graph, len(results)), self.constants(args))
        if _debugging:
            _debug(f"a graph of {len(self.graph.graph.nodes)} nodes\n  arguments: {_describe(args)}\n  results: "
                   f"{_describe(results)}\n  programs compiled so far: {_XLAC._compilations()} ({_XLAC._compilations() - before} now)")
            _debug(f"StableHLO:\n{_XLAC._graph_text(made)}")
        return made

    def constants(self, args):
        """Per argument, whether calls are expected to pass the same buffer: parameters and buffers of modules, unless they are trained."""
        if not config.prepare_constants or self.is_trained:
            return [False] * len(args)
        given = len(args) - len(self.held)
        return [i >= given or (isinstance(arg, torch.Tensor) and _is_static(arg)) for i, arg in enumerate(args)]

    def comes_often(self, args):
        """Returns whether these sizes get a program of their own, whose kernels know them: it is ten times as fast and more."""
        if self.own_programs == _MOST_OWN_PROGRAMS:
            return False
        sizes = self.parts.sizes_of(args)
        if sizes not in self.calls and len(self.calls) == _MOST_COUNTED:
            self.calls.clear()
        self.calls[sizes] = self.calls.get(sizes, 0) + 1
        if self.calls[sizes] <= _FEW_CALLS:
            return False
        self.own_programs += 1
        _XLAC._count("DynamoOftenUsedShapes")
        return True

    def make_dynamic(self, args):
        """One program for all sizes, if there is one; else every size has its own, and a counter for it."""
        try:
            program = DynamicProgram(self.graph, self.sizes, self.held, self.record, args, self.constants(args))
        except REFUSALS as error:
            if not is_refusal(error):
                raise
            self.sizes, self.is_static = None, True
            _debug(f"one program per size: {error}")
            return
        _XLAC._count("DynamoExtractCompiledGraph")
        self.sizes, self.parts = None, program
        if program.why_no_rows:
            _debug(f"not one for a number of rows: {program.why_no_rows}")
        _debug(f"one program for all sizes:\n{program.text}")

    def run_on_all_devices(self, args):
        """Under SPMD the graph is recorded in every call, so that its program is the one for the shardings of these arguments."""
        args = [arg.to("xla") if isinstance(arg, torch.Tensor) and arg.device.type == "cpu" and arg.dim() else arg for arg in args]
        with torch.no_grad():
            made = _Interpreter(self.graph, self.held).run(*args)
        _XLAC._sync(False)
        results, spec = pytree.tree_flatten(made)
        wanted = _wanted_on_cpu(self.graph, len(results))
        return pytree.tree_unflatten([result.cpu() if cpu else result for result, cpu in zip(results, wanted)], spec)

    @staticmethod
    def is_pending(args):
        tensors = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.device.type == "xla"]
        return any(_XLAC._check_tensor_need_materialization(tensors))

    def __call__(self, *args):
        results = self.run_on_all_devices(args) if _XLAC._spmd_partitions() else self.run(args)
        if not self.assertions:
            return results
        for message, holds in zip(self.assertions, results[-1].tolist()):
            if not holds:
                raise RuntimeError(message)
        return results[:-1]

    def run(self, args):
        if config.skip_input_data_check and self.was_called and self.is_pending(args):
            raise RuntimeError("input data to dynamo graph can not be a pending ir, please set "
                               "`torch_xla._dynamo.config.skip_input_data_check` to False")
        self.was_called = True
        for index, should_donate in self.donated.items():
            _XLAC._set_buffer_donation(args[index], should_donate)
        results = self.compiled(*args, *self.held.values()) if self.held else self.compiled(*args)
        _XLAC._release_donated(args)
        if type(results) is tuple:
            return results[0]
        return results if self.spec is None else pytree.tree_unflatten(results, self.spec)


class _Watch(fx.Interpreter):
    """Runs a graph on real values and notes which of its nodes cannot be recorded."""

    def __init__(self, graph):
        super().__init__(graph)
        self.refused = {}

    def run_node(self, node):
        if node.op not in ("call_function", "call_method", "call_module"):
            return super().run_node(node)
        args, kwargs = self.fetch_args_kwargs_from_env(node)
        leaves, spec = pytree.tree_flatten((args, kwargs))
        on_device = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.device.type == "xla")
        if on_device:
            _XLAC._sync(False)
            scope, stand_ins = _XLAC._graph_begin(on_device)
            remaining = iter(stand_ins)
            tried = [next(remaining) if any(leaf is t for t in on_device) else leaf for leaf in leaves]
            tried_args, tried_kwargs = pytree.tree_unflatten(tried, spec)
            try:
                getattr(self, node.op)(node.target, tried_args, tried_kwargs)
            except Exception:
                if not _XLAC._graph_end(scope):
                    raise
                # An operator with effects is called through with_effects, a name that no user has written.
                operator = node.args[1] if node.target is torch.ops.higher_order.with_effects else node.target
                self.refused[node.name] = str(operator)
            else:
                _XLAC._graph_end(scope)
        return getattr(self, node.op)(node.target, args, kwargs)


class _Parts:
    """A graph that is cut where operators run on the CPU. Its other parts are programs."""

    def __init__(self, graph, held, args, refused):
        from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
        from torch.fx.passes.operator_support import OperatorSupportBase
        count = len(args) - len(held)
        watch = _Watch(graph)
        with torch.no_grad():
            watch.run(*(arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args[:count]))
        bad = watch.refused
        names = sorted(set(bad.values())) or [refused]
        warnings.warn(f"torch.compile(backend=\"openxla\"): {', '.join(names)} cannot be compiled; the graph is split there, "
                      "and the CPU executes that part", stacklevel=2)
        _XLAC._count("DynamoPartitionedGraph")

        class Supported(OperatorSupportBase):
            def is_node_supported(self, submodules, node):
                return node.op in ("call_function", "call_method", "call_module") and node.name not in bad
        self.count = count
        fused = CapabilityBasedPartitioner(graph, Supported(), allows_single_node_partition=True).partition_and_fuse()
        for name, module in list(fused.named_children()):
            if name.startswith("fused_"):
                fused.delete_submodule(name)
                setattr(fused, name, _Part(module))
        self.fused = fused
        _debug(f"cut into {sum(isinstance(m, _Part) for m in fused.children())} programs around {', '.join(names)}")

    def __call__(self, *args):
        with torch.no_grad():
            return self.fused(*args[:self.count])


class _Part(torch.nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.compiled = _Graph(graph)

    def forward(self, *args):
        return self.compiled(*args)


def _is_for_cpu(graph, args):
    """All tensors are on the CPU, arguments and results."""
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    values = [value for node in graph.graph.nodes for value in pytree.tree_leaves(node.meta.get("val", node.meta.get("example_value")))
              if isinstance(value, torch.Tensor)]
    return bool(tensors and values) and all(t.device.type == "cpu" for t in (*tensors, *values))


def extract_compiled_graph(xla_model: torch.fx.GraphModule, xla_args: Sequence[Any]) -> Callable[..., Any]:
    """Returns a function that computes what an FX graph computes, and is compiled when it is called for the first time.

    A graph of tensors of the CPU is returned unchanged, with a warning for each of them.

    Args:
      xla_model: The graph.
      xla_args: The arguments of the first call.
    """
    if _is_for_cpu(xla_model, xla_args):
        for arg in xla_args:
            if isinstance(arg, torch.Tensor):
                warnings.warn(f"Found tensor with shape {arg.shape} on {arg.device}. Move the module and its arguments to the xla device: "
                              "this graph runs on the CPU, without being compiled", stacklevel=2)
        return xla_model
    graph = _Graph(xla_model)
    _debug(f"extract_compiled_graph: {_describe(xla_args)}")
    return graph
