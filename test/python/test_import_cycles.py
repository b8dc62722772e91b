# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No module of our Python packages takes part in an import cycle, neither by the imports that run when a module is loaded nor by
those inside of functions, which run later.

A module that imports a.b.c also executes the __init__ of a and of a.b. That edge is left out: every module of a package has it."""
import ast
import os

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
PACKAGES = ("millrace", "millrace_jax", "torch_xla", "torch_xla_autoload")
EXTENSIONS = {"torch_xla._XLAC"}  # a compiled module, which imports none of ours


def modules_below(root: str, packages: tuple[str, ...]) -> dict[str, str]:
    """Returns the path of the source of every module, by the module's dotted name."""
    found = {}
    for package in packages:
        for folder, _, names in os.walk(os.path.join(root, package)):
            for name in names:
                path = os.path.join(folder, name)
                parts = os.path.relpath(path, root).removesuffix(".py").split(os.sep)
                if name.endswith(".py") and "build" not in parts:
                    found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(module: str, path: str, known: set[str], with_functions: bool) -> set[str]:
    """Returns the modules among `known` that a module imports.

    Args:
      module: The dotted name of the module.
      path: The path of its source.
      known: The modules that count.
      with_functions: Whether imports inside of functions count, too. Those below `if TYPE_CHECKING:` never do.
    """
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    found = set()

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and not with_functions:
                continue
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.Import):
                found.update(alias.name for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parents = package.split(".")
                    base = ".".join(parents[:len(parents) - child.level + 1] + ([base] if base else []))
                for alias in child.names:
                    is_module = f"{base}.{alias.name}" in known | EXTENSIONS
                    found.add(f"{base}.{alias.name}" if is_module else base)
            else:
                visit(child)

    with open(path, encoding="utf-8") as file:
        visit(ast.parse(file.read()))
    return (found & known) - {module}


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Returns the strongly connected components of more than one node (Tarjan's algorithm), each sorted."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def walk(node: str) -> None:
        index[node] = lowest[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                walk(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], index[other])
        if lowest[node] == index[node]:
            component = [stack.pop()]
            while component[-1] != node:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            walk(node)
    return found


def graph_below(root: str, packages: tuple[str, ...], with_functions: bool) -> dict[str, set[str]]:
    """Returns the imports of every module below `root`."""
    modules = modules_below(root, packages)
    return {name: imports_of(name, path, set(modules), with_functions) for name, path in modules.items()}


@pytest.mark.parametrize("with_functions", (False, True), ids=("when a module is loaded", "in functions as well"))
def test_no_import_cycle(with_functions):
    graph = graph_below(os.path.join(ROOT, "python"), PACKAGES, with_functions)
    assert len(graph) > 150 and sum(map(len, graph.values())) > 200  # the scan has seen the packages
    assert cycles(graph) == []


def test_cycles_are_found(tmp_path):
    """A cycle of three modules, one of whose imports stands in a function."""
    package = tmp_path / "p"
    package.mkdir()
    (package / "__init__.py").write_text("from . import a\n")
    (package / "a.py").write_text("from .b import f\n")
    (package / "b.py").write_text("from p import c\n\n\ndef f():\n    pass\n")
    (package / "c.py").write_text("def g():\n    from . import a\n    return a\n")
    assert cycles(graph_below(str(tmp_path), ("p",), False)) == []
    assert cycles(graph_below(str(tmp_path), ("p",), True)) == [["p.a", "p.b", "p.c"]]
