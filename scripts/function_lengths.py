# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many lines each function of a C++ or Python file has. scripts/lint uses this module; as a program it prints the longest of the
files that it is given."""
import ast
import re
import sys
from typing import NamedTuple

# Comments, literals and preprocessor lines hold braces that are none of the program's.
_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z_])\'(?:\\.|[^\'\\\n])+\'|^[ \t]*#(?:\\\n|[^\n])*',
                      re.DOTALL | re.MULTILINE)
# The end of what stands before the brace of a namespace or a type: no parameters behind the keyword.
_CONTAINER = re.compile(r"\b(?:namespace|class|struct|union|enum)\b(?:[^()=]|\([^()]*\)(?=.*:))*$", re.DOTALL)
_NAME = re.compile(r"([~\w:]+|operator\s*[^\s\w(]+|operator\s*\(\s*\)|operator\s+\w+)\s*\(")


class Function(NamedTuple):
    """A function of a file: its name, its first line, its number of lines."""
    name: str
    line: int
    lines: int


def _of_cpp(text: str) -> list[Function]:
    """Returns the functions of C++ text. Lambdas belong to the function that they stand in."""
    code = _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    found: list[Function] = []
    kinds: list[tuple[str, str, int]] = []  # of the open braces: kind, name, line
    begin, line = 0, 1  # the text since the last boundary, from `begin` on
    for position, character in enumerate(code):
        if character == "\n":
            line += 1
        elif character == "{":
            header = code[begin:position].strip()
            inside = bool(kinds) and kinds[-1][0] != "container"
            named = _NAME.search(header)
            first = line - code[begin:position].lstrip().count("\n")
            if inside:
                kinds.append(("inner", "", line))
            elif _CONTAINER.search(header) or header == "extern":
                kinds.append(("container", "", line))
            elif named and "=" not in header[:named.start()]:
                kinds.append(("function", named.group(1), first))
            else:
                kinds.append(("inner", "", line))
            begin = position + 1
        elif character == "}":
            if kinds:
                kind, name, first = kinds.pop()
                if kind == "function":
                    found.append(Function(name, first, line - first + 1))
            begin = position + 1
        elif character == ";" and (not kinds or kinds[-1][0] == "container"):
            begin = position + 1
    return found


def _of_python(text: str) -> list[Function]:
    """Returns the functions of Python text, each with its decorators and the functions inside it."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno] + [decorator.lineno for decorator in node.decorator_list])
            found.append(Function(node.name, first, (node.end_lineno or first) - first + 1))
    return found


def functions(path: str, text: str) -> list[Function]:
    """Returns the functions of a file by the language that its name says; none of other files."""
    if path.endswith((".cpp", ".h")):
        return _of_cpp(text)
    return _of_python(text) if path.endswith(".py") or text.startswith("#!/usr/bin/env python3") else []


def main(paths: list[str]) -> None:
    """Prints lines, path, first line and name of the 40 longest functions of the files."""
    every = []
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as file:
            every += [(function.lines, path, function.line, function.name) for function in functions(path, file.read())]
    for lines, path, line, name in sorted(every, reverse=True)[:40]:
        print(f"{lines:5} {path}:{line} {name}")


if __name__ == "__main__":
    main(sys.argv[1:])
