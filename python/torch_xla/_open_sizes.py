# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a program for all sizes is found from: values of its open sizes, and the quotients and remainders of sizes in the graph.

A graph with open sizes is recorded for several values of them (tracing/sizes/DynamicShapes.h). Sizes behind strides, or of a dimension that is cut into
parts, are no polynomials of these values, but of them and their quotients, which the graph names in the shapes of its nodes."""
import itertools
import random

import sympy
import torch
from torch.utils import _pytree as pytree
from torch.utils._sympy.functions import FloorDiv, Mod, PythonMod

PRIMES = [7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113]
# More quotients in one graph cannot be distinguished by a few values: every size gets a program of its own then.
_MOST_DIVISIONS = 24
# Values of a size behind strides: large enough for what several strides leave of it to differ.
_LEAST_VALUE, _MOST_VALUE, _MOST_TRIED = 40, 360, 20000


def integer(value):
    """Returns the sympy number of a Python integer."""
    return sympy.Integer(value)


def expressions(graph):
    """Returns the sympy expressions of all sizes in the shapes of a graph's nodes.

    Args:
        graph: a torch.fx.Graph whose nodes have fake tensors as `val` or `example_value`.

    Returns:
        A list of expressions, each once, in the order of the nodes.
    """
    found = {}
    for node in graph.nodes:
        for value in pytree.tree_leaves(node.meta.get("val", node.meta.get("example_value"))):
            for size in value.shape if isinstance(value, torch.Tensor) else (value,):
                if isinstance(size, torch.SymInt):
                    found[size.node.expr] = None
    return list(found)


def _divisions_in(expr, found):
    for part in expr.args:
        _divisions_in(part, found)
    # A sum with a quotient is a size behind strides, which is multiplied with others as a whole.
    if isinstance(expr, (FloorDiv, Mod, PythonMod)) or (isinstance(expr, sympy.Add) and expr.has(FloorDiv, Mod, PythonMod)):
        found[expr] = None


class Divisions:
    """The quotients and remainders in expressions of symbols, and sums with them, as _XLAC._generalize() takes them.

    Attributes:
        columns: their sympy expressions; each may use those before it.
        described: per column ("quotient" or "remainder", dividend, divisor), as sums of products of symbols and of columns before it.
    """

    def __init__(self, exprs, symbols):
        found = {}
        for expr in exprs:
            _divisions_in(expr, found)
        self.columns, self.described = [], []
        generators, names = list(symbols), {}
        for expr in found:
            parts = [self._terms(part, generators, names) for part in ((expr, sympy.Integer(1)) if isinstance(expr, sympy.Add) else expr.args)]
            if len(parts) != 2 or None in parts or len(self.columns) == _MOST_DIVISIONS:
                continue  # the expression is no polynomial of the known symbols
            self.columns.append(expr)
            self.described.append(("remainder" if isinstance(expr, (Mod, PythonMod)) else "quotient", *parts))
            names[expr] = sympy.Dummy(integer=True)
            generators.append(names[expr])

    @staticmethod
    def _terms(expr, generators, names):
        """Returns [(factor, [generator, ...]), ...] of a polynomial with integers as factors; else None."""
        expr = sympy.expand(expr.xreplace(names))
        if not expr.free_symbols <= set(generators) or not expr.is_polynomial(*generators):
            return None
        terms = sympy.Poly(expr, *generators).terms()
        if any(not factor.is_Integer for _, factor in terms):
            return None
        return [(int(factor), [number for number, power in enumerate(powers) for _ in range(power)]) for powers, factor in terms]

    def values(self, symbols):
        """Returns the values of the columns for these values of the symbols."""
        return [int(column.xreplace(symbols)) for column in self.columns]


def guards_of(values):
    """Conditions on open sizes under which a graph was traced, of the fake tensors and sizes `values`: a list of sympy expressions."""
    for value in values:
        for size in value.shape if isinstance(value, torch.Tensor) else (value,):
            if isinstance(size, torch.SymInt):
                return [guard.expr for guard in size.node.shape_env.guards]
    return []


def are_allowed(guards, symbols):
    """Returns whether no guard is false for these values of the symbols."""
    return not any(guard.xreplace(symbols) == sympy.false for guard in guards)


def bounds_of(ranges, symbol):
    """Returns (least, largest) value of a symbol by its range of PyTorch, within those that are recorded for."""
    bounds = ranges.get(symbol)
    lower, upper = (bounds.lower, bounds.upper) if bounds is not None else (None, None)  # PyTorch's int_oo: no bound
    return (max(2, int(lower)) if isinstance(lower, (int, sympy.Integer)) else 2,
            min(10 ** 6, int(upper)) if isinstance(upper, (int, sympy.Integer)) else 10 ** 6)


def samples(symbols, divisions, guards, ranges):
    """Returns values of the symbols to record a graph for.

    Args:
        symbols: the symbols of open sizes.
        divisions: the Divisions of the graph.
        guards: conditions that the values have to fulfil.
        ranges: {symbol: its range}.

    Returns:
        A list of rows, each with a value per symbol. The values of a symbol all differ.

    Raises:
        NotImplementedError: there are not enough values.
    """
    count = (4 if len(symbols) < 2 else 5) + (6 if divisions.columns else 0)
    bounds = [bounds_of(ranges, symbol) for symbol in symbols]

    def allowed(row):
        return are_allowed(guards, dict(zip(symbols, map(integer, row))))

    columns = [[p for p in PRIMES if low <= p <= high][number::max(1, len(symbols))][:count] for number, (low, high) in enumerate(bounds)]
    rows = [list(row) for row in zip(*columns)] if columns else [[]] * count
    if not divisions.columns and len(rows) == count and all(map(allowed, rows)):
        return rows
    pools = []
    for number, (low, high) in enumerate(bounds):
        top = min(high, max(low + 60, _MOST_VALUE))
        pool = list(range(low if top - low < 60 else max(low, _LEAST_VALUE), top + 1))
        if len(pool) < count:
            raise NotImplementedError(f"the size {symbols[number]} has fewer than {count} possible values: export each of them")
        random.Random(number).shuffle(pool)
        pools.append(pool)
    rows, others = [], []
    for row in itertools.islice(zip(*map(itertools.cycle, pools)), _MOST_TRIED):
        if len(rows) == count and (not divisions.columns or len(others) == 4 * count):
            break
        if allowed(row):
            is_new = all(value != known[number] for known in rows for number, value in enumerate(row))
            (rows if is_new and len(rows) < count else others).append(list(row))
    if len(rows) < count:
        raise NotImplementedError(f"too few sizes satisfy {', '.join(map(str, guards))}: export each of them")
    return rows + _telling_apart(symbols, divisions, rows, others)


def _telling_apart(symbols, divisions, rows, others):
    """Rows of `others` in which quotients differ in another way than in `rows`."""
    def values(row):
        return divisions.values(dict(zip(symbols, map(integer, row))))

    known, more = [values(row) for row in rows], []
    for row in others:
        made = values(row)
        if any(len({v[i] - v[j] for v in known}) == 1 and made[i] - made[j] != known[0][i] - known[0][j]
               for i, j in itertools.combinations(range(len(made)), 2)):
            known.append(made)
            more.append(row)
    return more
