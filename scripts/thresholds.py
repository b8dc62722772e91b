# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the comments of the numbers that decide something: `constexpr … k…` of passes/, lowering/ and runtime/.

HACKING.md ("Thresholds") has the form. scripts/lint refuses a constant without it, scripts/gen-docs makes docs/thresholds.md of it.
"""
import re
from typing import Iterator, NamedTuple, Optional

# Whose constants scripts/lint asks for a comment, and docs/thresholds.md lists.
FOLDERS = ("passes/calls", "passes/chlo", "passes/fusion", "passes/layout", "passes/loops", "passes/sharding", "passes/simplify", "passes/spmd",
           "lowering", "runtime/base", "runtime/buffer", "runtime/cache", "runtime/client", "runtime/collective", "runtime/fft", "runtime/kernels",
           "runtime/lapack", "runtime/profile/rpc", "runtime/program")

# The words before the type in any order; the type; the name; what follows it.
_DECLARATION = re.compile(r"^\s*((?:(?:static|inline|constexpr)\s+)+)((?:[\w:<>,*]+\s+)*?[\w:<>,*]+)\s*[ *&](k[A-Z]\w*)\s*(\[|=|\{|\()(.*)$")
# A constant of these types is a name or a text, which decides nothing by its size.
_TEXT = re.compile(r"StringLiteral|string_view|char\b|StringRef|\bauto\s*\*")


class Constant(NamedTuple):
    """One constant of the sources: `line` counts from 1, `value` is the expression as written, `comment` is its comment in one line.

    `fact` is set where the comment starts with "Fact:", or the file's head has a line "// Facts: …"; `what`, `unit`
    and `source` are None where the comment does not say them. `several` is set where the declaration has more than one name.
    """
    line: int
    name: str
    value: str
    comment: str
    fact: bool
    what: Optional[str]
    unit: Optional[str]
    source: Optional[str]
    several: bool


def _comment(lines: list[str], index: int) -> str:
    """The comment of the declaration in line `index` (from 0): the lines of // right above it and what stands behind the semicolon."""
    above = index
    while above > 0 and re.match(r"\s*//", lines[above - 1]):
        above -= 1
    parts = [re.sub(r"^\s*///?<?\s?", "", line).strip() for line in lines[above:index]]
    behind = re.search(r";\s*///?<?\s*(.*)$", lines[index])
    if behind:
        parts.append(behind.group(1).strip())
    return " ".join(part for part in parts if part)


def _several(value: str) -> bool:
    """Whether `value`, the text between = and ;, goes on with another name: `4, kOther = 8`."""
    return re.search(r",\s*k[A-Z]\w*\s*(=|\{)", value) is not None


def constants(text: str) -> Iterator[Constant]:
    """The numbers among the constants in a C++ file's `text` that are called k…, in order; texts are left out."""
    lines = text.split("\n")
    facts = any(line.startswith("// Facts: ") for line in lines[:20])
    for index, line in enumerate(lines):
        found = _DECLARATION.match(line)
        if not found or "constexpr" not in found.group(1) or _TEXT.search(found.group(2)):
            continue
        statement, last = line[found.start(4):], index
        while ";" not in statement and last + 1 < len(lines) and last - index < 40:
            last += 1
            statement += " " + lines[last].strip()
        value = statement.split(";")[0].strip()
        value = value[1:].strip() if value.startswith("=") else value
        comment = _comment(lines, index)
        said = re.search(r"^(?P<what>.*?)\s*Unit:\s*(?P<unit>[^.]+)\.\s*Source:\s*(?P<source>.+?)\.?\s*$", comment)
        yield Constant(index + 1, found.group(3), re.sub(r"\s+", " ", value), comment, facts or comment.startswith("Fact:"),
                       said.group("what") if said else None, said.group("unit").strip() if said else None,
                       said.group("source") if said else None, _several(value))


def is_described(path: str) -> bool:
    """Whether the constants of the file `path`, relative to the root, must have the comment."""
    return path.endswith((".cpp", ".h")) and any(path.startswith(folder + "/") for folder in FOLDERS)


def problem(constant: Constant) -> Optional[str]:
    """What is wrong with the comment of `constant`, or None."""
    if constant.several and not constant.fact:
        return f"one constant per declaration expected, each with its comment, but {constant.name} shares its declaration"
    if constant.fact:
        return f"{constant.name}: what the fact is expected after Fact:" if constant.comment == "Fact:" else None
    if not constant.what or not constant.unit or not constant.source:
        return (f"{constant.name} decides something by its value: expected a comment with what it decides, \"Unit: ….\" and \"Source: ….\", or "
                f"\"Fact: …\" for a fact of arithmetic or of a format (HACKING.md, Thresholds), but got \"{constant.comment[:60]}\"")
    return None
