# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the public functions, methods and classes of our Python packages must say of themselves; scripts/lint uses this module.

A public function has a docstring, an annotation for every parameter and for its result, and, from two parameters on, a section
"Args:" that names each of them; a public class has a docstring. A name is public if no part of its dotted name, from the package on,
begins with an underscore. That leaves out the methods of Python's data model, such as __add__: the operator is their documentation. The
parameters of __init__ belong to the interface of a class, so they have annotations, and from two on the class or __init__ has "Args:".
"""
import ast
import os
import re
from collections.abc import Iterator

import python_reference  # beside this file

MIN_ARGS = 2  # A function of fewer parameters may describe its parameter in its first sentence.
Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_described(path: str) -> bool:
    """Returns whether a file belongs to the public part of one of our packages."""
    parts = path.split("/")
    return parts[0] == "python" and path.endswith(".py") and not any(part.startswith("_") and part != "__init__.py" for part in parts[1:])


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yields the statements of a body, and those of its branches (if, try, with)."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody") if isinstance(node, (ast.If, ast.Try, ast.With)) else ():
            yield from _statements(getattr(node, field, []))
        for handler in node.handlers if isinstance(node, ast.Try) else ():
            yield from _statements(handler.body)


def _parameters(node: Function, in_class: bool) -> list[ast.arg]:
    """Returns the parameters of a function, without the object or class that a method is called on."""
    positional = [*node.args.posonlyargs, *node.args.args]
    is_static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
    if positional and in_class and (not is_static or positional[0].arg == "ctx"):  # the context of a torch.autograd.Function stands for an object
        del positional[0]
    return [*positional, *([node.args.vararg] if node.args.vararg else []), *node.args.kwonlyargs,
            *([node.args.kwarg] if node.args.kwarg else [])]


def described_names(docstring: str) -> set[str]:
    """Returns the parameters that a docstring's section "Args:" has entries for; an entry may be about several: `low, high: ...`."""
    section = re.search(r"^Args:\n((?:[ \t]+.*\n|\n)*)", docstring + "\n", re.MULTILINE)
    found: set[str] = set()
    for entry in re.finditer(r"^ {2,4}((?:\*{0,2}\w+)(?:, \*{0,2}\w+)*):(?: |$)", section[1] if section else "", re.MULTILINE):
        found |= {name.strip("* ") for name in entry[1].split(",")}
    return found


def _wanted(parameters: list[ast.arg]) -> list[str]:
    """Returns the parameters that an "Args:" section must name."""
    return [each.arg for each in parameters if not each.arg.startswith("_")] if len(parameters) >= MIN_ARGS else []


def _function_problems(node: Function, name: str, in_class: bool) -> Iterator[tuple[int, str]]:
    parameters = _parameters(node, in_class)
    bare = [each.arg for each in parameters if each.annotation is None and not each.arg.startswith("_")]
    if node.returns is None:
        bare.append("its result")
    if bare:
        yield node.lineno, f"{name}() lacks annotations: {', '.join(bare)}"
    docstring = ast.get_docstring(node)
    if not docstring:
        yield node.lineno, f"{name}() lacks a docstring"
    elif missing := [each for each in _wanted(parameters) if each not in described_names(docstring)]:
        yield node.lineno, f"the docstring of {name}() lacks entries in a section Args: {', '.join(missing)}"


def _constructor_problems(node: Function, owner: ast.ClassDef, name: str) -> Iterator[tuple[int, str]]:
    """Yields what is wrong with __new__, or, in a class without it, with __init__."""
    if node.name == "__init__" and any(isinstance(each, Function) and each.name == "__new__" for each in owner.body):
        return
    parameters = _parameters(node, True)
    if bare := [each.arg for each in parameters if each.annotation is None and not each.arg.startswith("_")]:
        yield node.lineno, f"{name}.{node.name}() lacks annotations: {', '.join(bare)}"
    described = described_names(ast.get_docstring(owner) or "") | described_names(ast.get_docstring(node) or "")
    if missing := [each for each in _wanted(parameters) if each not in described]:
        yield node.lineno, f"the docstring of {name} lacks entries in a section Args: {', '.join(missing)}"


def problems(text: str) -> list[tuple[int, str]]:
    """Returns the line and message of every public definition of a Python file that says too little."""
    return _problems_of(ast.parse(text).body)


def reexported_problems(root: str) -> list[tuple[str, int, str]]:
    """Returns the path, line and message of what is wrong with the functions and classes that public modules import from private ones to offer
    them to their users; `root` is the root of the repository."""
    folder = os.path.join(root, "python")
    found: set[tuple[str, int, str]] = set()
    for package in sorted(name for name in (os.listdir(folder) if os.path.isdir(folder) else ()) if os.path.isdir(os.path.join(folder, name))):
        known = python_reference.sources(folder, package)
        for source in known.values():
            for origin, node in python_reference.reexported(source, known) if python_reference.is_public(source.name) else ():
                if not is_described(path := f"python/{origin.path}"):
                    found |= {(path, line, message) for line, message in _problems_of([node])}
    return sorted(found)


def _problems_of(statements: list[ast.stmt]) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []

    def visit(body: list[ast.stmt], owner: ast.ClassDef | None, prefix: str) -> None:
        for node in _statements(body):
            name = f"{prefix}{getattr(node, 'name', '')}"
            if isinstance(node, Function) and not node.name.startswith("_"):
                found.extend(_function_problems(node, name, owner is not None))
            elif isinstance(node, Function) and node.name in ("__init__", "__new__") and owner is not None:
                found.extend(_constructor_problems(node, owner, prefix.rstrip(".")))
            elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                if not ast.get_docstring(node):
                    found.append((node.lineno, f"{name} lacks a docstring"))
                visit(node.body, node, f"{name}.")
    visit(statements, None, "")
    return found
