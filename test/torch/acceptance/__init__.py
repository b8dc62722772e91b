# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of PyTorch/XLA's documents (programs.txt, verbatim), with the patches that restore or repair them (patches.toml)."""
import contextlib
import functools
import io
import os
import tomllib

FOLDER = os.path.dirname(os.path.realpath(__file__))


@functools.cache
def programs():
    """Id -> (document, code)."""
    result = {}
    with open(os.path.join(FOLDER, "programs.txt"), encoding="utf-8") as file:
        for part in file.read().split("\n=== ")[1:]:
            head, _, code = part.partition("\n")
            name, document, _ = head.split(" ", 2)
            result[name] = (document, code)
    return result


@functools.cache
def table(name):
    with open(os.path.join(FOLDER, name), "rb") as file:
        return tomllib.load(file)


def verbatim(name):
    return programs()[name][1]


def restored(name):
    """The program with its patches. Every patch must find its place, once."""
    code, patch = verbatim(name), table("patches.toml")[name]
    for old, new in patch.get("replace", {}).items():
        assert code.count(old) == 1, f"{name}: '{old}' stands there {code.count(old)} times"
        code = code.replace(old, new)
    for line, new in patch.get("after", {}).items():
        if line:
            assert code.split("\n").count(line) == 1, f"{name}: no line, or more than one, is '{line}'"
            code = "\n".join(l + "\n" + new.strip("\n") if l == line else l for l in code.split("\n"))
        else:
            code = code.rstrip("\n") + "\n" + new.strip("\n")
    return code


def run(code, **names):
    """Runs `code` as a program in which `names` are defined: the names it leaves, and what it printed."""
    names = {"__name__": "__main__", **names}
    printed = io.StringIO()
    lines = code.split("\n")
    if lines[0].startswith(">>> "):  # a session: every line by itself
        lines = [line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")]
    with contextlib.redirect_stdout(printed):
        exec(compile("\n".join(lines), "program", "exec"), names)
    return names, printed.getvalue()
