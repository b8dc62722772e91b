# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Marked parts of an exported program become composites, on its text: one operation per line, as our printer writes it."""
import json
import re

_MARK = re.compile(r'(%[\w]+) = stablehlo\.custom_call @mark_tensor\((%[\w]+)\) \{.*?backend_config = "((?:[^"\\]|\\.)*)".*\} : \((.*)\) -> (.*)$')
_NAME = re.compile(r"%[A-Za-z0-9_]+")


class _Op:
    """One operation: its text, what it defines and uses."""

    def __init__(self, text):
        self.text = text
        head, equals, rest = text.partition(" = ")
        self.results = _NAME.findall(head) if equals and head.strip().startswith("%") else []
        self.uses = set(_NAME.findall(rest if self.results else text)) - set(self.results)
        mark = _MARK.search(text)
        self.mark = json.loads(re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), mark[3]).replace('\\"', '"')) if mark else None
        if mark:
            self.mark["operand"], self.mark["type"] = mark[2], mark[5].strip()


def _operations(lines):
    """Lines of a function's body, those of a region together."""
    made, depth, current = [], 0, []
    for line in lines:
        current.append(line)
        depth += len(re.findall(r"\{$", line)) - len(re.findall(r"^\s*\}", line))
        if depth <= 0:
            made.append(_Op("\n".join(current)))
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
    """The operations, those that define a value before those that use it; otherwise in their order."""
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


def outline(text):
    """The program with a stablehlo.composite for every marked part."""
    if "@mark_tensor(" not in text:
        return text
    start = text.index("\n", text.index("func.func @main")) + 1
    end = text.index("\n  }", start) + 1
    ops, functions = _operations(text[start:end].rstrip("\n").split("\n")), []
    types = dict(re.findall(r"(%arg\d+): (tensor<[^>]*>)", text[:start]))
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
                fixed |= set(op.results)  # depends on constants only: the part has its own
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
        attributes = ", ".join(f"{k if re.fullmatch(r'[A-Za-z_][A-Za-z0-9_]*', k) else json.dumps(k)} = {_attribute(v)}" for k, v in group[0].mark["attr"].items())
        new = f"%composite{number}"
        call = _Op(f"    {new}:{len(outputs)} = stablehlo.composite {json.dumps(name)} {', '.join(operands)} "
                   f"{{{'composite_attributes = {' + attributes + '}, ' if attributes else ''}decomposition = @{impl}}} : "
                   f"({', '.join(types[o] for o in operands)}) -> ({results})")
        call.results, call.uses = [new], {operand.split("#")[0] for operand in operands}
        ops.insert(min(ops.index(output) for output in outputs), call)
        for position, output in enumerate(outputs):
            ops.remove(output)
            for op in ops:
                if output.results[0] in op.uses:
                    op.text = re.sub(re.escape(output.results[0]) + r"(?!\w)", f"{new}#{position}", op.text)
                    op.uses = op.uses - {output.results[0]} | {new}
                    if op.mark and op.mark["operand"] == output.results[0]:
                        op.mark["operand"] = f"{new}#{position}"
            types[f"{new}#{position}"] = output.mark["type"]
        ops = _sorted(ops)
    while True:  # what only the marked parts needed
        used = set().union(*(op.uses for op in ops))
        dead = [op for op in ops if op.results and not used & set(op.results)]
        if not dead:
            break
        ops = [op for op in ops if op not in dead]
    return text[:start] + "\n".join(op.text for op in ops) + "\n  }\n" + "".join(functions) + "}\n"
