# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marks in the text of a program, which is for those who read it, become what they stand for: parts of it composites
(mark_pattern_utils), quantizations operations on quantized types (_quantized.py), notes locations (xla_mlir_debuginfo).
One operation per line, as our printer writes it. Programs that run have no marks: tracing/programs/Compile.cpp."""
import json
import re

from . import _quantized
from ._mark_text import Op, rename



def _operations(lines):
    """Lines of a function's body, those of a region together."""
    made, depth, current = [], 0, []
    for line in lines:
        current.append(line)
        depth += len(re.findall(r"\{$", line)) - len(re.findall(r"^\s*\}", line))
        if depth <= 0:
            made.append(Op("\n".join(current)))
            depth, current = 0, []
    return made


def _attribute(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{value:e} : f32"
    if isinstance(value, str):
        return json.dumps(value)
    kinds = {type(element) for element in value}
    if len(kinds) == 1 and kinds <= {bool, int, float}:
        element = {bool: "i1", int: "i64", float: "f32"}[kinds.pop()]
        return f"dense<[{', '.join(_attribute(v).split(' : ')[0] for v in value)}]> : tensor<{len(value)}x{element}>"
    return "[" + ", ".join(map(_attribute, value)) + "]"


def _type_of(op):
    return op.text.rsplit(" : ", 1)[1].split("->")[-1].strip()


def _sorted(ops):
    """Returns the operations, those that define a value before those that use it; otherwise in their order."""
    made_by = {result: op for op in ops for result in op.results}
    done, made = set(), []
    for first in ops:
        stack = [(first, False)]
        while stack:
            op, is_ready = stack.pop()
            if op in done:
                continue
            if is_ready:
                done.add(op)
                made.append(op)
                continue
            stack.append((op, True))
            stack.extend((made_by[use], False) for use in sorted(op.uses) if use in made_by and made_by[use] not in done)
    return made


def _noted(ops):
    """mark_debuginfo(%x) {text}: the operation that computes %x has that location."""
    made_by = {result: op for op in ops for result in op.results}
    for op in [op for op in ops if op.call and op.call[0] == "mark_debuginfo"]:
        operand = op.call[1][0]
        if operand in made_by:
            made_by[operand].place = f' loc("{op.call[2]}")'
        ops.remove(op)
        rename(ops, op.results[0], operand)
    return ops


def _without_dead(ops):
    while True:
        used = set().union(*(op.uses for op in ops))
        dead = [op for op in ops if op.results and not used & set(op.results)]
        if not dead:
            return ops
        ops = [op for op in ops if op not in dead]


def rewrite(text):
    """Returns the program with what its marks stand for."""
    if "@mark_" not in text:
        return text
    start = text.index("\n", text.index("func.func @main")) + 1
    end = text.index("\n  }", start) + 1
    ops = _quantized.rewrite(_noted([*_operations(text[start:end].rstrip("\n").split("\n"))]))
    ops, functions = _outlined(ops, dict(re.findall(r"(%arg\d+): (tensor<[^>]*>)", text[:start])))
    line_end = text.index("\n", end) + 1
    return (text[:start] + "\n".join(op.text + op.place for op in _without_dead(ops)) + "\n" + text[end:line_end] + "".join(functions)
            + text[line_end:])


def _outlined(ops, types):
    """Returns the operations with a stablehlo.composite for every marked part, and the functions that these parts become."""
    functions = []
    for op in ops:
        for result in op.results:
            types[result] = _type_of(op)
    marks = {}
    for op in ops:
        if op.mark:
            marks.setdefault(op.mark["id"], []).append(op)
    for number, group in enumerate(marks.values()):
        inputs = sorted((op for op in group if op.mark["is_input"]), key=lambda op: op.mark["pos"])
        outputs = sorted((op for op in group if not op.mark["is_input"]), key=lambda op: op.mark["pos"])
        name = group[0].mark["name"]
        if not outputs:
            raise ValueError(f"the composite {name} has no marked results")
        made_by = {result: op for op in ops for result in op.results}
        inner, fixed = {op.results[0] for op in inputs}, set()
        for op in ops:
            if not (op.mark and op.mark in [o.mark for o in inputs]) and op.uses & inner:
                inner |= set(op.results)
            if op.results and not op.mark and op.uses & set(types) <= fixed:
                fixed |= set(op.results)  # the operation depends on constants only, and is copied into the composite's function
        body, captured, stack = set(), [], [op.mark["operand"] for op in outputs]
        while stack:
            value = stack.pop()
            op = made_by.get(value)
            if op in inputs or op in body or value in captured:
                continue
            if op is not None and (value in inner or value in fixed):
                body.add(op)
                stack.extend(op.uses & (set(made_by) | set(types)))
            else:
                captured.append(value)
        impl = re.sub(r"[^\w.$]", "_", name) + ".impl"
        later = sum(other[0].mark["name"] == name for other in list(marks.values())[number + 1:])
        impl += f"_{later - 1}" if later else ""
        names = [op.results[0] for op in inputs] + captured
        given = ", ".join(f"{n}: {types[n]}" for n in names)
        results = ", ".join(op.mark["type"] for op in outputs)
        lines = "\n".join(op.text for op in ops if op in body)
        functions.append(f"  func.func private @{impl}({given}) -> ({results}) {{\n{lines}\n"
                         f"    return {', '.join(op.mark['operand'] for op in outputs)} : {results}\n  }}\n")
        operands = [op.mark["operand"] for op in inputs] + captured
        given_attributes = {k: v for op in group for k, v in op.mark["attr"].items()}  # attributes may be on any of the marks
        attributes = ", ".join(f"{k if re.fullmatch(r'[A-Za-z_][A-Za-z0-9_]*', k) else json.dumps(k)} = {_attribute(v)}" for k, v in given_attributes.items())
        new = f"%composite{number}"
        call = Op(f"    {new}:{len(outputs)} = stablehlo.composite {json.dumps(name)} {', '.join(operands)} "
                   f"{{{'composite_attributes = {' + attributes + '}, ' if attributes else ''}decomposition = @{impl}}} : "
                   f"({', '.join(types[o] for o in operands)}) -> ({results})")
        call.results, call.uses = [new], {operand.split("#")[0] for operand in operands}
        ops.insert(min(ops.index(output) for output in outputs), call)
        for position, output in enumerate(outputs):
            ops.remove(output)
            rename(ops, output.results[0], f"{new}#{position}")
            types[f"{new}#{position}"] = output.mark["type"]
        ops = _sorted(ops)
    return ops, functions
