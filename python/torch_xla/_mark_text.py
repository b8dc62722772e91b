# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations in the text of a program, and the marks among them; _composites.py and _quantized.py replace the marks."""
import json
import re

_CALL = re.compile(r'(%\w+) = stablehlo\.custom_call @(mark_(?:tensor|quantized|debuginfo))\((%[\w#]+(?:, %[\w#]+)*)\) '
                   r'\{.*?backend_config = "((?:[^"\\]|\\.)*)".*?\} : \((.*)\) -> (.*)$')
_NAME = re.compile(r"%[A-Za-z0-9_]+")
_PLACE = re.compile(r' loc\((?:[^()"]|"(?:[^"\\]|\\.)*"|\((?:[^()"]|"(?:[^"\\]|\\.)*")*\))*\)$')


def config(text):
    """Returns the object that a mark's backend_config is the JSON of."""
    return json.loads(re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), text).replace('\\"', '"'))


class Op:
    """One operation: its text without its location, that, what it defines and uses. `call`: (target, operands, config, types of the
    operands, type) of a mark; `mark`: the config of one that bounds a composite."""

    def __init__(self, text):
        place = _PLACE.search(text)
        self.text, self.place = (text[:place.start()], place[0]) if place else (text, "")
        head, equals, rest = self.text.partition(" = ")
        self.results = _NAME.findall(head) if equals and head.strip().startswith("%") else []
        self.uses = set(_NAME.findall(rest if self.results else self.text)) - set(self.results)
        call = _CALL.search(self.text)
        self.call = (call[2], call[3].split(", "), call[4], call[5], call[6].strip()) if call else None
        self.mark = None
        if call and call[2] == "mark_tensor":
            self.mark = config(call[4])
            self.mark["operand"], self.mark["type"] = call[3], call[6].strip()


def rename(ops, old, new):
    """Uses of a value become uses of another."""
    for op in ops:
        if old in op.uses:
            op.text = re.sub(re.escape(old) + r"(?![\w])", new, op.text)
            op.uses = op.uses - {old} | {new.split("#")[0]}
            if op.call:
                op.call = (op.call[0], [new if operand == old else operand for operand in op.call[1]], *op.call[2:])
            if op.mark and op.mark["operand"] == old:
                op.mark["operand"] = new
