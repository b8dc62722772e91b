# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of torch.compile with open sizes (dynamic=True, mark_dynamic): one program for all sizes.

The graph is recorded for several sizes, and the recordings become one program (tracing/DynamicShapes.h). Where that is not
possible, every size has a program of its own; the counter DynamoStaticShapes says how many."""
import torch
from torch.utils import _pytree as pytree

from .. import _load, _world
from .._export import _PRIMES, _integer, _size, _symbol_of

_XLAC = _load.sys.modules["torch_xla._XLAC"]


class NotDynamic(Exception):
    """Why there is no program for all sizes."""


def open_sizes(graph):
    """Values that the placeholders stand for, if a size among them is open; else None."""
    values = [node.meta.get("val", node.meta.get("example_value")) for node in graph.graph.nodes if node.op == "placeholder"]
    is_open = any(isinstance(value, torch.SymInt) or isinstance(value, torch.Tensor) and
                  any(isinstance(size, torch.SymInt) for size in value.shape) for value in values)
    return values if is_open else None


def _result_values(graph):
    output = next(node for node in reversed(graph.graph.nodes) if node.op == "output")
    return [node.meta.get("val") if isinstance(node, torch.fx.Node) else node for node in pytree.tree_leaves(output.args[0])]


class DynamicProgram:
    """One program for all sizes of a graph; `run` runs the graph on stand-ins."""

    def __init__(self, graph, values, held, run):
        if held:
            raise NotDynamic("the graph holds tensors")
        self.values, self.results = values, _result_values(graph)
        found, wanted = {}, set()
        for index, value in enumerate(values):
            for dim, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
                if isinstance(size, torch.SymInt):
                    wanted |= size.node.expr.free_symbols
                    symbol, factor, offset = _symbol_of(size.node.expr)
                    if symbol is not None and symbol not in found:
                        found[symbol] = (index, dim, factor, offset)
        for value in self.values:
            if isinstance(value, torch.SymInt):
                wanted |= value.node.expr.free_symbols
        if wanted - set(found):
            raise NotDynamic("a size is not that of an argument")
        self.symbols = found
        tensors = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor)]
        # With dynamic=True Dynamo makes a tensor without dims, on the CPU, of each float that the code reads (an eps, a scale): they are taken
        # to the device, where any value of them is a parameter.
        if any(values[i].device.type != "xla" and values[i].dim() for i in tensors):
            raise NotDynamic("an argument is on the CPU")
        count = 5 if len(found) > 1 else 4
        samples = [[_PRIMES[(k * len(found) + s) % len(_PRIMES)] for s in range(len(found))] for k in range(count)]
        records = [self._record(run, dict(zip(found, map(_integer, sample)))) for sample in samples]
        self.order = records[0][1]  # which tensor each parameter of the program is
        if any(order != self.order for _, order in records):
            raise NotDynamic("which operators are recorded depends on the sizes")
        text = _XLAC._generalize([text for text, _ in records], samples,
                                 [(self.order.index(tensors.index(i)), *rest) for i, *rest in found.values()])
        self.text, self.program = text, _XLAC._program(text)

    def _record(self, run, symbols):
        arguments = [torch.empty([_size(s, symbols) for s in v.shape], dtype=v.dtype, device="xla")
                     if isinstance(v, torch.Tensor) else _size(v, symbols) if isinstance(v, torch.SymInt) else v
                     for v in self.values]
        before = _XLAC._rng_state()
        scope, stand_ins = _XLAC._graph_begin(tuple(arguments))
        try:
            results = [value for value in pytree.tree_leaves(run(stand_ins)) if isinstance(value, torch.Tensor)]
            if any(value.device.type != "xla" for value in results):
                raise NotDynamic("a result is on the CPU")
            text, constants, order = _XLAC._graph_export(scope, results)
        finally:
            refused = _XLAC._graph_end(scope)
        if _world.size() > 1 and any(word in text for word in ("replica_groups", "source_target_pairs")):
            raise NotDynamic("other processes take part in the graph")
        if refused or constants:
            raise NotDynamic(refused or "the graph holds constants")
        if _XLAC._rng_state() != before:
            raise NotDynamic("the graph draws random numbers")
        return text, order

    def sizes_of(self, args):
        """The open sizes of these arguments."""
        return tuple(args[i].shape[dim] for i, dim, *_ in self.symbols.values())

    def __call__(self, *args):
        tensors = [arg if arg.device.type == "xla" else arg.to("xla") for arg in args if isinstance(arg, torch.Tensor)]
        computed = iter(_XLAC._run_program(self.program, [tensors[position] for position in self.order]))
        symbols = None
        made = []
        for value in self.results:
            if isinstance(value, torch.Tensor):
                made.append(next(computed))
            elif isinstance(value, torch.SymInt):
                if symbols is None:
                    symbols = {symbol: _integer((args[i].shape[dim] - offset) // factor)
                               for symbol, (i, dim, factor, offset) in self.symbols.items()}
                made.append(_size(value, symbols))
            else:
                made.append(value)
        return made
