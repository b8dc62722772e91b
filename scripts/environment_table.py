# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of environment variables, docs/environment.toml: where each of them is read, docs/environment.md, and what the
table lacks. scripts/lint and scripts/gen-docs use this module."""
import os
import re
import tomllib
from collections.abc import Iterable
from typing import NamedTuple

TABLE = os.path.join("docs", "environment.toml")
PAGE = os.path.join("docs", "environment.md")
CPP_TABLE = os.path.join("runtime", "base", "Environment.h")
# Calls that read a variable whose name stands there as a literal: C's getenv, the functions of runtime/base/Environment.h, Python's
# os.environ, torch_xla._c_environment.getenv (names are bytes), and the helpers of torch_xla.utils.utils.
_CALL = (r"(?:getenv|environment::\w+|setting|check_env_flag|getenv_as"
         r"|environ\.get|environ\.setdefault|environ\.pop)\(\s*|environ\[\s*|\bget\(")
_CPP_ENTRY = re.compile(r'^ *\{"(\w+)", Type::(\w+)\},', re.MULTILINE)
_READ = re.compile(rf'(?:{_CALL})b?"([A-Z][A-Z0-9_]{{2,}})"|"([A-Z][A-Z0-9_]{{2,}})" (?:not )?in os\.environ|"(MILLRACE_[A-Z0-9_]+)"')
_SOURCES = (".cpp", ".h", ".c", ".py")
# Names that look like a variable of ours and are none, or that belong to the system.
_OTHER = {"MILLRACE_CPU_", "MILLRACE_INTERFACE_", "PATH", "PYTHONPATH", "LD_PRELOAD"}


class Missing(NamedTuple):
    """A read of a variable that the table lacks: the file, the line, the name."""
    path: str
    line: int
    name: str


def load(root: str) -> tuple[dict[str, str], dict[str, dict]]:
    """Returns the groups' titles and the variables' entries, both in the order of the table."""
    with open(os.path.join(root, TABLE), "rb") as file:
        table = tomllib.load(file)
    titles = {name: entry["text"] for name, entry in table.pop("title").items()}
    return titles, table


def reads(root: str, files: Iterable[str]) -> list[Missing]:
    """Returns every read of a variable in the files (paths below `root`). Tests count only for names that begin with MILLRACE_:
    the others are agreements between a test and the processes that it starts."""
    found = []
    for path in files:
        if not (path.endswith(_SOURCES) or os.path.dirname(path) == "scripts") or path == CPP_TABLE:
            continue
        is_test = path.startswith(("test/", "lit/"))
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                for match in _READ.finditer(line):
                    name = next(filter(None, match.groups()))
                    if name not in _OTHER and (not is_test or name.startswith("MILLRACE_")):
                        found.append(Missing(path, number, name))
    return found


def _cpp_problems(root: str, table: dict[str, dict]) -> list[tuple[str, int, str]]:
    """Returns (path, line, message) for variables of runtime/base/Environment.h that the table lacks or has with another type, and the
    other way round."""
    with open(os.path.join(root, CPP_TABLE), encoding="utf-8") as file:
        text = file.read()
    wrong, names = [], []
    for match in _CPP_ENTRY.finditer(text):
        name, kind, line = match[1], match[2].lower(), text.count("\n", 0, match.start()) + 1
        names.append(name)
        if name not in table:
            wrong.append((CPP_TABLE, line, f"{name} is in variables, but not in {TABLE}"))
        elif table[name].get("type") != kind:
            wrong.append((TABLE, 1, f'{name}: expects type = "{kind}", as {CPP_TABLE} has it, but got {table[name].get("type", "none")!r}'))
    if names != sorted(names):
        wrong.append((CPP_TABLE, 1, "expects variables in the order of the names"))
    wrong += [(TABLE, 1, f"{name} has a type, but is not in variables of {CPP_TABLE}") for name, entry in table.items()
              if "type" in entry and name not in names]
    return wrong


def problems(root: str, files: Iterable[str]) -> list[tuple[str, int, str]]:
    """Returns (path, line, message) for reads of variables that the table lacks, and for entries that nothing reads."""
    _, table = load(root)
    found = reads(root, files)
    wrong = [(path, line, f"reads the environment variable {name}, which {TABLE} lacks") for path, line, name in found if name not in table]
    wrong += _cpp_problems(root, table)
    read = {name for _, _, name in found}
    for name, entry in table.items():
        for path in entry.get("computed", ()):
            if not os.path.isfile(os.path.join(root, path)):
                wrong.append((TABLE, 1, f"{name}: {path} does not exist"))
        if name not in read and not entry.get("computed"):
            wrong.append((TABLE, 1, f"{name} is in the table, but nothing reads it"))
    return wrong


def page(root: str, files: Iterable[str]) -> str:
    """Returns docs/environment.md."""
    titles, table = load(root)
    places: dict[str, set[str]] = {name: set(entry.get("computed", ())) for name, entry in table.items()}
    for path, _, name in reads(root, files):
        places.get(name, set()).add(path)
    parts = [f"<!-- Generated by scripts/gen-docs from {TABLE}; edit that. -->\n", "# Environment variables\n"]
    for group, title in titles.items():
        parts += [f"## {title}\n", "| variable | default | meaning | read in |", "|---|---|---|---|"]
        for name, entry in table.items():
            if entry["group"] == group:
                ours = sorted(path for path in places[name] if not path.startswith(("test/", "lit/"))) or sorted(places[name])
                shown = ", ".join(f"`{path}`" for path in ours[:3]) + (f" and {len(ours) - 3} more" if len(ours) > 3 else "")
                parts.append(f"| `{name}` | {entry['default']} | {entry['text']} | {shown} |")
        parts.append("")
    return "\n".join(parts)
