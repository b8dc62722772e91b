# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""HLO text as XLA prints it by itself: names with %, operands with their types, computations with their signatures, and a tuple as
the result of the program. The compiler's own text leaves out what a parser does not need."""
import re


def _closing(text, start):
    """Returns the index of the parenthesis that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in "({[") - (text[index] in ")}]")
        if depth == 0:
            return index
    return len(text) - 1


_HEAD = re.compile(r"^  (ROOT )?([\w.\-]+) = ")
_NAMES = re.compile(r"\b(condition|body|to_apply|calls|true_computation|false_computation|select|scatter|comparator)=([\w.\-]+)")
_ONE_RESULT = re.compile(r"->(\w+\[[^\]]*\](?:\{[^}]*\})?)\}")
_LISTS = re.compile(r"\b(branch_computations|called_computations)=\{([^}]*)\}")


def _parts(line):
    """Returns (ROOT, name, type, operation, operands, the rest) of an instruction, or None."""
    head = _HEAD.match(line)
    if not head:
        return None
    rest = line[head.end():]
    end = _closing(rest, 0) + 1 if rest.startswith("(") else rest.index(" ")
    opening = rest.index("(", end)
    closing = _closing(rest, opening)
    return head[1] or "", head[2], rest[:end], rest[end:opening].strip(), rest[opening + 1:closing], rest[closing + 1:]


def _plain(type_):
    return re.sub(r"(?<=\])\{[^}]*\}", "", type_)


def _computation(head, lines):
    parts = [_parts(line) for line in lines]
    types = {p[1]: p[2] for p in parts if p}
    made, result = [], ""
    is_entry = head.startswith("ENTRY ")
    parameters = []
    for line, part in zip(lines, parts):
        if part is None:
            made.append(line)
            continue
        root, name, type_, operation, operands, rest = part
        if operation == "parameter":
            parameters.append((int(operands), f"{name}: {_plain(type_)}"))
        elif operation != "constant":
            operands = ", ".join(f"{types[o]} %{o}" if o in types else o for o in operands.split(", "))
        rest = _LISTS.sub(lambda m: f"{m[1]}={{{', '.join('%' + n for n in m[2].split(', '))}}}", _NAMES.sub(r"\1=%\2", rest))
        wraps = root and is_entry and not type_.startswith("(")
        made.append(f"  {'' if wraps else root}%{name} = {type_} {operation}({operands}){rest}")
        if wraps:
            made.append(f"  ROOT %tuple.root = ({type_}) tuple({type_} %{name})")
        if root:
            result = f"({_plain(type_)})" if wraps else _plain(type_)
    name = head.removeprefix("ENTRY ").removesuffix("{").strip()
    signature = ", ".join(text for _, text in sorted(parameters))
    return [f"{'ENTRY ' if is_entry else ''}%{name} ({signature}) -> {result} {{", *made, "}"]


_NAMED = re.compile(r'op_name="((?:[^"]*/)?)([^"/]+::[^"/]+)"')


def _named(match):
    operation = match[2].replace(":", "_")
    return f'op_type="{operation}" op_name="{match[1].replace(":", "_")}{operation}"'


def annotated(text):
    """Returns the text in that form; operations of PyTorch are called aten__add in it."""
    text = _NAMED.sub(_named, text)
    made, head, body = [], None, []
    for line in text.split("\n"):
        if head is not None:
            if line == "}":
                made += _computation(head, body)
                head, body = None, []
            else:
                body.append(line)
        elif line.startswith("HloModule"):
            made.append(_ONE_RESULT.sub(r"->(\1)}", line))
        elif line.endswith(" {"):
            head = line
        else:
            made.append(line)
    return "\n".join(made)
