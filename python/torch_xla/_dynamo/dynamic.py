# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of torch.compile with open sizes (dynamic=True, mark_dynamic): one program for all sizes.

The graph is recorded for several sizes, and the recordings become one program (tracing/sizes/DynamicShapes.h). Where that is not
possible, every size has a program of its own; the counter DynamoStaticShapes says how many."""
import itertools
import operator

import torch
from torch.utils import _pytree as pytree

from .. import _load, _open_sizes, _world
from .._export import _size, _symbol_of
from .._open_sizes import integer as _integer

_XLAC = _load.sys.modules["torch_xla._XLAC"]


# The largest numbers of rows that programs for a run-time number of rows are compiled for. Register tiles of 6, 8 and 12 rows divide them.
_ROW_BOUNDS = (120, 480, 1920, 7680)


class NotDynamic(Exception):
    """Why there is no program for all sizes."""


REFUSALS = (NotDynamic, NotImplementedError, RuntimeError)


def is_refusal(error):
    """Returns whether one of REFUSALS says that there is no program for several sizes."""
    return isinstance(error, NotDynamic | NotImplementedError) or any(part in str(error) for part in ("size", "compilation stopped"))


def open_sizes(graph):
    """Returns values that the placeholders stand for, if a size among them is open; else None."""
    values = [node.meta.get("val", node.meta.get("example_value")) for node in graph.graph.nodes if node.op == "placeholder"]
    is_open = any(isinstance(value, torch.SymInt) or isinstance(value, torch.Tensor) and
                  any(isinstance(size, torch.SymInt) for size in value.shape) for value in values)
    return values if is_open else None


def _result_values(graph):
    return [node.meta.get("val") if isinstance(node, torch.fx.Node) else node for node in pytree.tree_leaves(_output(graph))]


def _output(graph):
    return next(node for node in reversed(graph.graph.nodes) if node.op == "output").args[0]


class DynamicProgram:
    """One program for all sizes of a graph, or for sizes of a class; `run` runs the graph on stand-ins. `args`: those of the first call;
    `constants`: per argument, whether calls are expected to pass the same buffer."""

    def __init__(self, graph, values, held, run, args, constants):
        if held:
            raise NotDynamic("the graph holds tensors")
        self.values, self.results = values, _result_values(graph)
        self.is_single = isinstance(_output(graph), torch.fx.Node)  # of a part of a graph that was cut: its one result
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
        environment = next((size.node.shape_env for value in values for size in (value.shape if isinstance(value, torch.Tensor) else (value,))
                            if isinstance(size, torch.SymInt)), None)
        self.guards, self.ranges = _open_sizes.guards_of(values), environment.var_to_range if environment is not None else {}
        self.divisions = _open_sizes.Divisions(_open_sizes.expressions(graph.graph), found)
        tensors = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor)]
        # With dynamic=True Dynamo makes a tensor without dims, on the CPU, of each float that the code reads (an eps, a scale): they are taken
        # to the device, where any value of them is a parameter.
        if any(values[i].device.type != "xla" and values[i].dim() for i in tensors):
            raise NotDynamic("an argument is on the CPU")
        self.returns_tensors = all(isinstance(value, torch.Tensor) for value in self.results)
        self.run, self.tensors, self.constants = run, tensors, constants
        self.why_no_rows, self.is_refused = None, False
        self.by_rows = {}  # from the largest number of rows to the program for up to that number; None: no program could be compiled
        self.program = self.text = None  # `program`: the one of run-time shapes with what picks its arguments, as in by_rows
        # The size that is the number of rows is the first of an argument; all others are those of the first call.
        self.row_symbol = next((symbol for symbol, (_, dim, *_) in found.items() if dim == 0), None)
        self.other_sizes = self._sizes(args)
        self.other_sizes.pop(self.row_symbol, None)
        self.row_place = found.get(self.row_symbol)
        self.other_places = [(*found[symbol], size) for symbol, size in self.other_sizes.items()]
        if self.program_for_rows(args) is None:
            self._make_for_all()

    def _make_for_all(self):
        """The program of run-time shapes, whatever differs in them."""
        found = self.symbols
        samples = _open_sizes.samples(list(found), self.divisions, self.guards, self.ranges)
        symbols = [dict(zip(found, map(_integer, sample))) for sample in samples]
        records = [self._record(self.run, each) for each in symbols]
        order = records[0][1]  # which tensor each parameter of the program is
        if any(other != order for _, other in records):
            raise NotDynamic("which operators are recorded depends on the sizes")
        self.text = _XLAC._generalize([text for text, _ in records], [sample + self.divisions.values(each) for sample, each in zip(samples, symbols)],
                                      [(order.index(self.tensors.index(i)), *rest) for i, *rest in found.values()] + self.divisions.described)
        self.program = _XLAC._program(self.text), self._picker(order)

    def _picker(self, order):
        """Returns the function from the arguments of a call to those of a program with this order of parameters, all of them on the device."""
        places = [self.tensors[position] for position in order]
        pick = operator.itemgetter(*places) if len(places) > 1 else lambda args: [args[place] for place in places]
        numbers = [index for index, place in enumerate(places) if self.values[place].device.type != "xla"]

        def moved(args):
            given = list(pick(args))
            for index in numbers:
                if given[index].device.type != "xla":
                    given[index] = given[index].to("xla")
            return given
        return moved if numbers else pick

    def program_for_rows(self, args):
        """Returns the program for up to as many rows as these and more (tracing/sizes/RowPrograms.cpp), with what picks its arguments; None if
        there is none: rows are mixed, sizes are no multiples of one number, or there are too many; or other sizes than the rows' differ."""
        if self.row_place is None:
            return None
        index, dim, factor, offset = self.row_place
        rows = (args[index].shape[dim] - offset) // factor
        bound = next((bound for bound in _ROW_BOUNDS if rows <= bound), None)
        if bound is None or any((args[i].shape[d] - o) // f != size for i, d, f, o, size in self.other_places):
            return None
        if bound not in self.by_rows:
            try:
                self.by_rows[bound] = self._make_for_rows(bound)
            except REFUSALS as error:
                if not is_refusal(error):
                    raise
                self.by_rows[bound], self.why_no_rows = None, str(error)
        return self.by_rows[bound]

    def _make_for_rows(self, bound):
        others = {symbol: _integer(size) for symbol, size in self.other_sizes.items()}

        def allowed(rows):
            return _open_sizes.are_allowed(self.guards, {**others, self.row_symbol: _integer(rows)})

        samples = [*itertools.islice(filter(allowed, itertools.chain(_open_sizes.PRIMES, range(2, bound))), 2), bound]
        if len(samples) < 3 or not allowed(bound):
            raise NotDynamic("too few sizes satisfy the graph's guards")
        records = [self._record(self.run, {**others, self.row_symbol: _integer(sample)}) for sample in samples]
        text, order = records[-1]
        if any(other != order for _, other in records):
            raise NotDynamic("which operators are recorded depends on the sizes")
        text = _XLAC._row_program([text for text, _ in records], samples, [self.constants[self.tensors[position]] for position in order])
        self.text = self.text or text
        return _XLAC._program(text), self._picker(order)

    def _record(self, run, symbols):
        arguments = [torch.empty([_size(s, symbols) for s in v.shape], dtype=v.dtype, device="xla")
                     if isinstance(v, torch.Tensor) else _size(v, symbols) if isinstance(v, torch.SymInt) else v
                     for v in self.values]
        before = _XLAC._rng_state()
        scope, stand_ins = _XLAC._graph_begin(tuple(arguments))
        error = None
        try:
            results = [value for value in pytree.tree_leaves(run(stand_ins)) if isinstance(value, torch.Tensor)]
            if any(value.device.type != "xla" for value in results):
                raise NotDynamic("a result is on the CPU")
            text, constants, order = _XLAC._graph_export(scope, results)
        except BaseException as raised:
            error = raised
        refused = _XLAC._graph_end(scope)
        if refused and isinstance(error, Exception):  # an operator that runs on the CPU is a reason to compile no program for several sizes
            raise NotDynamic(refused) from error
        if error is not None:
            raise error
        if _world.size() > 1 and any(word in text for word in ("replica_groups", "source_target_pairs")):
            raise NotDynamic("other processes take part in the graph")
        if refused or constants:
            raise NotDynamic(refused or "the graph holds constants")
        if _XLAC._rng_state() != before:
            raise NotDynamic("the graph draws random numbers")
        return text, order

    def _sizes(self, args):
        """Returns the values of the symbols in these arguments."""
        return {symbol: (args[index].shape[dim] - offset) // factor for symbol, (index, dim, factor, offset) in self.symbols.items()}

    def find(self, args):
        """Returns (program, what picks its arguments, whether it is one for a number of rows) for these arguments, or None. A program for a number of
        rows is about as fast as one for their sizes alone; that of run-time shapes is made when no program for a number of rows takes them."""
        found = self.program_for_rows(args)
        if found is not None:
            return *found, True
        if self.program is None and not self.is_refused:
            try:
                self._make_for_all()
            except REFUSALS as error:
                if not is_refusal(error):
                    raise
                self.is_refused = True
        return None if self.program is None else (*self.program, False)

    def sizes_of(self, args):
        """Returns the open sizes of these arguments."""
        return tuple(args[i].shape[dim] for i, dim, *_ in self.symbols.values())

    def call(self, found, args):
        """Returns the results of the program that find() has returned for `args`."""
        program, pick, _ = found
        computed = _XLAC._run_program(program, pick(args))
        if self.returns_tensors:
            return computed[0] if self.is_single else computed
        computed = iter(computed)
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
        return made[0] if self.is_single else made
