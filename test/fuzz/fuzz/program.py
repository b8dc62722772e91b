# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program under construction: arguments, operations in order, and the text of any part of it."""
import dataclasses

from fuzz import dtypes


@dataclasses.dataclass
class Value:
    """`exact`: two correct implementations agree bit for bit. `magnitude` bounds |x| where inputs are ordinary.
    `hidden`: no result of the program."""

    name: str
    dtype: str
    shape: tuple
    exact: bool = True
    magnitude: float = 2.0
    op: object = None  # the Operation that makes it; None for an argument
    hidden: bool = False

    @property
    def type(self):
        return dtypes.spell(self.dtype, self.shape)


@dataclasses.dataclass
class Operation:
    """One line (or a region operation's lines): `text` has {0}, {1}… for operand names. `functions`: those it calls. `spread`, if any: of
    Shardings, what stands for `text` in the program for many devices, or None."""

    kind: str
    family: str
    operands: list
    results: list
    text: str
    functions: str = ""
    spread: object = None

    def render(self, names, spread=None):
        results = ", ".join(names[id(r)] for r in self.results)
        body = (self.spread(spread) if spread and self.spread else None) or self.text
        for index, operand in enumerate(self.operands):
            body = body.replace("{%d}" % index, names[id(operand)])
        return f"    {results} = {body}"


class Program:
    def __init__(self, random, special):
        self.random, self.special = random, special
        self.arguments, self.data, self.operations, self.values = [], [], [], []

    def argument(self, dtype, shape, array=None):
        value = Value(f"%a{len(self.arguments)}", dtype, tuple(shape))
        if array is None:
            array = dtypes.random_array(self.random, dtype, tuple(shape), self.special)
        self.arguments.append(value)
        self.data.append(array)
        self.values.append(value)
        return value

    def shape(self, rank=None, limit=600):
        """Random dimensions, mostly small, sometimes past a vector's width, rarely zero."""
        rank = int(self.random.choice([0, 1, 2, 3, 4], p=[0.08, 0.27, 0.35, 0.2, 0.1])) if rank is None else rank
        while True:
            dims = [int(self.random.choice([1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 0],
                                           p=[0.12, 0.15, 0.15, 0.13, 0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.01])) for _ in range(rank)]
            size = 1
            for d in dims:
                size *= d
            if size <= limit:
                return tuple(dims)

    def pick(self, accepted, minimum_rank=0, shape=None, exact=None, nonempty=False, reuse=0.75):
        """A value of an accepted dtype: an existing one if there is a fitting one, else a new argument."""
        fitting = [v for v in self.values if v.dtype in accepted and len(v.shape) >= minimum_rank
                   and (shape is None or v.shape == tuple(shape)) and (not exact or v.exact) and (not nonempty or 0 not in v.shape)]
        if fitting and self.random.random() < reuse:
            return fitting[int(self.random.integers(len(fitting)))]
        if shape is None:
            shape = self.shape()
            while len(shape) < minimum_rank or (nonempty and 0 in shape):
                shape = self.shape()
        accepted = list(accepted)
        return self.argument(accepted[int(self.random.integers(len(accepted)))], shape)

    def emit(self, kind, family, operands, results, text, exact=None, magnitude=None, functions="", spread=None):
        """Appends an operation; `results` is a list of (dtype, shape). Returns its Values."""
        if exact is None:
            exact = all(o.exact for o in operands)
        if magnitude is None:
            magnitude = max([o.magnitude for o in operands], default=2.0)
        op = Operation(kind, family, list(operands), [], text, functions, spread)
        for dtype, shape in results:
            value = Value(f"%{len(self.operations)}_{len(op.results)}", dtype, tuple(shape), exact, magnitude, op)
            op.results.append(value)
            self.values.append(value)
        self.operations.append(op)
        return op.results
