# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which names that PyTorch/XLA's tests and debugging programs use are not here: PYTHONPATH=python .venv/bin/python test/harness/torch_xla_names.py

Names are listed in torch_xla_names.txt, or in files given as arguments: a module, then its names, indented; "name: reason" is one that
need not be here. Prints those that are missing without a reason, and reasons of names that are here; exits with 1 if there is one."""
import importlib
import os
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_xla_names.txt")


def names(path=LIST):
    """(module, name, reason or "") of every line of a list."""
    module = None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            text = line.split("#")[0].rstrip()
            if not text:
                continue
            if not text.startswith(" "):
                module = text
                continue
            name, colon, reason = text.strip().partition(": ")
            yield from [(module, name, reason)] if colon else ((module, each, "") for each in text.split())


def found(path):
    """The module, class or object that a dotted path leads to."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise ImportError(path)


def is_there(module, name):
    """Whether the module has the name, or a module of that name can be imported from it."""
    try:
        return hasattr(found(module), name) or found(f"{module}.{name}") is not None
    except (ImportError, AttributeError):
        return False


def problems(paths=(LIST,)):
    """A line of text per name that is missing without a reason, or has a reason and is here."""
    made = []
    for path in paths:
        for module, name, reason in names(path):
            there = is_there(module, name)
            if not there and not reason:
                made.append(f"{module}.{name} is missing")
            elif there and reason:
                made.append(f"{module}.{name} is here, but the list says why it is not: {reason}")
    return made


if __name__ == "__main__":
    import torch_xla  # noqa: F401
    wrong = problems(sys.argv[1:] or (LIST,))
    print("\n".join(wrong) or f"all of {len(list(names()))} names are here, or have a reason")
    sys.exit(bool(wrong))
