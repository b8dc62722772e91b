# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of StableHLO, built operation by operation: what stands behind torch_xla.core.xla_builder.

A Node is a value of a function under construction, or a tuple of such values: tuples exist here only, StableHLO gets their
parts. Operations are written in StableHLO's generic form, with the types that they have by the rules of this file."""
import hashlib
import math

import torch

ELEMENTS = {"f32": "f32", "f64": "f64", "bf16": "bf16", "f16": "f16", "u8": "ui8", "s8": "i8", "u16": "ui16", "s16": "i16",
            "u32": "ui32", "s32": "i32", "u64": "ui64", "s64": "i64", "c64": "complex<f32>", "c128": "complex<f64>", "pred": "i1"}
TORCH_TYPES = {"f32": torch.float32, "f64": torch.float64, "bf16": torch.bfloat16, "f16": torch.float16, "u8": torch.uint8,
               "s8": torch.int8, "u16": torch.uint16, "s16": torch.int16, "u32": torch.uint32, "s32": torch.int32,
               "u64": torch.uint64, "s64": torch.int64, "c64": torch.complex64, "c128": torch.complex128, "pred": torch.bool}
NAMES = {dtype: name for name, dtype in TORCH_TYPES.items()}


def tensor_type(dtype, sizes):
    """Returns the type in StableHLO's words."""
    return "tensor<" + "".join(f"{size}x" for size in sizes) + ELEMENTS[dtype] + ">"


def array(values):
    """Returns an attribute: a list of integers."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


class Node:
    """A value: its name in the function, type and sizes; or, with `parts`, a tuple."""

    def __init__(self, builder, name, dtype=None, sizes=(), parts=None):
        self.builder, self.name, self.dtype, self.sizes, self.parts = builder, name, dtype, tuple(map(int, sizes)), parts

    @property
    def type(self):
        return tensor_type(self.dtype, self.sizes)

    @property
    def shape(self):
        """What xla_builder.Shape wraps."""
        return [part.shape for part in self.parts] if self.parts is not None else {"type": self.dtype, "sizes": self.sizes}

    def leaves(self):
        """Returns the values in it."""
        return [leaf for part in self.parts for leaf in part.leaves()] if self.parts is not None else [self]


class Computation:
    """A finished function: `definition` is its text, `needs` that of the functions it calls, by symbol."""

    def __init__(self, name, symbol, definition, needs, parameters, root):
        self.name, self.symbol, self.definition, self.needs = name, symbol, definition, needs
        self.parameters, self.root = parameters, root

    def text(self):
        """Returns a StableHLO module whose main is this function."""
        main = self.definition.replace(f"func.func private @{self.symbol}(", "func.func @main(", 1)
        return "module @" + _symbol(self.name) + " {\n" + "".join([main, *self.needs.values()]) + "}\n"


def _symbol(name):
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name) or "computation"


def of_shape(builder, shape, names):
    """Returns the node of a shape (a dict, or a list of shapes for a tuple); names come from the iterator `names`."""
    if isinstance(shape, (list, tuple)):
        return Node(builder, None, parts=[of_shape(builder, getattr(part, "shape", part), names) for part in shape])
    return Node(builder, next(names), shape["type"], shape["sizes"])


class Builder:
    """One function under construction."""

    def __init__(self, name):
        self.name, self.lines, self.needs, self.parameters, self.count = name, [], {}, {}, 0

    def fresh(self):
        """Names of new values."""
        while True:
            self.count += 1
            yield f"%{self.count}"

    def parameter(self, number, shape):
        """Adds the parameter with that number and returns it."""
        made = of_shape(self, shape, (f"%p{number}_{i}" for i in range(1 << 30)))
        self.parameters[number] = made
        return made

    def emit(self, op, operands, results, attributes="", regions=""):
        """Adds an operation and returns its results; `results`: (type, sizes) each. `regions`: their text, with parentheses."""
        names = self.fresh()
        made = [Node(self, next(names), dtype, sizes) for dtype, sizes in results]
        left = ", ".join(node.name for node in made)
        self.lines.append(f'    {left}{" = " if left else ""}"{op}"({", ".join(o.name for o in operands)}) {regions}'
                          f'{" {" + attributes + "}" if attributes else ""} : ({", ".join(o.type for o in operands)}) -> '
                          f'({", ".join(node.type for node in made)})')
        return made

    def one(self, op, operands, dtype, sizes, attributes="", regions=""):
        """Adds an operation with one result and returns that."""
        return self.emit(op, operands, [(dtype, sizes)], attributes, regions)[0]

    def region(self, computation, given):
        """Returns a region that calls a computation on arguments of the shapes of the nodes `given`."""
        self.use(computation)
        names = self.fresh()
        arguments = [(next(names), node.type) for node in given]
        results = computation.root.leaves()
        made = [next(names) for _ in results]
        types = ", ".join(node.type for node in results)
        head = ", ".join(f"{name}: {type_}" for name, type_ in arguments)
        return (f'{{\n    ^bb0({head}):\n      {", ".join(made)} = "func.call"({", ".join(n for n, _ in arguments)}) '
                f'{{callee = @{computation.symbol}}} : ({", ".join(t for _, t in arguments)}) -> ({types})\n'
                f'      "stablehlo.return"({", ".join(made)}) : ({types}) -> ()\n    }}')

    def use(self, computation):
        """Makes the functions of a computation part of this module."""
        self.needs.update(computation.needs)
        self.needs[computation.symbol] = computation.definition

    def build(self, name, root):
        """Returns the function that returns `root`."""
        missing = [number for number in range(len(self.parameters)) if number not in self.parameters]
        if missing:
            raise RuntimeError(f"the computation {name} has no parameter {missing[0]}")
        parameters = [self.parameters[number] for number in sorted(self.parameters)]
        leaves = [leaf for parameter in parameters for leaf in parameter.leaves()]
        results = root.leaves()
        body = "\n".join(self.lines)
        types = ", ".join(node.type for node in results)
        tail = (f"({', '.join(f'{leaf.name}: {leaf.type}' for leaf in leaves)}) -> ({types}) {{\n{body}\n    "
                f'"func.return"({", ".join(node.name for node in results)}) : ({types}) -> ()\n  }}\n')
        symbol = f"{_symbol(name)}_{hashlib.sha256((tail + ''.join(self.needs)).encode()).hexdigest()[:16]}"
        return Computation(name, symbol, f"  func.func private @{symbol}{tail}", dict(self.needs), parameters, root)


#===-- Sizes of results ------------------------------------------------------===


def window_sizes(sizes, window, strides, padding, base_dilation=None, window_dilation=None):
    """Sizes after a window went over them."""
    made = []
    for i, size in enumerate(sizes):
        base = (size - 1) * (base_dilation[i] if base_dilation else 1) + 1 if size else 0
        reach = (window[i] - 1) * (window_dilation[i] if window_dilation else 1) + 1
        padded = base + padding[i][0] + padding[i][1]
        made.append(max(0, (padded - reach) // strides[i] + 1))
    return made


def padding_of(padding, sizes, window, strides):
    """Pairs of borders for the words 'valid' and 'same'."""
    if not isinstance(padding, str):
        return [tuple(pair) for pair in padding]
    if padding.lower() == "valid":
        return [(0, 0)] * len(sizes)
    if padding.lower() != "same":
        raise ValueError(f"expects the padding 'valid' or 'same', but got {padding!r}")
    made = []
    for size, reach, stride in zip(sizes, window, strides):
        total = max(0, (math.ceil(size / stride) - 1) * stride + reach - size)
        made.append((total // 2, total - total // 2))
    return made


def pairs(padding):
    """Returns an attribute: a list of pairs."""
    return f"dense<{[list(pair) for pair in padding]}> : tensor<{len(padding)}x2xi64>" if padding else "dense<> : tensor<0x2xi64>"
